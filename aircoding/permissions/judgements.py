"""How judgements are made: from a line of a policy file, or from what the engine itself knows."""

from __future__ import annotations

from aircoding.records.policy import Effect, Judgement, PolicyLevel, PolicyRule, PolicySubject

__all__ = ["BUILTIN_URI", "by_engine", "by_hook", "by_rule", "strongest"]

BUILTIN_URI = "air:policy/builtin"
"""Where judgements come from that no file's line gave; `air:policy/task` and `air:policy/role` are the other two."""

_LEVELS = {"task": PolicyLevel.TASK, "role": PolicyLevel.ROLE, "builtin": PolicyLevel.FLOOR}


def by_rule(rule: PolicyRule, text: str, reason: str, *, subject: PolicySubject | None = None) -> Judgement:
    """Return a judgement that a line of a policy gives."""
    return Judgement(
        effect=rule.effect,
        subject=subject or rule.subject,
        text=text,
        pattern=rule.pattern,
        level=rule.level,
        uri=rule.uri,
        line=rule.line,
        reason=reason,
    )


def by_engine(
    effect: Effect, subject: PolicySubject, text: str, pattern: str, reason: str, *, origin: str = "builtin"
) -> Judgement:
    """Return a judgement of the engine's own; `pattern` names what it goes by, `origin` is builtin, task or role."""
    return Judgement(
        effect=effect,
        subject=subject,
        text=text,
        pattern=pattern,
        level=_LEVELS[origin],
        uri=f"air:policy/{origin}",
        line=None,
        reason=reason,
    )


def by_hook(effect: Effect, tool: str, uri: str, reason: str) -> Judgement:
    """Return a judgement that a hook gave of the use of a tool; it stands with those of the task, which only narrow."""
    return Judgement(
        effect=effect,
        subject=PolicySubject.TOOL,
        text=tool,
        pattern=tool,
        level=PolicyLevel.TASK,
        uri=uri,
        line=None,
        reason=reason,
    )


def strongest(judgements: tuple[Judgement, ...]) -> Judgement:
    """Return the first of the strongest judgements; there must be one."""
    return max(judgements, key=lambda judgement: judgement.effect.rank)
