"""What permission rules of other tools become: lines of a policy file of ours, and what has none with its reason.

A deny or an ask becomes lines that hold at least as widely; an allow lines that hold no wider.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from aircoding.permissions.policy_file import pattern_fault
from aircoding.records.policy import PolicySubject

__all__ = ["ForeignRules", "NoEquivalent", "Place", "Untranslated", "command_line", "host_line"]
__all__ += ["program_line", "proposal_text"]

Place = tuple[str, ...]
"""Where a line stands in a policy file: `("commands", "deny")`."""

_WORD = re.compile(r"[A-Za-z0-9_./:@%+=,~^-]+")
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")


@dataclass(frozen=True, slots=True, kw_only=True)
class Untranslated:
    """A rule or key without an equivalent, as it was written, and why."""

    effect: str
    rule: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignRules:
    """The lines by their place in a policy file, each once, and what has no line, or none that says all of it."""

    lines: Mapping[Place, tuple[str, ...]]
    untranslated: tuple[Untranslated, ...]


class NoEquivalent(Exception):  # noqa: N818 - it is an answer, not an error
    """There is no line of ours for a rule; the text says why."""


def command_line(pattern: str) -> str:
    """Return a command as a line: plain words, `*` only at the end.

    Raises:
        NoEquivalent: no line says it.
    """
    words = pattern.split()
    fixed = words[:-1] if words and words[-1] == "*" else words
    if not fixed:
        raise NoEquivalent("a program must be named")
    open_end = fixed is words and words[-1].endswith("*")
    plain = [*fixed[:-1], fixed[-1][:-1]] if open_end else fixed
    if any("*" in word for word in plain):
        raise NoEquivalent("`*` may stand only at the end of a line here")
    if not all(_WORD.fullmatch(word) for word in plain):
        raise NoEquivalent("a line holds plain words: no quotes, operators, variables or redirects")
    if _ASSIGNMENT.match(plain[0]):
        raise NoEquivalent("a line begins with a program, not with a variable")
    if (fault := pattern_fault(PolicySubject.COMMAND, pattern)) is not None:
        raise NoEquivalent(fault)
    return " ".join(words)


def program_line(pattern: str, effect: str) -> str:
    """Return a command as a line, its program by the name that it is judged by here.

    A program that is named with its folder is refused by its name alone, which holds at least as widely.

    Raises:
        NoEquivalent: no line says it, or an allow would hold for more.
    """
    if not pattern.isprintable():
        raise NoEquivalent("it holds characters that cannot be seen")
    program, blank, rest = pattern.strip().partition(" ")
    if effect != "allow":
        return command_line(program.rpartition("/")[2] + blank + rest)
    if pattern != " ".join(pattern.split()):
        raise NoEquivalent("it holds more blanks than between words")
    if "/" in program and not program.startswith("./"):
        raise NoEquivalent("a line names a program without its folder, and would allow it anywhere")
    return command_line(pattern)


def host_line(host: str) -> str:
    """Return a host as a line.

    Raises:
        NoEquivalent: it is no host.
    """
    name = host.lower()
    if (fault := pattern_fault(PolicySubject.HOST, name)) is not None:
        raise NoEquivalent(fault)
    return name


def proposal_text(rules: ForeignRules, source: str) -> str:
    """Return a policy file with the lines, and what has none as comments."""
    lines = [
        f"# What agents may do here, proposed from {_line(source)}: read it before you trust it.",
        "# Denies and asks of this file always hold; its allows hold once you trust this project",
        "# (`aircoding permissions trust`).",
        "version: 1",
    ]
    above: Place = ()
    for place, patterns in rules.lines.items():
        shared = next((depth for depth in range(len(place)) if place[: depth + 1] != above[: depth + 1]), len(place))
        for depth in range(shared, len(place)):
            lines += ([""] if depth == 0 else []) + [f"{'  ' * depth}{place[depth]}:"]
        lines += [f"{'  ' * len(place)}- {json.dumps(pattern, ensure_ascii=False)}" for pattern in patterns]
        above = place
    if rules.untranslated:
        lines += ["", "# Without an equivalent:"]
        lines += [f"#   {one.effect or 'key'} {json.dumps(one.rule)}: {_line(one.why)}" for one in rules.untranslated]
    return "\n".join(lines) + "\n"


def _line(text: str) -> str:
    return json.dumps(text)[1:-1]
