"""Why an act was decided so, and what would change it: each proposed change is tried on the policy, none is guessed."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass, replace

from aircoding.permissions.engine import decide
from aircoding.permissions.policy_file import pattern_fault
from aircoding.records.policy import Act, Decision, Effect, Judgement, Policy, PolicyLevel, PolicyRule, PolicySubject

__all__ = ["Change", "Explanation", "explain"]

_USER_FILE = "~/.air/permissions.yaml"
_MOST_CHANGES = 12
"""Changes that are tried; a line of hundreds of commands is explained by its first."""
_PLACES = {
    PolicySubject.COMMAND: "commands.allow",
    PolicySubject.HOST: "network.allow",
    PolicySubject.READ: "paths.read.allow",
    PolicySubject.WRITE: "paths.write.allow",
    PolicySubject.TOOL: "tools.allow",
}
_PACKAGED = frozenset({PolicyLevel.FLOOR, PolicyLevel.DEFAULTS})
_UNNAMED = frozenset({"unknown program", "unlisted host", "outside", "opaque tool"})
"""What a judgement goes by where no line says anything yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One change of the policy in words, and what the act would then get, by this change alone."""

    says: str
    effect: Effect


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """A decision with the judgements that decided it, and what would change it.

    `together` is what the act gets by all of `changes`; without changes nothing in a file changes it, and `fixed` says
    why for each part.
    """

    decision: Decision
    decisive: tuple[Judgement, ...]
    changes: tuple[Change, ...]
    together: Effect
    fixed: tuple[str, ...]


def explain(act: Act, policy: Policy) -> Explanation:
    """Explain the decision on an act, as if somebody could be asked."""
    asked = replace(policy, interactive=True)
    decision = decide(act, asked)
    strict = [one for one in decision.judgements if one.effect.rank >= Effect.ASK.rank]
    decisive = tuple(one for one in decision.judgements if one.effect is decision.effect) or tuple(strict)
    changes: dict[str, Change] = {}
    fixed: dict[str, None] = {}
    together = asked
    for judgement in strict[:_MOST_CHANGES]:
        found = _change(judgement, asked)
        if found is None:
            fixed[_why_fixed(judgement)] = None
            continue
        says, changed = found
        changes.setdefault(says, Change(says=says, effect=decide(act, changed).effect))
        merged = _change(judgement, together)
        together = merged[1] if merged is not None else together
    return Explanation(
        decision=decision,
        decisive=decisive,
        changes=tuple(changes.values()),
        together=decide(act, together).effect,
        fixed=tuple(fixed),
    )


def _change(judgement: Judgement, policy: Policy) -> tuple[str, Policy] | None:
    """Return the change that takes away the reason for one judgement, or None where no file can."""
    if judgement.line is not None:
        if judgement.level in _PACKAGED:
            return None
        rest = tuple(rule for rule in policy.rules if (rule.uri, rule.line) != (judgement.uri, judgement.line))
        return f"without line {judgement.line} of {judgement.uri} (`{judgement.pattern}`)", replace(policy, rules=rest)
    if (
        judgement.uri == "air:policy/task"
        and judgement.subject is PolicySubject.WRITE
        and judgement.effect is Effect.ASK
    ):
        area = (*policy.write_area, judgement.text)
        return f"a write area that holds `{judgement.text}` (`write_area` of the task)", replace(
            policy, write_area=area
        )
    if judgement.pattern not in _UNNAMED:
        return None
    pattern = next(_patterns(judgement), None)
    if pattern is None:
        return None
    rule = PolicyRule(
        subject=judgement.subject, effect=Effect.ALLOW, pattern=pattern, level=PolicyLevel.USER, uri=_USER_FILE
    )
    says = f"`{_PLACES[judgement.subject]}: [{pattern}]` in {_USER_FILE}"
    return says, replace(policy, rules=(*policy.rules, rule))


def _patterns(judgement: Judgement) -> Iterator[str]:
    """Yield the lines that name what no line names yet; for a command its program and subcommand."""
    text = judgement.text
    if judgement.subject is PolicySubject.COMMAND:
        try:
            words = shlex.split(text)
        except ValueError:
            return
        plain = [word for word in words if "=" not in word or not word.partition("=")[0].isidentifier()]
        named = plain[:2] if len(plain) > 1 and plain[1].isidentifier() else plain[:1]
        text = " ".join([*named, *(["*"] if len(plain) > len(named) else [])])
    if text and pattern_fault(judgement.subject, text) is None:
        yield text


def _why_fixed(judgement: Judgement) -> str:
    if judgement.level is PolicyLevel.FLOOR and judgement.line is not None:
        return f"`{judgement.pattern}` is a line of the floor, which nothing lifts"
    if judgement.level is PolicyLevel.DEFAULTS:
        return f"`{judgement.pattern}` is a line of the defaults, which other files only narrow: a person approves it"
    if judgement.uri == "air:policy/role":
        return "the role does not allow it; another role may (`--role`)"
    if judgement.uri == "air:policy/task":
        return f"the task keeps away from it (`{judgement.pattern}`)"
    return f"{judgement.reason}: no line of a file changes that; write it so that it can be judged, or have it approved"
