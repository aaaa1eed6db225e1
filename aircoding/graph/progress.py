"""How far a run is: which tasks are done, which can start, which never will and why.

It is a fold over what happened; the caller (the scheduler, over the event log) tells it and asks it. Each report costs
only the edges of the task that it is about.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from aircoding.errors import InternalError
from aircoding.graph.task_graph import TaskGraph
from aircoding.records.ids import TaskId

__all__ = ["Progress", "Unreachable"]


@dataclass(frozen=True, slots=True)
class Unreachable:
    """A task that cannot start, since a task that it depends on (`because_of`) was not done."""

    task: TaskId
    because_of: TaskId
    reason: str


class Progress:
    """The state of each task of a graph.

    A task is waiting, ready, running, done, failed, or unreachable. `done` and `failed` (with
    reasons) start it where an earlier process stopped.
    """

    def __init__(
        self, graph: TaskGraph, *, done: Iterable[TaskId] = (), failed: Mapping[TaskId, str] | None = None
    ) -> None:
        self._graph = graph
        self._missing = {task: len(graph.dependencies(task)) for task in graph.tasks}
        self._ready = {task for task, count in self._missing.items() if count == 0}
        self._running: set[TaskId] = set()
        self._done: set[TaskId] = set()
        self._failed: dict[TaskId, str] = {}
        self._unreachable: dict[TaskId, Unreachable] = {}
        known = set(done)
        for task in (one for one in graph.order if one in known):
            self.mark_done(task)
        for task in sorted(failed or {}):
            self.mark_failed(task, (failed or {})[task])

    @property
    def done(self) -> frozenset[TaskId]:
        """Tasks that are done."""
        return frozenset(self._done)

    @property
    def running(self) -> frozenset[TaskId]:
        """Tasks that were started and have not ended."""
        return frozenset(self._running)

    @property
    def failed(self) -> Mapping[TaskId, str]:
        """Tasks that failed or are blocked, with the reason."""
        return dict(self._failed)

    @property
    def unreachable(self) -> tuple[Unreachable, ...]:
        """Tasks that cannot start, in order of their ids."""
        return tuple(self._unreachable[task] for task in sorted(self._unreachable))

    @property
    def finished(self) -> bool:
        """Whether nothing runs and nothing can start."""
        return not self._ready and not self._running

    def ready(self) -> tuple[TaskId, ...]:
        """Return the tasks that can start, the most urgent first (`TaskGraph.sort_key`)."""
        return tuple(sorted(self._ready, key=self._graph.sort_key))

    def mark_running(self, task: TaskId) -> None:
        """Note that a ready task was started.

        Raises:
            InternalError: it is not ready.
        """
        if task not in self._ready:
            raise InternalError(f"task {task} was started though it is not ready")
        self._ready.remove(task)
        self._running.add(task)

    def mark_waiting(self, task: TaskId) -> None:
        """Note that a task that ran, failed or was blocked may be started again."""
        self._running.discard(task)
        if self._failed.pop(task, None) is not None:
            self._reconsider(task)
        if self._missing[task] == 0 and task not in self._done and task not in self._unreachable:
            self._ready.add(task)

    def mark_done(self, task: TaskId) -> tuple[TaskId, ...]:
        """Note that a task is done; return what became ready by it, the most urgent first.

        Raises:
            InternalError: a task that it depends on is not done.
        """
        if task in self._done:
            return ()
        if self._missing[task]:
            raise InternalError(f"task {task} is said to be done before what it depends on")
        if self._failed.pop(task, None) is not None:
            self._reconsider(task)
        self._ready.discard(task)
        self._running.discard(task)
        self._done.add(task)
        newly: list[TaskId] = []
        for dependent in self._graph.dependents(task):
            self._missing[dependent] -= 1
            if self._missing[dependent] == 0:
                newly.append(dependent)
        self._ready.update(newly)
        return tuple(sorted(newly, key=self._graph.sort_key))

    def mark_failed(self, task: TaskId, reason: str) -> tuple[Unreachable, ...]:
        """Note that a task failed or is blocked; return what cannot start any more because of it.

        Raises:
            InternalError: it is done.
        """
        if task in self._done:
            raise InternalError(f"task {task} is said to have failed though it is done")
        self._ready.discard(task)
        self._running.discard(task)
        self._unreachable.pop(task, None)
        self._failed[task] = reason
        return self._spread(task, reason)

    def _spread(self, cause: TaskId, reason: str) -> tuple[Unreachable, ...]:
        """Mark what depends on a failure; of several causes the smallest id is named, whatever came first."""
        newly: list[Unreachable] = []
        queue = list(self._graph.dependents(cause))
        for task in queue:
            known = self._unreachable.get(task)
            if task in self._failed or (known is not None and known.because_of <= cause):
                continue
            entry = Unreachable(task, cause, f"it depends on {cause}, which was not done: {reason}")
            self._unreachable[task] = entry
            if known is None:
                newly.append(entry)
            queue.extend(self._graph.dependents(task))
        return tuple(sorted(newly, key=lambda one: one.task))

    def _reconsider(self, cause: TaskId) -> None:
        """Free what only this task held back; what another failure holds back as well keeps a reason."""
        freed = [task for task, entry in self._unreachable.items() if entry.because_of == cause]
        for task in freed:
            del self._unreachable[task]
        for other in sorted(self._failed):
            self._spread(other, self._failed[other])
