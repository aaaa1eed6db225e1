"""Drive a run: read the log, make the moves that the scheduler names, wait for something to end, again."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass, field
from functools import partial

from aircoding.errors import FencedError, StoreError
from aircoding.fleet.attempts import run_attempt
from aircoding.fleet.deps import FleetDeps, append
from aircoding.fleet.engine import Workflow
from aircoding.fleet.scheduler import Dispatch, Finish, GiveUp, Pause, next_moves
from aircoding.fleet.sessions import run_session_workflow
from aircoding.fleet.state import FleetState
from aircoding.fleet.supported import require_supported
from aircoding.records.ids import AttemptKey, RunId, TaskId, attempt_key
from aircoding.records.words import dollars

__all__ = ["drive", "stop_where_fatal", "workflows"]


def workflows(deps: FleetDeps) -> dict[str, Workflow]:
    """Return the workflows that the engine must know before it is launched."""
    return {"attempt": partial(run_attempt, deps), "session": partial(run_session_workflow, deps)}


@dataclass(slots=True)
class _Joined:
    """The workflows that this process waits for: key to (task, attempt).

    `taken_up` are those that an earlier process began.
    """

    attempts: dict[str, tuple[TaskId, int]] = field(default_factory=dict)
    taken_up: set[str] = field(default_factory=set)

    def holds(self, task: TaskId, number: int) -> bool:
        return (task, number) in self.attempts.values()


async def drive(deps: FleetDeps, *, stop: asyncio.Event) -> str:
    """Go on with the run until it ends, and return its status.

    `done` and `failed` are ends. `interrupted` (a stop was asked for, or no model can be reached) and
    `budget` (the money limit was reached) can be resumed. Attempts under way are awaited, except after a
    stop, when they are suspended at once, and when the money is spent: then each is suspended before its
    next model call. They go on where they were at the next resume.

    Raises:
        FencedError: another process owns the run now.
        StoreError: the record cannot be written; the run can be resumed when it can.
        PlanError: the plan asks for what this version does not have.
    """
    require_supported(deps.plan)
    joined = _Joined()
    stopping = asyncio.create_task(stop.wait())
    try:
        while True:
            state = deps.journal.state
            await _join(deps, state, joined)
            moves = next_moves(
                deps.graph,
                state,
                base_commit=deps.run.base_commit,
                concurrency=deps.run.concurrency,
                may_start=not stop.is_set() and _within_budget(deps),
            )
            for move in moves:
                if isinstance(move, Finish):
                    return _finish(deps, move.status, state)
                if isinstance(move, Pause):
                    return _pause(deps, "interrupted", move.reason)
                await _make(deps, move, joined)
            if stop.is_set():
                await deps.engine.suspend()
                return _pause(deps, "interrupted", "a stop was asked for")
            if moves:
                continue
            if not joined.attempts or await _wait(deps, joined, stopping):
                await deps.engine.suspend()
                return _pause(deps, "budget", _spent(deps))
    except StoreError as error:
        await deps.engine.suspend()
        # What cannot be written now is told by the lock, which nobody holds any more.
        with contextlib.suppress(StoreError):
            _pause(deps, "interrupted", error.message)
        raise
    except BaseException:
        await deps.engine.suspend()
        raise
    finally:
        stopping.cancel()


async def _join(deps: FleetDeps, state: FleetState, joined: _Joined) -> None:
    """Start or join what the log says goes on; after a crash it is there before this process has done anything."""
    for task in deps.graph.tasks:
        last = state.task(task).last
        if last is None or last.outcome is not None or joined.holds(task, last.number):
            continue
        generation = await _generation(deps, task, last.number)
        if generation is not None:
            joined.taken_up.add(await _start(deps, joined, task, last.number, generation))


async def _generation(deps: FleetDeps, task: TaskId, number: int) -> int | None:
    """Return under which generation an attempt goes on; None when it has just ended.

    A workflow that has ended though its attempt has not broke on an error of ours (a full disk): it is
    begun anew, and finds on record what the one before had done.
    """
    generation = 1
    while await deps.engine.ended(_workflow(_key(deps, task, number), generation)):
        attempt = deps.journal.state.task(task).attempt(number)
        if attempt is not None and attempt.outcome is not None:
            return None
        generation += 1
    return generation


async def _start(deps: FleetDeps, joined: _Joined, task: TaskId, number: int, generation: int) -> str:
    """Start or join a generation of an attempt and return its key; nothing of the one before goes on beside it."""
    key = _key(deps, task, number)
    if generation > 1:
        await deps.engine.cancel(_workflow(key, generation - 1))
    workflow = _workflow(key, generation)
    await deps.engine.start("attempt", workflow, task, str(number), str(generation))
    joined.attempts[workflow] = (task, number)
    return workflow


def _key(deps: FleetDeps, task: TaskId, number: int) -> AttemptKey:
    return attempt_key(RunId(deps.run.run_id), task, number)


def _workflow(key: AttemptKey, generation: int) -> str:
    return key if generation == 1 else f"{key}~{generation}"


def _within_budget(deps: FleetDeps) -> bool:
    limit = deps.run.max_cost_usd
    return limit is None or deps.ledger.spent_usd(deps.run.run_id) < limit


def _spent(deps: FleetDeps) -> str:
    spent_usd = deps.ledger.spent_usd(deps.run.run_id)
    return f"{dollars(spent_usd)} of {dollars(deps.run.max_cost_usd or 0.0)} are spent"


async def _make(deps: FleetDeps, move: Dispatch | GiveUp, joined: _Joined) -> None:
    task = move.task_id
    if isinstance(move, GiveUp):
        append(deps, f"task.{move.state}", {"reason": move.reason}, key=task, task=task)
        return
    title = deps.graph.tasks[task].title
    payload = {"title": title, "base_commit": move.base_commit, "worker_index": _free_index(deps)}
    append(deps, "task.dispatched", payload, key=_key(deps, task, move.attempt), task=task, attempt=move.attempt)
    await _start(deps, joined, task, move.attempt, 1)


def _free_index(deps: FleetDeps) -> int:
    """Return the lowest worker index that no running attempt has: ports and caches are told apart by it."""
    state = deps.journal.state
    taken = {
        last.worker_index
        for progress in state.tasks.values()
        if progress.running and (last := progress.last) is not None
    }
    return next(index for index in range(len(taken) + 1) if index not in taken)


async def _wait(deps: FleetDeps, joined: _Joined, stopping: asyncio.Task[bool]) -> bool:
    """Wait until an attempt has ended or a stop was asked for; True when all that goes on is held for want of money."""
    ending = asyncio.create_task(deps.engine.first(joined.attempts))
    held = asyncio.create_task(_all_held(deps, len(joined.attempts)))
    await asyncio.wait({ending, held, stopping}, return_when=asyncio.FIRST_COMPLETED)
    all_held = held.done() and not ending.done() and not stopping.done()
    held.cancel()
    if not ending.done():
        ending.cancel()
        await asyncio.gather(ending, held, return_exceptions=True)
        return all_held
    await asyncio.gather(held, return_exceptions=True)
    await _ended(deps, joined, ending.result())
    return False


async def _ended(deps: FleetDeps, joined: _Joined, workflow: str) -> None:
    """Take in that an attempt has ended; one that broke is begun anew, ends as blocked, or ends this process.

    One that an earlier process began may only repeat what broke it then (a disk that was full): it gets a new
    generation, once. One whose end the engine could not write is still unfinished there: the next resume goes on.
    """
    task, number = joined.attempts.pop(workflow)
    try:
        await deps.engine.result(workflow)
    except Exception as error:  # whatever went wrong inside, the rest of the graph goes on
        fault = _record_fault(deps, error)
        if isinstance(fault, FencedError):
            raise fault from error
        if not await deps.engine.ended(workflow):
            raise fault or _unwritable(deps, str(error)) from error
        if workflow in joined.taken_up:
            generation = await _generation(deps, task, number)
            if generation is not None:
                await _start(deps, joined, task, number, generation)
        elif fault is not None:
            raise fault from error
        else:
            _broken(deps, task, number, error)


async def _all_held(deps: FleetDeps, attempts: int) -> None:
    """Wait until as many sessions are held by the budget as attempts go on: each has one session at a time."""
    if deps.session.budget is None:
        await asyncio.Event().wait()
    else:
        await deps.session.budget.held(attempts)


def stop_where_fatal(deps: FleetDeps, error: Exception) -> str:
    """Return the name of what broke a workflow.

    Raises:
        FencedError: another process owns the run.
        StoreError: the record cannot be written.
    """
    fault = _record_fault(deps, error)
    if fault is not None:
        raise fault from error
    return _name(error)


def _record_fault(deps: FleetDeps, error: Exception) -> StoreError | None:
    """Return the error that ends the process where the record cannot be written; None: the attempt alone broke.

    On a full disk all kinds of things break, and git does not say why; so the disk itself is asked.
    """
    name = _name(error)
    if name == FencedError.__name__:
        return FencedError(str(error), hint="another process drives this run; see `aircoding status`")
    if name == StoreError.__name__ or deps.is_full():
        return _unwritable(deps, str(error))
    return None


def _unwritable(deps: FleetDeps, message: str) -> StoreError:
    hint = f"see to the disk and the database, then `aircoding resume {deps.run.run_id}`"
    return StoreError(f"the record cannot be written: {message}", hint=hint)


def _name(error: Exception) -> str:
    """Errors that crossed the engine's database are known by their class's name alone."""
    name = type(error).__name__
    return str(getattr(error, "name", name)) if name == "PortableWorkflowError" else name


def _broken(deps: FleetDeps, task: TaskId, number: int, error: Exception) -> None:
    """End an attempt that broke as blocked."""
    payload: dict[str, object] = {
        "outcome": "blocked",
        "reason": f"the attempt broke: {_name(error)}: {error}",
        "commit": None,
        "evidence": [],
    }
    append(deps, "attempt.finished", payload, key=_key(deps, task, number), task=task, attempt=number)


def _finish(deps: FleetDeps, status: str, state: FleetState) -> str:
    """End the run: move the user's branch forward where that is possible, else say why not and what to type."""
    run, integrated = deps.run, state.integrated
    why_not = None
    if integrated is not None and run.target_branch is not None:
        why_not = deps.repository.fast_forward(integrated, branch=run.target_branch)
    elif integrated is not None:
        why_not = "no branch was checked out when the run started"
    payload: dict[str, object] = {
        "status": status,
        "integrated": integrated,
        "not_moved": why_not,
        "command": f"git merge {run.integration_branch}" if why_not else None,
    }
    append(deps, "run.finished", payload, key=str(state.resumptions))
    deps.runs.finish(run.run_id, status)
    return status


def _pause(deps: FleetDeps, status: str, reason: str) -> str:
    """Leave the run so that it can be resumed, and say why."""
    key = f"{deps.journal.state.resumptions}"
    append(deps, "run.paused", {"status": status, "reason": reason}, key=key)
    deps.runs.finish(deps.run.run_id, status)
    return status
