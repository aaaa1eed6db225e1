"""The single gate: nothing runs without a decision, and nothing is applied twice.

A call goes: on record already? → the tool as such → its input → its resolved acts → announce → intent → act → result.
After a crash between intent and result, a file change is compared by digests; of a command nothing can be told.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from aircoding.agents.deps import SessionDeps
from aircoding.agents.moments import after_tool, narrowed
from aircoding.agents.notes import note
from aircoding.agents.tools.outputs import screen_output
from aircoding.agents.tools.registry import TOOLS
from aircoding.agents.tools.schemas import schema_faults
from aircoding.agents.tools.workbench import Tool, Workbench, in_utf8, known_digests, refusal
from aircoding.errors import ConfigError, InternalError, WorkspaceError
from aircoding.permissions.engine import account_of, decide
from aircoding.records.calls import Screened, ToolCall, ToolRecord, ToolResult
from aircoding.records.digests import fingerprint
from aircoding.records.jsonable import jsonable
from aircoding.records.layers import Trust
from aircoding.records.manifest import AssembledContext
from aircoding.records.policy import Act, Decision, Effect, PathAct, ToolAct
from aircoding.records.sessions import SessionBrief

__all__ = ["recorded_result", "run_tool"]


async def run_tool(deps: SessionDeps, brief: SessionBrief, context: AssembledContext, call: ToolCall) -> dict[str, Any]:
    """Run one tool call as a durable step and return the digest of its result; the result is in the tool log.

    Raises:
        FencedError: another process owns the run.
    """
    known = deps.tool_log.find(call.key)
    if known is None or known.result is None:
        bench = _bench(deps, brief, context)
        told, decision = await _carry_out(deps, bench, context, call, known)
        result = replace(told, text=deps.screener.mask(told.text))  # names of files and words of errors, too
        if result.screened is not None:
            _tell_found(deps, bench, call, result.screened)
        record = deps.tool_log.interrupt if result.interrupted else deps.tool_log.commit
        record(call, decision, result)
    await after_tool(deps, brief, call, recorded_result(deps, call))
    return {"result": fingerprint(jsonable(recorded_result(deps, call)))}


def recorded_result(deps: SessionDeps, call: ToolCall) -> ToolResult:
    """Return the result of a call that was run.

    Raises:
        InternalError: it is not in the tool log.
    """
    record = deps.tool_log.find(call.key)
    if record is None or record.result is None:
        raise InternalError(f"Tool call {call.key} was run, but its result is not on record.")
    return record.result


def _bench(deps: SessionDeps, brief: SessionBrief, context: AssembledContext) -> Workbench:
    return Workbench(
        brief=brief,
        worktree=deps.open_worktree(brief.worktree),
        policy=deps.policy_for(brief),
        sandbox=deps.sandbox,
        blobs=deps.blobs,
        screener=deps.screener,
        records=deps.tool_log.records(brief.session_id),
        result_schema=deps.result_schema_for(brief.role),
        skills=deps.skills,
        prompt=context.manifest.segments,
        command_env=deps.command_env,
        memories=deps.memories,
        file_trust=Trust.PROJECT if deps.is_trusted() else Trust.EXTERNAL,
    )


async def _carry_out(
    deps: SessionDeps, bench: Workbench, context: AssembledContext, call: ToolCall, known: ToolRecord | None
) -> tuple[ToolResult, Decision | None]:
    """Return the result of a call and the decision that it stands on."""
    if known is not None and (settled := _settled(known, bench)) is not None:
        return settled, known.decision
    decision = decide(ToolAct(tool=call.name), bench.policy)
    tool = TOOLS.get(call.name) or deps.plugin_tools.get(call.name)
    if tool is None or call.name not in bench.policy.tools:
        return _no_such_tool(deps, bench, context, call, decision), decision
    if not decision.permits:
        return _denied(deps, bench, call, decision), decision
    # finish checks its input itself: a fault there is counted, and ends the attempt the second time.
    faults = schema_faults(call.input, _input_schema(context, call.name)) if call.name != "finish" else ()
    if faults:
        return refusal(f"The input of {call.name} is not in order: {'; '.join(faults)}."), decision
    try:
        acts = await _resolved(tool, call, bench)
        decision = _strongest(decision, *(decide(act, bench.policy) for act in acts))
        if decision.permits:
            decision = await narrowed(deps, bench.brief, call, decision)
        if not decision.permits:
            return _denied(deps, bench, call, decision), decision
        paths = tuple(act.path for act in acts if isinstance(act, PathAct))
        return await _perform(deps, bench, tool, call, paths, decision), decision
    except WorkspaceError as error:
        return refusal(_sentences(f"{call.name}: {error.message}", error.hint)), decision


async def _resolved(tool: Tool, call: ToolCall, bench: Workbench) -> tuple[Act, ...]:
    found = tool.acts(call.input, bench)
    return found if isinstance(found, tuple) else await found


async def _perform(
    deps: SessionDeps, bench: Workbench, tool: Tool, call: ToolCall, paths: tuple[str, ...], decision: Decision
) -> ToolResult:
    if decision.effect is Effect.ANNOUNCE:
        note(deps, bench.brief, "permission.announced", account_of(decision, tool=call.name), key=call.key)
    prepared = await tool.prepare(call, bench, paths)
    if isinstance(prepared, ToolResult):
        return prepared if prepared.is_error else _screened(bench, tool, prepared)
    deps.tool_log.intend(call, decision, prepared.before, prepared.after)
    return _screened(bench, tool, await prepared.act())


def _screened(bench: Workbench, tool: Tool, result: ToolResult) -> ToolResult:
    """Withhold what blocks of the text that a tool brought; a refusal is our own words."""
    if tool.brings is None:
        return result
    text = bench.screener.mask(result.text)
    shown, found = screen_output(bench, text, uri=f"air:tool/{tool.name}", trust=tool.brings)
    return replace(result, text=shown, screened=found)


def _tell_found(deps: SessionDeps, bench: Workbench, call: ToolCall, found: Screened) -> None:
    blocked = [one for one in found.findings if one.blocks]
    payload = {"tool": call.name, "blocked": bool(blocked), **jsonable(found)}
    note(deps, bench.brief, "screening.found", payload, key=call.key)


def _settled(known: ToolRecord, bench: Workbench) -> ToolResult | None:
    """Say what became of a call whose intent is on record without a result; None when it has surely not acted."""
    paths, tool = sorted({*known.before_digests, *known.after_digests}), TOOLS.get(known.call.name)
    standing = tool.standing if tool is not None else None
    if not paths:
        told = _interrupted("The command may have run in part or whole. Look at what is there before you run it again.")
        return replace(told, changed_digests=known_digests(bench))
    try:
        now = {path: standing(bench, path) if standing else bench.worktree.digest(path) for path in paths}
    except (ConfigError, WorkspaceError) as error:
        return _interrupted(_sentences(error.message, "Look at what is there before you go on."))
    if all(now[path] == known.after_digests.get(path) for path in paths):
        text = f"Done (found done after an interruption): {', '.join(paths)}."
        return ToolResult(text=text, written_digests=known.after_digests if standing is None else {})
    if all(now[path] == known.before_digests.get(path) for path in paths):
        return None
    what = f"{', '.join(paths)} is neither as it was before this call nor as the call would have left it"
    again = "Read it again with fs_read" if standing is None else "Look at what is there"
    return _interrupted(f"{what}. {again} before you go on.")


def _sentences(*parts: str) -> str:
    """Join what errors say, which may lack its full stop, and their way out."""
    return ". ".join(in_utf8(part).strip().rstrip(".") for part in parts if part) + "."


def _interrupted(advice: str) -> ToolResult:
    return ToolResult(text=f"interrupted, effects unknown: {advice}", is_error=True, interrupted=True)


def _strongest(*decisions: Decision) -> Decision:
    """Return the decision that binds, with the judgements of all; of equals the last, which is the most exact."""
    binding = decisions[0]
    for decision in decisions[1:]:
        if decision.effect.rank >= binding.effect.rank:
            binding = decision
    return replace(binding, judgements=tuple(one for decision in decisions for one in decision.judgements))


def _no_such_tool(
    deps: SessionDeps, bench: Workbench, context: AssembledContext, call: ToolCall, decision: Decision
) -> ToolResult:
    offered = ", ".join(str(tool["name"]) for tool in context.tools)
    if call.name in TOOLS or call.name in deps.plugin_tools:
        note(deps, bench.brief, "permission.denied", account_of(decision, tool=call.name), key=call.key)
        return refusal(f"Denied: the role {bench.brief.role} has no {call.name}. Your tools: {offered}.")
    return refusal(f"There is no tool {call.name!r}. Your tools: {offered}.")


def _denied(deps: SessionDeps, bench: Workbench, call: ToolCall, decision: Decision) -> ToolResult:
    """Tell the worker what was denied and by which line; the decision's reason names both."""
    note(deps, bench.brief, "permission.denied", account_of(decision, tool=call.name), key=call.key)
    return refusal(
        f"Denied: {decision.act}: {decision.reason}. Do not try to get round this. "
        "Go on without it, or, if the task cannot be done without it, finish with what is blocked and this reason."
    )


def _input_schema(context: AssembledContext, name: str) -> Mapping[str, Any]:
    """Return the schema that the model was shown for a tool; a tool that it was not shown takes any object."""
    for tool in context.tools:
        if tool["name"] == name and isinstance(tool["input_schema"], Mapping):
            return tool["input_schema"]
    return {"type": "object"}
