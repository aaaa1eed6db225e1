"""Waves: tasks that can run side by side, their dependencies met and their write areas apart.

Tasks whose write areas meet are separated, not refused: one goes first. The plan of waves is what `plan show` prints;
`side_by_side` makes the same choice while a run goes on.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from aircoding.graph.areas import AreaIndex, Meeting
from aircoding.graph.task_graph import TaskGraph
from aircoding.records.ids import TaskId

__all__ = ["Separation", "WavePlan", "plan_waves", "side_by_side"]

_Key = TypeVar("_Key")
_Waiting: TypeAlias = "tuple[tuple[int, int, TaskId], TaskId, str | None]"
"""How urgent a task is, the task, and the glob that it is parked on."""


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
    """Fills one wave after the other with the most urgent tasks that fit.

    A task that was refused because one in the wave has the very same glob is parked on that glob: of
    those parked on it only the first can be in the next wave. One whose globs meet others in another
    way waits with those that have the same globs: what is said of the first of them holds for all.
    So a thousand tasks on one file or folder cost no more than one.
    """

    def __init__(self, graph: TaskGraph) -> None:
        self._graph = graph
        self._missing = {task: len(graph.dependencies(task)) for task in graph.tasks}
        self._parked: dict[str, list[_Waiting]] = {}
        self._alike: dict[tuple[str, ...], list[_Waiting]] = {}
        self._fresh: list[_Waiting] = []
        self._since: dict[TaskId, int] = {}
        self._refused: dict[TaskId, Meeting] = {}
        self._separated: list[Separation] = []

    def plan(self) -> WavePlan:
        waves: list[tuple[TaskId, ...]] = []
        self._admit([task for task, count in self._missing.items() if count == 0], 1)
        while self._fresh or self._alike or self._parked:
            wave = self._fill(len(waves) + 1)
            waves.append(wave)
            self._admit(self._freed_by(wave), len(waves) + 1)
        return WavePlan(tuple(waves), tuple(self._separated))

    def _admit(self, tasks: Iterable[TaskId], wave: int) -> None:
        for task in tasks:
            self._fresh.append((self._graph.sort_key(task), task, None))
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
        candidates, self._fresh = self._fresh, []
        heapq.heapify(candidates)
        for areas in list(self._alike):
            _take_first(self._alike, areas, candidates)
        for glob in list(self._parked):
            _take_first(self._parked, glob, candidates)
        index, holders, taken = AreaIndex(), dict[str, TaskId](), list[TaskId]()
        while candidates:
            key, task, parked_on = heapq.heappop(candidates)
            areas = self._graph.tasks[task].write_area
            shared = next((area for area in areas if area in holders), None)
            if shared is not None:
                self._refused[task] = Meeting(holders[shared], shared, shared)
                heapq.heappush(self._parked.setdefault(shared, []), (key, task, shared))
            elif (meeting := index.first_meeting(task, areas)) is not None:
                self._refused[task] = meeting
                heapq.heappush(self._alike.setdefault(areas, []), (key, task, None))
            else:
                if self._since[task] < wave:
                    self._separated.append(Separation(task, self._since[task], self._refused[task]))
                index.add(task, areas)
                holders.update(dict.fromkeys(areas, task))
                taken.append(task)
            if parked_on is not None and parked_on not in holders:
                _take_first(self._parked, parked_on, candidates)
        return tuple(taken)


def _take_first(queues: dict[_Key, list[_Waiting]], key: _Key, candidates: list[_Waiting]) -> None:
    """Make the first of a queue a candidate; a queue that is empty then is removed."""
    queue = queues.get(key)
    if queue is None:
        return
    heapq.heappush(candidates, heapq.heappop(queue))
    if not queue:
        del queues[key]
