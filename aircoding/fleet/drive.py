"""Drive a run: fold the log, make the moves that the scheduler names, wait for something to end, again."""

from __future__ import annotations

import asyncio
from functools import partial

from aircoding.fleet.attempts import run_attempt, run_session_workflow
from aircoding.fleet.deps import FleetDeps, append
from aircoding.fleet.engine import Workflow
from aircoding.fleet.scheduler import Dispatch, Finish, GiveUp, next_moves
from aircoding.fleet.state import FleetState, fold
from aircoding.records.ids import RunId, TaskId, attempt_key

__all__ = ["drive", "workflows"]


def workflows(deps: FleetDeps) -> dict[str, Workflow]:
    """Return the workflows that the engine must know before it is launched."""
    return {"attempt": partial(run_attempt, deps), "session": partial(run_session_workflow, deps)}


async def drive(deps: FleetDeps, *, stop: asyncio.Event) -> str:
    """Go on with the run until it ends, and return its status.

    `done` and `failed` are ends; `interrupted` (a stop was asked for) and `budget` (the money limit
    was reached) can be resumed. Work that is under way is awaited, except after a stop.
    """
    seen, state = 0, FleetState()
    running: dict[str, tuple[str, int]] = {}
    stopping = asyncio.create_task(stop.wait())
    try:
        await _rejoin(deps, running)
        while True:
            seen, state = _read(deps, seen, state)
            _note_running(deps, state, running)
            within = _within_budget(deps)
            moves = next_moves(
                deps.plan,
                state,
                base_commit=deps.run.base_commit,
                concurrency=deps.run.concurrency,
                may_start=within and not stop.is_set(),
            )
            for move in moves:
                if isinstance(move, Finish):
                    return _finish(deps, move.status, state)
                await _make(deps, move, running)
            if moves:
                continue
            if stop.is_set():
                return _pause(deps, "interrupted")
            if not running:
                return _pause(deps, "budget")
            await _wait(deps, running, stopping)
    finally:
        stopping.cancel()


def _read(deps: FleetDeps, seen: int, state: FleetState) -> tuple[int, FleetState]:
    events = deps.events.read(deps.run.run_id, after=seen)
    return (events[-1].seq if events else seen), fold(events, state)


def _note_running(deps: FleetDeps, state: FleetState, running: dict[str, tuple[str, int]]) -> None:
    """Know which attempts go on: after a resume they are found in the log, not in this process."""
    for task_id, progress in state.tasks.items():
        for attempt in progress.attempts:
            key = attempt_key(RunId(deps.run.run_id), TaskId(task_id), attempt.number)
            if attempt.outcome is None:
                running[key] = (task_id, attempt.number)
            else:
                running.pop(key, None)


async def _rejoin(deps: FleetDeps, running: dict[str, tuple[str, int]]) -> None:
    """Start again what the log says goes on; the engine leaves alone what it has taken up by itself."""
    _note_running(deps, fold(deps.events.read(deps.run.run_id)), running)
    for key, (task_id, number) in sorted(running.items()):
        await deps.engine.start("attempt", key, task_id, str(number))


def _within_budget(deps: FleetDeps) -> bool:
    limit = deps.run.max_cost_usd
    return limit is None or deps.ledger.spent_usd(deps.run.run_id) < limit


async def _make(deps: FleetDeps, move: Dispatch | GiveUp, running: dict[str, tuple[str, int]]) -> None:
    if isinstance(move, GiveUp):
        append(deps, f"task.{move.state}", {"reason": move.reason}, key=move.task_id, task=move.task_id)
        return
    key = attempt_key(RunId(deps.run.run_id), TaskId(move.task_id), move.attempt)
    payload: dict[str, object] = {"base_commit": move.base_commit, "worker_index": _free_index(deps, running)}
    append(deps, "task.dispatched", payload, key=key, task=move.task_id, attempt=move.attempt)
    running[key] = (move.task_id, move.attempt)
    await deps.engine.start("attempt", key, move.task_id, str(move.attempt))


def _free_index(deps: FleetDeps, running: dict[str, tuple[str, int]]) -> int:
    """Return the lowest worker index that no running attempt has: ports and caches are told apart by it."""
    taken = {
        int(event.payload.get("worker_index", 0))
        for event in deps.events.read(deps.run.run_id)
        if event.type == "task.dispatched" and (event.task_id, event.attempt) in running.values()
    }
    return next(index for index in range(len(taken) + 1) if index not in taken)


async def _wait(deps: FleetDeps, running: dict[str, tuple[str, int]], stopping: asyncio.Task[bool]) -> None:
    """Wait until an attempt has ended or a stop was asked for; an attempt that crashed ends as failed."""
    ending = asyncio.create_task(deps.engine.first(sorted(running)))
    await asyncio.wait({ending, stopping}, return_when=asyncio.FIRST_COMPLETED)
    if not ending.done():
        ending.cancel()
        return
    key = ending.result()
    task_id, number = running.pop(key)
    try:
        await deps.engine.result(key)
    except Exception as error:  # noqa: BLE001 - whatever went wrong inside, the rest of the graph goes on
        reason = f"the attempt ended with {type(error).__name__}: {error}"
        payload: dict[str, object] = {"outcome": "blocked", "reason": reason, "commit": None, "evidence": []}
        append(deps, "attempt.finished", payload, key=key, task=task_id, attempt=number)


def _finish(deps: FleetDeps, status: str, state: FleetState) -> str:
    """End the run: move the user's branch forward where that is possible, else say why not."""
    integrated = state.integrated
    why_not = None
    if integrated is not None and deps.run.target_branch is not None:
        why_not = deps.repository.fast_forward(integrated, branch=deps.run.target_branch)
    payload: dict[str, object] = {"status": status, "integrated": integrated, "not_moved": why_not}
    append(deps, "run.finished", payload, key=f"{len(deps.events.read(deps.run.run_id))}")
    deps.runs.finish(deps.run.run_id, status)
    return status


def _pause(deps: FleetDeps, status: str) -> str:
    deps.runs.finish(deps.run.run_id, status)
    return status
