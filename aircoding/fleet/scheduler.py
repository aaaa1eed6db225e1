"""What to do next: a pure function of the plan and the state. No model is asked here, and no clock."""

from __future__ import annotations

from dataclasses import dataclass

from aircoding.fleet.state import AttemptState, FleetState, TaskProgress
from aircoding.records.tasks import Plan, TaskSpec
from aircoding.rules.globs import overlap

__all__ = ["Dispatch", "Finish", "GiveUp", "Move", "next_moves"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispatch:
    """Start an attempt of a task from a commit."""

    task_id: str
    attempt: int
    base_commit: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GiveUp:
    """A task ends without being done: `state` is failed or blocked."""

    task_id: str
    state: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Finish:
    """Nothing is left to do: `status` is done or failed."""

    status: str


Move = Dispatch | GiveUp | Finish


def next_moves(
    plan: Plan, state: FleetState, *, base_commit: str, concurrency: int, may_start: bool
) -> tuple[Move, ...]:
    """Return all moves that the state asks for now, in the order in which they are to be made.

    First tasks that have to be given up, then attempts to start: by priority, then by how much
    depends on the task, then in plan order. Two tasks whose write areas meet never run together.
    With `may_start` false nothing new starts (a stop was asked for, or the budget is reached).
    """
    given_up = [move for task in plan.tasks if (move := _given_up(task, state)) is not None]
    if given_up:
        return tuple(given_up)
    running = [task for task in plan.tasks if _is_running(state.task(task.id))]
    moves: list[Move] = []
    if may_start:
        weight = _weights(plan)
        ready = [task for task in plan.tasks if _is_ready(task, state)]
        ready.sort(key=lambda task: (-task.priority, -weight[task.id]))
        for task in ready:
            if len(running) >= concurrency:
                break
            if not any(_areas_meet(task, other) for other in running):
                running.append(task)
                moves.append(_dispatch(task, state, base_commit))
    if not moves and not running:
        ended = all(state.task(task.id).state in {"done", "failed", "blocked"} for task in plan.tasks)
        if ended:
            done = all(state.task(task.id).state == "done" for task in plan.tasks)
            return (Finish(status="done" if done else "failed"),)
        if may_start:
            stuck = [task for task in plan.tasks if state.task(task.id).state not in {"done", "failed", "blocked"}]
            return tuple(GiveUp(task_id=task.id, state="blocked", reason=_stuck(task, state)) for task in stuck)
    return tuple(moves)


def _given_up(task: TaskSpec, state: FleetState) -> GiveUp | None:
    """Return how a task ends when it cannot go on: no attempt left, blocked, or a dependency that ended badly."""
    progress = state.task(task.id)
    if progress.state in {"done", "failed", "blocked"}:
        return None
    last = progress.last
    if last is not None and last.outcome == "blocked":
        return GiveUp(task_id=task.id, state="blocked", reason=last.reason)
    if last is not None and last.outcome in {"failed", "sent_back"} and last.number >= task.retry.max_attempts:
        reason = last.reason if last.outcome == "failed" else f"sent back by review: {last.reason}"
        return GiveUp(task_id=task.id, state="failed", reason=reason)
    for dependency in task.depends_on:
        before = state.task(dependency)
        if before.state in {"failed", "blocked"}:
            return GiveUp(task_id=task.id, state="blocked", reason=f"depends on {dependency}, which {_ended(before)}")
    return None


def _ended(progress: TaskProgress) -> str:
    return "failed" if progress.state == "failed" else "is blocked"


def _is_running(progress: TaskProgress) -> bool:
    return progress.state == "running" and progress.last is not None and progress.last.outcome is None


def _is_ready(task: TaskSpec, state: FleetState) -> bool:
    progress = state.task(task.id)
    if progress.state in {"done", "failed", "blocked"} or _is_running(progress):
        return False
    if progress.last is not None and progress.last.outcome == "done":
        return False
    return all(state.task(dependency).state == "done" for dependency in task.depends_on)


def _areas_meet(left: TaskSpec, right: TaskSpec) -> bool:
    return any(overlap(a, b) for a in left.write_area for b in right.write_area)


def _dispatch(task: TaskSpec, state: FleetState, base_commit: str) -> Dispatch:
    last = state.task(task.id).last
    if last is None:
        return Dispatch(task_id=task.id, attempt=1, base_commit=_base(task, state, base_commit))
    return Dispatch(task_id=task.id, attempt=last.number + 1, base_commit=_restart(last))


def _restart(last: AttemptState) -> str:
    """A try that was sent back goes on from its own commit, one that failed starts from its base again."""
    return last.commit if last.outcome == "sent_back" and last.commit else last.base_commit


def _base(task: TaskSpec, state: FleetState, base_commit: str) -> str:
    """Return the commit at which all dependencies are merged: that of the one that was merged last."""
    merged = [state.task(dependency) for dependency in task.depends_on]
    latest = max(merged, key=lambda progress: progress.done_order, default=None)
    return latest.commit if latest is not None and latest.commit is not None else base_commit


def _weights(plan: Plan) -> dict[str, int]:
    """Return for each task the length of the longest chain that waits for it (the critical path's remainder)."""
    followers: dict[str, list[str]] = {task.id: [] for task in plan.tasks}
    for task in plan.tasks:
        for dependency in task.depends_on:
            followers[dependency].append(task.id)
    weights: dict[str, int] = {}
    stack: list[tuple[str, bool]] = [(task.id, False) for task in plan.tasks]
    while stack:
        task_id, ready = stack.pop()
        if ready:
            weights[task_id] = 1 + max((weights[after] for after in followers[task_id]), default=0)
        elif task_id not in weights:
            stack.append((task_id, True))
            stack.extend((after, False) for after in followers[task_id] if after not in weights)
    return weights


def _stuck(task: TaskSpec, state: FleetState) -> str:
    missing = [name for name in task.depends_on if state.task(name).state != "done"]
    return f"nothing runs and {', '.join(missing) or 'nothing'} is not done: the run cannot go on"
