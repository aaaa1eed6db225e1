"""Rules of which one wins by its rank, as lines of which the strictest holds.

opencode lets the last rule win that matches, gemini-cli the one of highest priority. A rule that never wins is handed
back; so is one that wins over a stricter one, which no line can lift here. Patterns are texts in which `*` stands for
any characters and `?` for one; `x *` also means `x` alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from aircoding.permissions.foreign_rules import ForeignRules, NoEquivalent, Place, Untranslated

__all__ = ["OrderedRule", "covers", "overlaps", "translate_ordered"]

_STRICTNESS = {"allow": 0, "ask": 1, "deny": 2}
_MOST_CELLS = 250_000
"""Two patterns whose lengths multiply to more are taken to meet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderedRule:
    """One rule: what it is about (`key`), for which texts, and as it was written.

    A `conditional` rule holds only at times: it wins over nothing for certain. One with a reason why it has no line
    (`why_not`) wins over nothing either; its pattern then takes in all that it may be about.
    """

    effect: str
    key: str
    pattern: str
    said: str
    conditional: bool = False
    why_not: str = ""


Translate = Callable[[OrderedRule], list[tuple[Place, str]]]


def translate_ordered(
    rules: Sequence[OrderedRule], translate: Translate, left: Sequence[Untranslated] = ()
) -> ForeignRules:
    """Return the lines of rules that stand in rising rank.

    Args:
        rules: the last that matches wins.
        translate: gives the lines of one rule, or raises NoEquivalent.
        left: what was handed back before.
    """
    work = _Translation(rules, translate)
    work.run()
    return ForeignRules(
        lines={place: tuple(work.lines[place]) for place in sorted(work.lines)},
        untranslated=tuple(dict.fromkeys((*left, *work.left))),
    )


class _Translation:
    def __init__(self, rules: Sequence[OrderedRule], translate: Translate) -> None:
        self.lines: dict[Place, dict[str, None]] = {}
        self.left: list[Untranslated] = []
        self._rules, self._translate = rules, translate
        self._said: dict[int, list[tuple[Place, str]]] = {}
        self._unsaid: list[int] = []
        """Asks and denies without a line: what they narrow must not be allowed here."""

    def run(self) -> None:
        for number, rule in enumerate(self._rules):
            winner = next((other for other in self._later(number) if _surely_over(other, rule)), None)
            if winner is not None:
                self._hand_back(rule, f"it never holds: `{winner.said}` wins over all of it")
                continue
            try:
                if rule.why_not:
                    raise NoEquivalent(rule.why_not)
                self._said[number] = self._translate(rule)
            except NoEquivalent as none:
                self._hand_back(rule, str(none))
                if rule.effect != "allow":
                    self._unsaid.append(number)
        for number in self._said:
            self._keep(number)

    def _later(self, number: int) -> Iterator[OrderedRule]:
        return (self._rules[place] for place in range(number + 1, len(self._rules)))

    def _keep(self, number: int) -> None:
        """Put the lines of a rule in, unless they would allow more or do nothing, and say what they cannot lift."""
        rule = self._rules[number]
        if rule.effect == "allow":
            for place in self._unsaid:
                if place > number and _meet_rules(self._rules[place], rule):
                    self._hand_back(rule, f"`{self._rules[place].said}` narrows it, and that has no line here")
                    return
        stricter = [self._rules[place] for place in self._said if place < number and self._beats(place, rule)]
        if stricter:
            why = (
                f"`{stricter[0].said}` comes before it and is stricter: the strictest line holds here, whatever follows"
            )
            self._hand_back(rule, why)
            if rule.effect == "allow" and any(_over(other, rule) for other in stricter):
                return
        for where, line in self._said[number]:
            self.lines.setdefault(where, {})[line] = None

    def _beats(self, place: int, rule: OrderedRule) -> bool:
        other = self._rules[place]
        return _STRICTNESS[other.effect] > _STRICTNESS[rule.effect] and _meet_rules(other, rule)

    def _hand_back(self, rule: OrderedRule, why: str) -> None:
        self.left.append(Untranslated(effect=rule.effect, rule=rule.said, why=why))


def _surely_over(one: OrderedRule, other: OrderedRule) -> bool:
    return not one.conditional and not one.why_not and _over(one, other)


def _over(one: OrderedRule, other: OrderedRule) -> bool:
    return one.key == other.key and covers(one.pattern, other.pattern)


def _meet_rules(one: OrderedRule, other: OrderedRule) -> bool:
    return one.key == other.key and overlaps(one.pattern, other.pattern)


def covers(wide: str, narrow: str) -> bool:
    """Whether every text of `narrow` is surely one of `wide`."""
    if not narrow.startswith(_start(wide)):
        return False
    return all(any(_within(one, other) for one in _readings(wide)) for other in _readings(narrow))


def overlaps(one: str, other: str) -> bool:
    """Whether a text may match both patterns."""
    first_start, second_start = _start(one), _start(other)
    if not (first_start.startswith(second_start) or second_start.startswith(first_start)):
        return False
    return any(_meet(first, second) for first in _readings(one) for second in _readings(other))


def _readings(pattern: str) -> tuple[str, ...]:
    return (pattern, pattern[:-2]) if pattern.endswith(" *") else (pattern,)


@lru_cache(maxsize=4096)
def _start(pattern: str) -> str:
    """Return what every text of a pattern begins with."""
    return _fixed(pattern).removesuffix(" ")


@lru_cache(maxsize=4096)
def _fixed(pattern: str) -> str:
    """Return what a pattern begins with before its first wildcard."""
    ends = [place for wild in "*?" if (place := pattern.find(wild)) >= 0]
    return pattern[: min(ends)] if ends else pattern


def _within(wide: str, narrow: str) -> bool:
    start = _fixed(wide)
    return wide == narrow or (wide == f"{start}*" and _fixed(narrow).startswith(start))


def _meet(one: str, other: str) -> bool:
    """Whether two patterns have a text in common: the words that both accept, from the end to the beginning."""
    first, second = _fixed(one), _fixed(other)
    common = min(len(first), len(second))
    if first[:common] != second[:common]:
        return False
    if len(one) * len(other) > _MOST_CELLS:
        return True
    below = [char == "*" for char in other] + [True]
    for place in range(len(other) - 1, -1, -1):
        below[place] = below[place] and below[place + 1]
    for char in reversed(one):
        row = [False] * len(other) + [char == "*" and below[-1]]
        for place in range(len(other) - 1, -1, -1):
            want = other[place]
            if char == "*":
                row[place] = below[place] or row[place + 1]
            elif want == "*":
                row[place] = row[place + 1] or below[place]
            else:
                row[place] = below[place + 1] and (char == want or "?" in (char, want))
        below = row
    return below[0]
