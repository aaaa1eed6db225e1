"""What to do next: a pure function of the graph and the state. No model is asked here, and no clock.

Strict waves and leader first are not here: a task starts as soon as its dependencies are merged and its write area is
free (`graph.waves` shows the plan of it).
"""

from __future__ import annotations

from dataclasses import dataclass

from aircoding.fleet.state import OUTAGE, AttemptState, FleetState, TaskProgress
from aircoding.graph.areas import AreaIndex
from aircoding.graph.task_graph import TaskGraph
from aircoding.records.ids import TaskId
from aircoding.records.tasks import TaskSpec

__all__ = ["Dispatch", "Finish", "GiveUp", "Move", "Pause", "next_moves"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispatch:
    """Start an attempt of a task from a commit."""

    task_id: TaskId
    attempt: int
    base_commit: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GiveUp:
    """A task ends without being done: `state` is failed or blocked."""

    task_id: TaskId
    state: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause:
    """Nothing can go on now, but a resume may help: no model could be reached."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Finish:
    """Nothing is left to do: `status` is done or failed."""

    status: str


Move = Dispatch | GiveUp | Pause | Finish


def next_moves(
    graph: TaskGraph, state: FleetState, *, base_commit: str, concurrency: int, may_start: bool
) -> tuple[Move, ...]:
    """Return all moves that the state asks for now, in the order in which they are to be made.

    First tasks that have to be given up, then attempts to start: by priority, then by the longest chain
    that waits for the task, then by id. Two tasks whose write areas meet never run together. With
    `may_start` false nothing new starts (a stop was asked for, or the budget is reached). No moves
    while nothing runs means that only the caller's own reason holds the run back.
    """
    given_up = _given_up(graph, state)
    if given_up:
        return given_up
    running = [task for task in graph.tasks if state.task(task).running]
    outage = _outage(graph, state)
    if may_start and outage is None:
        started = _dispatches(graph, state, running, base_commit, concurrency)
        if started:
            return started
    if running:
        return ()
    open_tasks = [task for task in graph.order if not state.task(task).ended]
    if not open_tasks:
        done = all(state.task(task).state == "done" for task in graph.tasks)
        return (Finish(status="done" if done else "failed"),)
    if outage is not None:
        return (Pause(reason=outage),)
    if may_start:
        return tuple(GiveUp(task_id=task, state="blocked", reason=_stuck(graph, task, state)) for task in open_tasks)
    return ()


def _given_up(graph: TaskGraph, state: FleetState) -> tuple[GiveUp, ...]:
    """Return the tasks that cannot go on, each after what it depends on, so that one pass finds a whole chain."""
    found: list[GiveUp] = []
    bad = {task: progress.state for task, progress in state.tasks.items() if progress.state in {"failed", "blocked"}}
    for task_id in graph.order:
        progress = state.task(task_id)
        if progress.ended or progress.running:
            continue
        move = _spent(graph.tasks[task_id], progress) or _behind(graph, task_id, bad)
        if move is not None:
            bad[task_id] = move.state
            found.append(move)
    return tuple(found)


def _spent(task: TaskSpec, progress: TaskProgress) -> GiveUp | None:
    """Return how a task ends by its own attempts: blocked, or none left. An outage uses up no attempt."""
    last = progress.last
    if last is None or last.stop == OUTAGE:
        return None
    if last.outcome == "blocked":
        return GiveUp(task_id=task.id, state="blocked", reason=last.reason)
    used = sum(1 for attempt in progress.attempts if attempt.stop != OUTAGE)
    if last.outcome in {"failed", "sent_back"} and used >= task.retry.max_attempts:
        reason = last.reason if last.outcome == "failed" else f"sent back by review: {last.reason}"
        return GiveUp(task_id=task.id, state="failed", reason=reason)
    return None


def _behind(graph: TaskGraph, task: TaskId, bad: dict[str, str]) -> GiveUp | None:
    """Return how a task ends because of one that it depends on."""
    for before in graph.dependencies(task):
        if before in bad:
            how = "failed" if bad[before] == "failed" else "is blocked"
            return GiveUp(task_id=task, state="blocked", reason=f"depends on {before}, which {how}")
    return None


def _outage(graph: TaskGraph, state: FleetState) -> str | None:
    """Return why no model can be reached, if an attempt found that out since the last resume."""
    for task in graph.tasks:
        progress = state.task(task)
        last = progress.last
        if last is not None and not progress.ended and last.stop == OUTAGE and last.resumption == state.resumptions:
            return last.reason
    return None


def _dispatches(
    graph: TaskGraph, state: FleetState, running: list[TaskId], base_commit: str, concurrency: int
) -> tuple[Move, ...]:
    free = concurrency - len(running)
    if free <= 0:
        return ()
    ready = [task for task in graph.tasks if _is_ready(graph, task, state)]
    ready.sort(key=graph.sort_key)
    taken = AreaIndex()
    for task in running:
        taken.add(task, graph.tasks[task].write_area)
    moves: list[Move] = []
    for task in ready:
        area = graph.tasks[task].write_area
        if taken.first_meeting(task, area) is None:
            taken.add(task, area)
            moves.append(_dispatch(graph, task, state, base_commit))
            if len(moves) == free:
                break
    return tuple(moves)


def _is_ready(graph: TaskGraph, task: TaskId, state: FleetState) -> bool:
    progress = state.task(task)
    if progress.ended or progress.running or (progress.last is not None and progress.last.outcome == "done"):
        return False
    return all(state.task(before).state == "done" for before in graph.dependencies(task))


def _dispatch(graph: TaskGraph, task: TaskId, state: FleetState, base_commit: str) -> Dispatch:
    last = state.task(task).last
    if last is None:
        return Dispatch(task_id=task, attempt=1, base_commit=_base(graph, task, state, base_commit))
    return Dispatch(task_id=task, attempt=last.number + 1, base_commit=_restart(last))


def _restart(last: AttemptState) -> str:
    """A try that was sent back goes on from its own commit, one that failed starts from its base again."""
    return last.commit if last.outcome == "sent_back" and last.commit else last.base_commit


def _base(graph: TaskGraph, task: TaskId, state: FleetState, base_commit: str) -> str:
    """Return the commit at which all dependencies are merged: that of the one that was merged last."""
    merged = [state.task(before) for before in graph.dependencies(task)]
    latest = max(merged, key=lambda progress: progress.done_order, default=None)
    return latest.commit if latest is not None and latest.commit is not None else base_commit


def _stuck(graph: TaskGraph, task: TaskId, state: FleetState) -> str:
    """Say what a task waits for though nothing runs that could bring it (the log and the graph disagree)."""
    missing = [before for before in graph.dependencies(task) if state.task(before).state != "done"]
    if missing:
        return f"deadlock: nothing runs, and {', '.join(missing)} is not done"
    return "deadlock: nothing runs, and its last attempt ended as done without being merged"
