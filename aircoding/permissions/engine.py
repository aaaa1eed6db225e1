"""The PermissionEngine: one decision for one act (DESIGN section 6).

Deny beats ask beats announce beats allow, over all that is in the act. With nobody to ask, an ask is a deny.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aircoding.permissions.commands import judge_command
from aircoding.permissions.hosts import judge_host
from aircoding.permissions.judgements import by_engine, by_rule, strongest
from aircoding.permissions.locations import locate
from aircoding.permissions.paths import judge_glob, judge_path
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
    PolicyRule,
    PolicySubject,
    ToolAct,
)

__all__ = ["account_of", "decide"]


def decide(act: Act, policy: Policy) -> Decision:
    """Return the decision on one act. Pure: the same act under the same policy gets the same decision."""
    judgements = _judgements_of_all(act, policy)
    cause = strongest(judgements)
    effect, reason, asked = cause.effect, _reason(cause), False
    tag = fingerprint([*_identity(act), policy.digest])
    if isinstance(act, CommandAct) and not policy.confined and effect.rank < Effect.ASK.rank:
        effect, reason = Effect.ASK, "no sandbox stands behind this command, so a person must approve it"
        judgements = (*judgements, by_engine(effect, PolicySubject.COMMAND, act.command, "no sandbox", reason))
    if effect is Effect.ASK:
        if tag in policy.approved:
            effect, reason = Effect.ALLOW, f"a person approved it ({reason})"
        elif not policy.interactive:
            effect, asked = Effect.DENY, True
            reason = f"{reason}; it needs a person's approval, and nobody can be asked"
    return Decision(effect=effect, act=_said(act), reason=reason, fingerprint=tag, judgements=judgements, asked=asked)


def account_of(decision: Decision, *, tool: str) -> Mapping[str, Any]:
    """Return tool, act, rule, file, line and reason, as the `permission.*` events carry them.

    The line is the one that decided, where one did: an ask for want of a sandbox comes of no line.
    """
    cause = max(decision.judgements, key=lambda judgement: judgement.effect.rank, default=None)
    if cause is not None and cause.effect is Effect.ALLOW:
        cause = None
    return {
        "tool": tool,
        "act": decision.act,
        "rule": cause.pattern if cause else "",
        "file": cause.uri if cause else "",
        "line": cause.line if cause else None,
        "reason": decision.reason,
    }


def _judgements_of_all(act: Act, policy: Policy) -> tuple[Judgement, ...]:
    """Return the judgements under a policy and under those of the workers that delegated."""
    found = _judgements(act, policy)
    while policy.parent is not None:
        policy = policy.parent
        found += _judgements(act, policy)
    return found


def _judgements(act: Act, policy: Policy) -> tuple[Judgement, ...]:
    if isinstance(act, CommandAct):
        if "\0" in act.command:
            reason = "a command with a zero byte is cut there when it runs"
            return (by_engine(Effect.DENY, PolicySubject.COMMAND, act.command, "zero byte", reason),)
        return judge_command(act.command, locate(act.cwd, ".", policy), policy)
    if isinstance(act, PathAct):
        judge = judge_glob if act.glob else judge_path
        return (judge(act.path, act.access, policy),)
    if isinstance(act, HostAct):
        return (judge_host(act.host, policy),)
    return (_judge_tool(act, policy),)


def _judge_tool(act: ToolAct, policy: Policy) -> Judgement:
    known = act.tool in policy.tools
    lines = [rule for rule in policy.rules if rule.subject is PolicySubject.TOOL and rule.pattern == act.tool]
    if known and (lines or act.opaque):
        return _judge_by_name(act, lines)
    return by_engine(
        Effect.ALLOW if known else Effect.DENY,
        PolicySubject.TOOL,
        act.tool,
        "role",
        "the role has this tool" if known else "the role does not have this tool",
        origin="role",
    )


def _judge_by_name(act: ToolAct, lines: list[PolicyRule]) -> Judgement:
    """Judge a tool by the lines that name it; what a tool that is opaque does, nobody can tell without one."""
    if lines:
        rule = max(lines, key=lambda one: one.effect.rank)
        return by_rule(rule, act.tool, f"the policy says {rule.effect.value} of this tool")
    reason = "it does not say what it does, and the policy does not name it; `tools: {allow: [NAME]}` lets it act"
    return by_engine(Effect.ASK, PolicySubject.TOOL, act.tool, "opaque tool", reason)


def _reason(judgement: Judgement) -> str:
    """Return why, with the line of the file that says so where there is one."""
    if judgement.line is None:
        return judgement.reason
    place = f"{judgement.uri.removeprefix('project:')}:{judgement.line}"
    return f"{judgement.reason} (`{judgement.pattern}`, {place})"


def _identity(act: Act) -> tuple[str, ...]:
    """What an approval is bound to, besides the policy."""
    if isinstance(act, CommandAct):
        return ("command", act.command, act.cwd)
    if isinstance(act, PathAct):
        return (act.access, act.path, *(("glob",) if act.glob else ()))
    if isinstance(act, HostAct):
        return ("host", act.host)
    return ("opaque tool" if act.opaque else "tool", act.tool)


def _said(act: Act) -> str:
    if isinstance(act, CommandAct):
        place = "" if act.cwd in {"", "."} else f" in {act.cwd}"
        return f"run `{act.command}`{place}"
    if isinstance(act, PathAct):
        return f"{act.access} {act.path}"
    return f"connect to {act.host}" if isinstance(act, HostAct) else f"use {act.tool}"
