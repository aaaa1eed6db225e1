"""The PermissionEngine: one decision for one act, with every line that led to it (DESIGN section 6)."""

from __future__ import annotations

from aircoding.permissions.commands import judge_command
from aircoding.permissions.hosts import judge_host
from aircoding.permissions.paths import judge_path
from aircoding.records.digests import fingerprint
from aircoding.records.policy import (
    Act,
    CommandAct,
    Decision,
    Effect,
    HostAct,
    Judgement,
    PathAct,
    Policy,
    PolicyLevel,
    PolicySubject,
    ToolAct,
)

__all__ = ["act_text", "decide"]


def decide(act: Act, policy: Policy) -> Decision:
    """Judge one act. Deny beats ask beats announce beats allow, whatever stands inside the act.

    An approved fingerprint turns an ask into an allow, never a deny. Without a sandbox an allowed
    command asks. With nobody to ask, an ask is a deny, and `asked` says so.
    """
    judgements = _judgements(act, policy)
    strongest = max(judgements, key=lambda judgement: judgement.effect.rank)
    effect, reason = strongest.effect, _reason(strongest)
    mark = fingerprint({"act": act_text(act), "cwd": getattr(act, "cwd", "."), "policy": policy.digest})
    if isinstance(act, CommandAct) and not policy.confined and effect.rank < Effect.ASK.rank:
        effect, reason = Effect.ASK, "no sandbox confines commands here, so what is allowed asks"
    asked = effect is Effect.ASK
    if asked and mark in policy.approved:
        effect, reason = Effect.ALLOW, "a person approved exactly this"
    elif asked and not policy.interactive:
        effect, reason = Effect.DENY, f"{reason}; nobody is there to ask"
    return Decision(
        effect=effect, act=act_text(act), reason=reason, fingerprint=mark, judgements=judgements, asked=asked
    )


def act_text(act: Act) -> str:
    """Return an act in words: the command, the path with its access, the host, the tool."""
    if isinstance(act, CommandAct):
        return act.command
    if isinstance(act, PathAct):
        return f"{act.access} {act.path}"
    return f"connect to {act.host}" if isinstance(act, HostAct) else f"use {act.tool}"


def _judgements(act: Act, policy: Policy) -> tuple[Judgement, ...]:
    if isinstance(act, CommandAct):
        return judge_command(act.command, act.cwd, policy)
    if isinstance(act, PathAct):
        return (judge_path(act.path, act.access, policy),)
    if isinstance(act, HostAct):
        return (judge_host(act.host, policy),)
    return (_judge_tool(act, policy),)


def _judge_tool(act: ToolAct, policy: Policy) -> Judgement:
    known = act.tool in policy.tools
    return Judgement(
        effect=Effect.ALLOW if known else Effect.DENY,
        subject=PolicySubject.TOOL,
        text=act.tool,
        pattern="",
        level=PolicyLevel.ROLE,
        uri="policy:role",
        line=None,
        reason="the role has this tool" if known else "the role does not have this tool",
    )


def _reason(judgement: Judgement) -> str:
    """Say what decided: the words, and the line where there is one."""
    if judgement.line is None:
        return judgement.reason
    place = f"{judgement.uri.removeprefix('project:')}:{judgement.line}"
    return f"{judgement.reason} (`{judgement.pattern}`, {place})"
