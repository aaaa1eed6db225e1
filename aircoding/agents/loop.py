"""One session: assemble, call, run tools, record; again until it has finished or a limit is reached.

A resumed session runs the same lines again. The engine and our logs give back what was done before, so that names
and order of the steps depend on recorded replies alone; texts come from the logs, never from a step's result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from aircoding.agents.calls import call_step
from aircoding.agents.deps import SessionDeps
from aircoding.agents.limits import stopped_before
from aircoding.agents.moments import contributions, due_words, tell_loaded
from aircoding.agents.notes import note
from aircoding.agents.replies import CUT_CALL, answer, is_cut, tool_calls
from aircoding.agents.results import (
    finished,
    in_conflict,
    not_finished,
    open_conflict,
    overflowed,
    provider_failed,
    turns_reached,
)
from aircoding.agents.steering import steer
from aircoding.agents.tools.outputs import screened_blocks
from aircoding.agents.tools.runner import recorded_result, run_tool
from aircoding.context.assembler import assemble
from aircoding.errors import InternalError
from aircoding.records.calls import Reply, ToolCall, ToolResult
from aircoding.records.ids import call_key
from aircoding.records.jsonable import jsonable
from aircoding.records.manifest import AssembledContext, Overflow
from aircoding.records.sessions import SessionBrief, SessionOutcome

__all__ = ["run_session"]


async def run_session(deps: SessionDeps, brief: SessionBrief) -> SessionOutcome:
    """Run a session to its end, or go on where it was, and return how it ended.

    Raises:
        FencedError: another process owns the run now; nothing more was written.
    """
    deps.sessions.open(brief)
    note(deps, brief, "session.started", {"role": brief.role, "model": brief.model}, key=brief.session_id)
    outcome = await _turns(deps, brief)
    deps.sessions.close(outcome)
    if deps.hooks is not None:
        deps.hooks.forget(brief.session_id)
    ended = {"role": brief.role, "status": outcome.status, "stop": outcome.stop, "turns": outcome.turns}
    note(deps, brief, "session.finished", ended, key=brief.session_id)
    return outcome


async def _turns(deps: SessionDeps, brief: SessionBrief) -> SessionOutcome:
    session, silent_turns, invalid_results, recorded = brief.session_id, 0, 0, 0
    for turn in range(1, brief.max_turns + 1):
        if (stopped := await stopped_before(deps, brief, turn)) is not None:
            return stopped
        context = await _context(deps, brief, turn, recorded, silent=silent_turns > 0)
        if isinstance(context, Overflow):
            note(deps, brief, "context.compaction.requested", jsonable(context), key=call_key(session, turn))
            return overflowed(brief, turn - 1, context)
        if (conflict := open_conflict(context)) is not None:
            note(deps, brief, "conflict.opened", jsonable(conflict), key=f"{session}:{conflict.conflict_id}")
            return in_conflict(brief, turn - 1, conflict)
        called = await deps.engine.step(call_key(session, turn), partial(call_step, deps, brief, turn, context))
        if "failed" in called:
            return provider_failed(brief, turn, called["failed"], called["message"], called["hint"])
        reply = _recorded_reply(deps, brief, turn)
        deps.sessions.append_message(session, recorded, "assistant", reply.content)
        if reply.stop_reason == "refusal":
            return provider_failed(
                brief, turn, "provider.refused", "The model refused to answer.", "Try another model."
            )

        calls = tool_calls(reply, session, turn)
        results = await _run_tools(deps, brief, context, reply, calls)
        silent_turns = 0 if calls else silent_turns + 1
        if calls:
            deps.sessions.append_message(session, recorded + 1, "user", answer(calls, results))
        recorded += 2 if calls else 1
        for call, result in zip(calls, results, strict=False):  # calls after finish have no result
            if result.finished is not None:
                return finished(brief, turn, result.finished)
            invalid_results += call.name == "finish"
        if invalid_results > 1:
            return not_finished(brief, turn, f"The result was not in order twice. Last: {results[-1].text}")
        if silent_turns > 1:
            return not_finished(brief, turn, "Two turns in a row ended without a tool call and without finish.")
    return turns_reached(brief)


async def _context(
    deps: SessionDeps, brief: SessionBrief, turn: int, recorded: int, *, silent: bool
) -> AssembledContext | Overflow:
    """Return the request of a turn: as it is on record, else assembled now and committed before it is sent.

    A new run revision or another model opens a new epoch; otherwise what was sent before is frozen.
    """
    if (kept := deps.assemblies.find(brief.session_id, turn)) is not None:
        await tell_loaded(deps, brief, kept)
        return kept
    before = deps.assemblies.find(brief.session_id, turn - 1) if turn > 1 else None
    now = replace(brief, run_revision=deps.revision_for(brief))
    goes_on = before is not None and _epoch_key(before) == (now.run_revision, now.model)
    epoch = before.manifest.epoch + (not goes_on) if before is not None else 1
    contributed = await contributions(deps, brief, turn, epoch, opens=not goes_on)
    steer(deps, brief, turn, silent=silent, hooked=await due_words(deps, brief, turn))
    snapshot = deps.gatherer.gather(
        now,
        turn=turn,
        messages=deps.sessions.messages(brief.session_id)[:recorded],
        frozen=before if goes_on else None,
        epoch=epoch,
        steering=deps.sessions.steering(brief.session_id, turn),
        contributed=contributed,
    )
    screened = screened_blocks(deps.tool_log.records(brief.session_id), snapshot.messages)
    snapshot = replace(snapshot, screened=screened)
    context = assemble(snapshot)
    if isinstance(context, AssembledContext):
        if deps.cache_watch is not None:
            context = deps.cache_watch.foretold(context, before=before if goes_on else None)
        deps.assemblies.record(context, snapshot=snapshot)
        for conflict in context.manifest.conflicts[len(before.manifest.conflicts) if goes_on and before else 0 :]:
            note(deps, brief, "conflict.found", jsonable(conflict), key=conflict.conflict_id)
        await tell_loaded(deps, brief, context)
    return context


def _epoch_key(context: AssembledContext) -> tuple[str, str]:
    return context.manifest.run_revision, context.manifest.model


async def _run_tools(
    deps: SessionDeps, brief: SessionBrief, context: AssembledContext, reply: Reply, calls: Sequence[ToolCall]
) -> list[ToolResult]:
    """Run the calls of a reply one after the other, up to a finish that was accepted."""
    results: list[ToolResult] = []
    for call in calls:
        if is_cut(reply, call):
            results.append(ToolResult(text=CUT_CALL, is_error=True))
            continue
        await deps.engine.step(call.key, partial(run_tool, deps, brief, context, call))
        results.append(recorded_result(deps, call))
        if results[-1].finished is not None:
            break
    return results


def _recorded_reply(deps: SessionDeps, brief: SessionBrief, turn: int) -> Reply:
    reply = deps.ledger.reply(call_key(brief.session_id, turn))
    if reply is None:
        raise InternalError(f"Turn {turn} of session {brief.session_id} was called, but its reply is not on record.")
    return reply
