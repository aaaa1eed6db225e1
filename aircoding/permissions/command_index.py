"""The command lines of a policy, by program: which of them hold for an argv.

A line is argv prefix words. An ask or a deny holds for every argv that begins with its words, wherever options stand
between them; its own options may stand anywhere (`rm -r` holds for `rm x -fr`). An allow or an announcement holds for
exactly its words, or, with `*` at the end, for every argv that begins with them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from aircoding.permissions.programs import canonical_program
from aircoding.records.policy import Effect, PolicyRule

__all__ = ["CommandIndex"]

_SHORT = re.compile(r"-[A-Za-z]$")
_CLUSTER = re.compile(r"-[A-Za-z]{2,}$")


@dataclass(frozen=True, slots=True)
class _Line:
    rule: PolicyRule
    words: tuple[str, ...]
    open_end: bool
    tail: str
    """What the word after `words` must begin with, for a last word like `test:*`."""
    options: tuple[str, ...] = ()
    operands: tuple[str, ...] = ()

    def holds(self, argv: Sequence[str | None]) -> bool:
        """Whether an argv begins with the words of this line."""
        count = len(self.words)
        if len(argv) < count or any(argv[place] != self.words[place] for place in range(count)):
            return False
        if self.tail:
            return len(argv) > count and (argv[count] or "").startswith(self.tail)
        return self.open_end or len(argv) == count

    def narrows(self, argv: Sequence[str | None], start: int) -> bool:
        """Whether an argv from `start` on is one that this ask or deny means."""
        options, operands = self.options, self.operands
        if operands and operands[0] not in argv:
            return False
        if options and not all(_has_option(argv, start + 1, option) for option in options):
            return False
        if self.tail.startswith("-") or "=" in self.tail:  # `dd of=/dev/*` too means a word wherever it stands
            if not any((word or "").startswith(self.tail) for word in argv[start + 1 :]):
                return False
            return not operands or _operands_begin(argv, start + 1, operands, open_last=False)
        wanted = (*operands, self.tail) if self.tail else operands
        return not wanted or _operands_begin(argv, start + 1, wanted, open_last=bool(self.tail))


class CommandIndex:
    """Lines by canonical program name; names that end in `*` are tried for every program."""

    def __init__(self, rules: Iterable[PolicyRule]) -> None:
        self._narrowing: dict[str, list[_Line]] = {}
        self._widening: dict[str, list[_Line]] = {}
        self._prefixes: list[tuple[str, _Line]] = []
        for rule in rules:
            line = _line(rule)
            if not line.words:
                self._prefixes.append((line.tail, line))
                continue
            narrows = rule.effect.rank >= Effect.ASK.rank
            name = line.words[0].lower() if narrows else line.words[0]
            (self._narrowing if narrows else self._widening).setdefault(name, []).append(line)

    def names(self, program: str) -> bool:
        """Whether any line may hold for a program of that name."""
        return (
            program.lower() in self._narrowing
            or program in self._widening
            or any(program.lower().startswith(prefix) for prefix, _ in self._prefixes)
        )

    def narrowing(self, argv: Sequence[str | None], start: int = 0) -> list[PolicyRule]:
        """Return the asks and denies that hold for the argv that begins at `start`."""
        name = (argv[start] or "").lower()
        found = [line.rule for line in self._narrowing.get(name, ()) if line.narrows(argv, start)]
        if self._prefixes:
            found += [
                line.rule
                for prefix, line in self._prefixes
                if line.rule.effect.rank >= Effect.ASK.rank and name.startswith(prefix)
            ]
        return found

    def widening(self, argv: Sequence[str | None]) -> list[PolicyRule]:
        """Return the allows and announcements that hold for an argv."""
        name = argv[0] or ""
        found = [line.rule for line in self._widening.get(name, ()) if line.holds(argv)]
        if self._prefixes:
            found += [
                line.rule
                for prefix, line in self._prefixes
                if line.rule.effect.rank < Effect.ASK.rank and name.startswith(prefix)
            ]
        return found

    def denied_programs(self) -> frozenset[str]:
        """Return the names of programs that are denied whatever stands behind them."""
        return frozenset(
            name
            for name, lines in self._narrowing.items()
            if any(line.rule.effect is Effect.DENY and len(line.words) == 1 and not line.tail for line in lines)
        )


def _line(rule: PolicyRule) -> _Line:
    words = rule.pattern.split()
    open_end = words[-1].endswith("*")
    tail = words.pop()[:-1] if open_end else ""
    if words:
        words[0] = canonical_program(words[0])
    options = tuple(word for word in words[1:] if word.startswith("-"))
    operands = tuple(word for word in words[1:] if not word.startswith("-"))
    return _Line(rule, tuple(words), open_end, tail, options, operands)


def _has_option(argv: Sequence[str | None], start: int, option: str) -> bool:
    for place in range(start, len(argv)):
        word = argv[place]
        if word is None:
            continue
        if word == option or (option.startswith("--") and word.startswith(f"{option}=")):
            return True
        if _SHORT.match(option) and _CLUSTER.match(word) and option[1] in word:
            return True
    return False


def _operands_begin(argv: Sequence[str | None], start: int, wanted: Sequence[str], *, open_last: bool) -> bool:
    """Whether the operands begin with `wanted`. An operand right behind an option may be that option's value."""
    place = start
    while place < len(argv):
        word = argv[place]
        if word is not None and word.startswith("-"):
            place += 1
            continue
        if _begins(argv, place, wanted, open_last=open_last):
            return True
        behind_option = place > start and (argv[place - 1] or "").startswith("-")
        if not behind_option:
            return False
        place += 1
    return False


def _begins(argv: Sequence[str | None], start: int, wanted: Sequence[str], *, open_last: bool) -> bool:
    place = start
    for number, want in enumerate(wanted):
        while place < len(argv) and number and (argv[place] or "").startswith("-"):
            place += 1
        if place >= len(argv):
            return False
        word = argv[place] or ""
        last = number == len(wanted) - 1
        if not (word.startswith(want) if open_last and last else word == want):
            return False
        place += 1
    return True
