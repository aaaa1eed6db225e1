"""The task graph: what waits for what, and how far it is to the end.

An edge runs from a dependency to the task that waits for it. Cycle test, readiness, depth and critical path all use
these same edges.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from aircoding.graph.faults import FaultList, plan_error
from aircoding.graph.structure import add_structure_faults, digraph
from aircoding.records.ids import TaskId
from aircoding.records.tasks import Plan, TaskSpec

__all__ = ["TaskGraph"]


class TaskGraph:
    """A valid graph of tasks; it never changes (see `progress.Progress` for what is done).

    Raises:
        PlanError: no tasks, an id twice, an unknown id, or a cycle; `diagnostics` have them all.
    """

    def __init__(self, tasks: Iterable[TaskSpec], *, uri: str = "") -> None:
        listed = tuple(tasks)
        faults = FaultList(uri)
        if not listed:
            faults.add("no_tasks", "the plan has no tasks", None)
        add_structure_faults(listed, faults)
        if faults.found:
            raise plan_error(uri, faults.found)
        self._tasks: dict[TaskId, TaskSpec] = {task.id: task for task in listed}
        self._graph = digraph(self._tasks)
        self._order = self._topological()
        self._depth = self._longest(self._order, self._graph.pred)
        self._height = self._longest(tuple(reversed(self._order)), self._graph.succ)

    @classmethod
    def of(cls, plan: Plan, *, uri: str = "") -> TaskGraph:
        """Return the graph of a plan."""
        return cls(plan.tasks, uri=uri)

    @property
    def tasks(self) -> Mapping[TaskId, TaskSpec]:
        """All tasks by id, in the order of the plan."""
        return self._tasks

    @property
    def order(self) -> tuple[TaskId, ...]:
        """All ids, each after all that it depends on; among equals by depth, then id."""
        return self._order

    def __len__(self) -> int:
        return len(self._tasks)

    def __contains__(self, task: object) -> bool:
        return task in self._tasks

    def dependencies(self, task: TaskId) -> tuple[TaskId, ...]:
        """Return what a task waits for directly, without repeats, in written order."""
        return tuple(dict.fromkeys(self._tasks[task].depends_on))

    def dependents(self, task: TaskId) -> tuple[TaskId, ...]:
        """Return what waits directly for a task, in the order of the plan."""
        return tuple(self._graph.succ[task])

    def ancestors(self, task: TaskId) -> frozenset[TaskId]:
        """Return all that must be done before a task."""
        return self._reach(task, self._graph.pred)

    def descendants(self, task: TaskId) -> frozenset[TaskId]:
        """Return all that cannot be done without a task."""
        return self._reach(task, self._graph.succ)

    def depth(self, task: TaskId) -> int:
        """Return how many tasks must be done one after the other before this one (0: none)."""
        return self._depth[task]

    def height(self, task: TaskId) -> int:
        """Return the length of the longest chain that waits for this task (0: nothing waits)."""
        return self._height[task]

    def sort_key(self, task: TaskId) -> tuple[int, int, TaskId]:
        """Order of tasks that could run: priority, then the longest chain behind, then id."""
        return -self._tasks[task].priority, -self._height[task], task

    def critical_path(self, weights: Mapping[TaskId, float] | None = None) -> tuple[TaskId, ...]:
        """Return the heaviest chain of tasks; each weighs 1, or what `weights` says (0 where it says nothing)."""
        best: dict[TaskId, tuple[float, TaskId | None]] = {}
        for task in self._order:
            before = sorted(self._graph.pred[task])
            heaviest = max(before, key=lambda one: best[one][0], default=None)
            own = 1.0 if weights is None else weights.get(task, 0.0)
            best[task] = (own + (best[heaviest][0] if heaviest is not None else 0.0), heaviest)
        end: TaskId | None = max(sorted(best), key=lambda one: best[one][0])
        path: list[TaskId] = []
        while end is not None:
            path.append(end)
            end = best[end][1]
        return tuple(reversed(path))

    def _topological(self) -> tuple[TaskId, ...]:
        """Kahn's order over layers, so that it does not depend on the order of the plan."""
        waiting = {task: len(self._graph.pred[task]) for task in self._tasks}
        layer = sorted(task for task, count in waiting.items() if count == 0)
        order: list[TaskId] = []
        while layer:
            order.extend(layer)
            following: list[TaskId] = []
            for task in layer:
                for dependent in self._graph.succ[task]:
                    waiting[dependent] -= 1
                    if waiting[dependent] == 0:
                        following.append(dependent)
            layer = sorted(following)
        return tuple(order)

    @staticmethod
    def _longest(order: tuple[TaskId, ...], before: Mapping[TaskId, Mapping[TaskId, object]]) -> dict[TaskId, int]:
        length: dict[TaskId, int] = {}
        for task in order:
            length[task] = 1 + max((length[one] for one in before[task]), default=-1)
        return length

    @staticmethod
    def _reach(task: TaskId, following: Mapping[TaskId, Mapping[TaskId, object]]) -> frozenset[TaskId]:
        found: set[TaskId] = set()
        queue = list(following[task])
        for one in queue:
            if one not in found:
                found.add(one)
                queue.extend(following[one])
        return frozenset(found)
