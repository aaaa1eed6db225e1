"""Waves: tasks that can run side by side, their dependencies met and their write areas apart.

Tasks whose write areas meet are separated, not refused: one goes first. The plan of waves is what `plan show` prints;
`side_by_side` makes the same choice while a run goes on.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from aircoding.graph.areas import AreaIndex, Meeting
from aircoding.graph.task_graph import TaskGraph
from aircoding.records.ids import TaskId

__all__ = ["Separation", "WavePlan", "plan_waves", "side_by_side"]


@dataclass(frozen=True, slots=True)
class Separation:
    """A task that waits though its dependencies are met: it would have been in `wave`, and `meeting` says why not."""

    task: TaskId
    wave: int
    meeting: Meeting


@dataclass(frozen=True, slots=True)
class WavePlan:
    """All tasks in waves (the first is number 1), and what was separated."""

    waves: tuple[tuple[TaskId, ...], ...]
    separated: tuple[Separation, ...]


def side_by_side(
    graph: TaskGraph, ready: Sequence[TaskId], running: Iterable[TaskId] = ()
) -> tuple[tuple[TaskId, ...], tuple[Separation, ...]]:
    """Return which of the ready tasks can start beside those that run, in the order given, and which must wait."""
    index = AreaIndex()
    for task in sorted(running):
        index.add(task, graph.tasks[task].write_area)
    started: list[TaskId] = []
    waiting: list[Separation] = []
    for task in ready:
        areas = graph.tasks[task].write_area
        meeting = index.first_meeting(task, areas)
        if meeting is None:
            index.add(task, areas)
            started.append(task)
        else:
            waiting.append(Separation(task, 1, meeting))
    return tuple(started), tuple(waiting)


def plan_waves(graph: TaskGraph) -> WavePlan:
    """Return the waves of a whole graph, as if every task took equally long."""
    return _Planner(graph).plan()


class _Planner:
    """Fills one wave after the other.

    Ready tasks with the same areas stand in one queue: only the first of a queue can be in a wave,
    so that a thousand tasks on one file cost no more than one.
    """

    def __init__(self, graph: TaskGraph) -> None:
        self._graph = graph
        self._missing = {task: len(graph.dependencies(task)) for task in graph.tasks}
        self._queues: dict[tuple[str, ...], list[tuple[tuple[int, int, TaskId], TaskId]]] = {}
        self._since: dict[TaskId, int] = {}
        self._refused: dict[tuple[str, ...], Meeting] = {}
        self._separated: list[Separation] = []

    def plan(self) -> WavePlan:
        waves: list[tuple[TaskId, ...]] = []
        self._admit((task for task, count in self._missing.items() if count == 0), 1)
        while self._queues:
            wave = self._fill(len(waves) + 1)
            waves.append(wave)
            self._admit(self._freed_by(wave), len(waves) + 1)
        return WavePlan(tuple(waves), tuple(self._separated))

    def _admit(self, tasks: Iterable[TaskId], wave: int) -> None:
        for task in tasks:
            areas = self._graph.tasks[task].write_area
            heapq.heappush(self._queues.setdefault(areas, []), (self._graph.sort_key(task), task))
            self._since[task] = wave

    def _freed_by(self, wave: tuple[TaskId, ...]) -> list[TaskId]:
        freed: list[TaskId] = []
        for task in wave:
            for dependent in self._graph.dependents(task):
                self._missing[dependent] -= 1
                if self._missing[dependent] == 0:
                    freed.append(dependent)
        return freed

    def _fill(self, wave: int) -> tuple[TaskId, ...]:
        index = AreaIndex()
        taken: list[TaskId] = []
        for areas in sorted(self._queues, key=lambda areas: self._queues[areas][0]):
            queue = self._queues[areas]
            if not areas:
                taken.extend(task for _, task in queue)
                del self._queues[areas]
                continue
            task = queue[0][1]
            meeting = index.first_meeting(task, areas)
            if meeting is not None:
                self._refused[areas] = meeting
                continue
            heapq.heappop(queue)
            self._note(task, areas, wave)
            index.add(task, areas)
            taken.append(task)
            if queue:
                self._refused[areas] = Meeting(task, areas[0], areas[0])
            else:
                del self._queues[areas]
        return tuple(sorted(taken, key=self._graph.sort_key))

    def _note(self, task: TaskId, areas: tuple[str, ...], wave: int) -> None:
        since = self._since[task]
        if since < wave:
            self._separated.append(Separation(task, since, self._refused[areas]))
