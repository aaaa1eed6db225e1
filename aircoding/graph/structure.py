"""What is wrong with the tasks as a graph: ids given twice, ids that nobody has, cycles."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING

from aircoding.errors import InternalError
from aircoding.graph.faults import FaultList
from aircoding.records.ids import TaskId
from aircoding.records.tasks import TaskSpec

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["add_structure_faults", "dependency_edges", "digraph", "find_cycles"]

_COMPARED = 20_000
"""Most ids that are compared in search of nearest names, over all unknown ids of a plan."""


def dependency_edges(tasks: Mapping[TaskId, TaskSpec]) -> Iterable[tuple[TaskId, TaskId]]:
    """Yield (dependency, dependent) for each dependency that there is: the only edges of the graph."""
    for task in tasks.values():
        for dependency in task.depends_on:
            if dependency in tasks:
                yield dependency, task.id


def digraph(tasks: Mapping[TaskId, TaskSpec]) -> nx.DiGraph[TaskId]:
    """Return the graph of tasks; nodes stand in the order of the plan."""
    import networkx as nx

    graph: nx.DiGraph[TaskId] = nx.DiGraph()
    graph.add_nodes_from(tasks)
    graph.add_edges_from(dependency_edges(tasks))
    return graph


def find_cycles(graph: nx.DiGraph[TaskId]) -> tuple[tuple[TaskId, ...], ...]:
    """Return one shortest cycle for each knot of tasks that wait for each other.

    A cycle begins with its smallest id; each task in it waits for the next, the last for the first.
    """
    import networkx as nx

    cycles = [_cycle_within(graph, knot) for knot in nx.strongly_connected_components(graph) if len(knot) > 1]
    cycles.extend((task,) for task in nx.nodes_with_selfloops(graph))
    return tuple(sorted(cycles))


def _cycle_within(graph: nx.DiGraph[TaskId], component: set[TaskId]) -> tuple[TaskId, ...]:
    start = min(component)
    came_from: dict[TaskId, TaskId] = {}
    queue: list[TaskId] = [start]
    for task in queue:
        for dependency in sorted(graph.predecessors(task)):
            if dependency == start:
                path = [task]
                while path[-1] != start:
                    path.append(came_from[path[-1]])
                return tuple(reversed(path))
            if dependency in component and dependency not in came_from:
                came_from[dependency] = task
                queue.append(dependency)
    raise InternalError(f"no way leads from {start} back to it, though its tasks wait for each other")


def add_structure_faults(tasks: Sequence[TaskSpec], faults: FaultList, *, complete: bool = True) -> None:
    """Note all faults of the graph; with tasks missing (`complete` false) an unknown id may be one of them."""
    by_id = _unique(tasks, faults)
    searches = _COMPARED // max(1, len(by_id))
    for task in by_id.values():
        for dependency in _unknown(task, by_id) if complete else ():
            near = get_close_matches(dependency, by_id, n=1) if searches > 0 else []
            searches -= 1
            hint = f"did you mean {near[0]}?" if near else "add that task, or remove it from `depends_on`"
            message = f"task {task.id} depends on {dependency}, which is no task"
            faults.add("unknown_id", message, task.line or None, hint)
    for cycle in find_cycles(digraph(by_id)) if _waits_for_itself(by_id) else ():
        line = by_id[cycle[0]].line or None
        path = " → ".join((*cycle, cycle[0]))
        if len(cycle) == 1:
            faults.add("cycle", f"a task waits for itself: {path}", line, "remove it from its `depends_on`")
        else:
            faults.add("cycle", f"tasks wait for each other: {path}", line, "remove one of these dependencies")


def _waits_for_itself(by_id: Mapping[TaskId, TaskSpec]) -> bool:
    """Whether there is any cycle; asked without networkx, which would be an eighth of the start of most commands."""
    try:
        TopologicalSorter({task.id: task.depends_on for task in by_id.values()}).prepare()
    except CycleError:
        return True
    return False


def _unique(tasks: Sequence[TaskSpec], faults: FaultList) -> dict[TaskId, TaskSpec]:
    by_id: dict[TaskId, TaskSpec] = {}
    folded: dict[str, TaskSpec] = {}
    for task in tasks:
        first = by_id.get(task.id)
        alike = folded.get(task.id.lower())
        if first is not None:
            where = f", first on line {first.line}" if first.line else ""
            faults.add("duplicate_id", f"two tasks have the id {task.id}{where}", task.line or None, "rename one")
            continue
        if alike is not None:
            message = f"the ids {alike.id} and {task.id} differ only in case"
            hint = "rename one: some file systems take their branches for one"
            faults.add("duplicate_id", message, task.line or None, hint)
        by_id[task.id] = task
        folded.setdefault(task.id.lower(), task)
    return by_id


def _unknown(task: TaskSpec, by_id: Mapping[TaskId, TaskSpec]) -> tuple[TaskId, ...]:
    return tuple(dependency for dependency in dict.fromkeys(task.depends_on) if dependency not in by_id)
