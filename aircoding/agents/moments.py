"""The moments of a session on which hooks are asked, and what is made of their answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from aircoding.agents.deps import SessionDeps
from aircoding.agents.hooks import FAILURES_IN_A_ROW, failed_in_a_row
from aircoding.agents.loaded import loaded_by
from aircoding.agents.notes import note
from aircoding.permissions.judgements import by_hook
from aircoding.records.calls import ToolCall, ToolResult
from aircoding.records.hooks import Contribution, HookEvent, HookResult
from aircoding.records.manifest import AssembledContext
from aircoding.records.policy import Decision, Effect
from aircoding.records.sessions import SessionBrief

__all__ = ["after_tool", "contributions", "contributions_of", "due_words", "narrowed", "tell_loaded"]

_TOOL_EVENTS = frozenset({HookEvent.PRE_TOOL_USE, HookEvent.POST_TOOL_USE})


async def contributions(
    deps: SessionDeps, brief: SessionBrief, turn: int, epoch: int, *, opens: bool
) -> tuple[Contribution, ...]:
    """Return what stands in the session's part of the prompt in this epoch.

    Context sources are asked in the session's first turn, `before_prompt_build` hooks when an epoch opens; later the
    recorded words count.
    """
    if deps.hooks is None:
        return ()
    results, new = await deps.hooks.ask(brief, HookEvent.CONTEXT, "context", turn=turn, anew=turn == 1)
    _account(deps, brief, results, new=new)
    event = HookEvent.BEFORE_PROMPT_BUILD
    built, new = await deps.hooks.ask(
        brief, event, f"{event.value}/{epoch}", turn=turn, facts={"epoch": epoch}, anew=opens
    )
    _account(deps, brief, built, new=new)
    return contributions_of((*results, *built))


def contributions_of(results: Sequence[HookResult]) -> tuple[Contribution, ...]:
    """Return the texts among results that have a layer."""
    return tuple(
        Contribution(source_uri=one.source_uri, trust=one.trust, layer=one.layer, text=one.text)
        for one in results
        if one.text and one.layer is not None
    )


async def due_words(deps: SessionDeps, brief: SessionBrief, turn: int) -> tuple[HookResult, ...]:
    """Return what hooks want said in this turn: those of the turn before's tool calls, then `pre_llm_call`."""
    if deps.hooks is None:
        return ()
    of_tools = [one for one in deps.hooks.recorded(brief.session_id) if one.event in _TOOL_EVENTS]
    event = HookEvent.PRE_LLM_CALL
    results, new = await deps.hooks.ask(brief, event, f"{event.value}/{turn}", turn=turn)
    _account(deps, brief, results, new=new)
    return tuple(one for one in (*(one for one in of_tools if one.turn == turn - 1), *results) if one.text)


async def tell_loaded(deps: SessionDeps, brief: SessionBrief, context: AssembledContext) -> None:
    """Tell observers which instructions an assembly loaded for the first time in its epoch."""
    event = HookEvent.INSTRUCTIONS_LOADED
    if deps.hooks is None or not deps.hooks.handles(event):
        return
    turn = context.manifest.turn
    before = deps.assemblies.find(brief.session_id, turn - 1) if turn > 1 else None
    for reason, uris in loaded_by(context.manifest, before.manifest if before is not None else None):
        facts = {"reason": reason, "uris": list(uris)}
        results, new = await deps.hooks.ask(brief, event, f"{event.value}/{turn}/{reason}", turn=turn, facts=facts)
        _account(deps, brief, results, new=new)


async def narrowed(deps: SessionDeps, brief: SessionBrief, call: ToolCall, decision: Decision) -> Decision:
    """Return the decision on a call that the policy permits, as far as hooks leave it: they only narrow.

    With nobody to ask, an ask is a deny here as everywhere.
    """
    if deps.hooks is None:
        return decision
    event = HookEvent.PRE_TOOL_USE
    facts = {"tool_name": call.name, "tool_input": call.input}
    results, new = await deps.hooks.ask(brief, event, _of_call(event, call), turn=call.turn, facts=facts)
    _account(deps, brief, results, new=new)
    for one in results:
        if one.decision is None or one.decision.rank <= Effect.ANNOUNCE.rank or not decision.permits:
            continue
        asks = one.decision is Effect.ASK
        said = one.reason or "it gave no reason"
        reason = f"{one.source_uri} {'asks for a person' if asks else 'refuses it'}: {said}"
        reason += "; nobody can be asked" if asks else ""
        judgement = by_hook(one.decision, call.name, one.source_uri, reason)
        decision = replace(
            decision,
            effect=Effect.DENY,
            act=f"use {call.name}",
            reason=reason,
            judgements=(*decision.judgements, judgement),
            asked=asks,
        )
    return decision


async def after_tool(deps: SessionDeps, brief: SessionBrief, call: ToolCall, result: ToolResult) -> None:
    """Show observers the result of a call, as the model is shown it."""
    if deps.hooks is None:
        return
    event = HookEvent.POST_TOOL_USE
    facts = {
        "tool_name": call.name,
        "tool_input": call.input,
        "tool_result": result.text,
        "is_error": result.is_error,
    }
    results, new = await deps.hooks.ask(brief, event, _of_call(event, call), turn=call.turn, facts=facts)
    _account(deps, brief, results, new=new)


def _of_call(event: HookEvent, call: ToolCall) -> str:
    return f"{event.value}/{call.turn}/{call.index}"


def _account(deps: SessionDeps, brief: SessionBrief, results: Sequence[HookResult], *, new: bool) -> None:
    """Note what failed, was cut, or is not asked any more."""
    if not new or deps.hooks is None:
        return
    for one in results:
        key = f"{brief.session_id}:{one.occasion}:{one.position}"
        about = {"hook": one.hook, "event": one.event.value, "source": one.source_uri}
        if one.cut_chars:
            note(deps, brief, "hook.cut", {**about, "cut_chars": one.cut_chars}, key=key)
        if one.state != "failed":
            continue
        failed = {**about, "reason": one.reason, "duration_seconds": one.duration_seconds}
        note(deps, brief, "hook.failed", failed, key=key)
        if failed_in_a_row(deps.hooks.recorded(brief.session_id), one.hook, one.event):
            key = f"{brief.session_id}:{one.hook}:{one.event.value}"
            note(deps, brief, "hook.switched_off", {**about, "failures": FAILURES_IN_A_ROW}, key=key)
