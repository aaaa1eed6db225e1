"""Rules over a text, each a pattern that RE2 runs: in time linear in the text, whatever the text is.

RE2 knows no back-references and no looks around, and so has no text that makes it slow. A pattern runs only over
passages that hold the words it needs; those are looked up among the passage's words, which are found in one pass.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from aircoding.screening.automata import regex, regex_set
from aircoding.screening.passages import Passage

__all__ = ["RuleSet", "TextRule"]

_BESIDE_BYTES = 300
"""How far what excuses a match may stand from it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextRule:
    """One kind of injection by its look: a pattern in RE2's syntax, without regard to case unless `exact`.

    `needs` are groups of words, separated by `|`: every match holds a word of each group, in lower case and as a
    whole, so that a passage without one is not searched; of `marks`, other fixed parts, it holds one; `script` is the
    first and last character of the script it is written in. A match whose lines match `unless` is none. A `suspect`
    is as in `hits.Hit`: prose may quote it honestly. A `signal` is no finding by itself; its name groups patterns that
    say the same, and `weight` is what it counts among others (`screening.persona`).
    """

    kind: str
    code: str
    pattern: str
    detail: str
    needs: str = ""
    script: tuple[str, str] | None = None
    unless: str = ""
    marks: tuple[str, ...] = ()
    suspect: bool = False
    exact: bool = False
    signal: str = ""
    weight: int = 0
    groups: tuple[frozenset[bytes], ...] = field(init=False, repr=False)
    fixed_parts: tuple[bytes, ...] = field(init=False, repr=False)
    blocks: frozenset[int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        groups = tuple(frozenset(group.encode().split()) for group in self.needs.split("|") if group.strip())
        object.__setattr__(self, "groups", groups)
        blocks = range(ord(self.script[0]) >> 7, (ord(self.script[1]) >> 7) + 1) if self.script else ()
        object.__setattr__(self, "blocks", frozenset(blocks))
        object.__setattr__(self, "fixed_parts", tuple(mark.encode() for mark in self.marks))


def override_rule(code: str, needs: str, pattern: str, detail: str, *, unless: str = "") -> TextRule:
    """Return a rule for a phrase that sets instructions aside, which prose may quote honestly."""
    return TextRule(
        kind="override",
        code=f"override.{code}",
        needs=needs,
        unless=unless,
        pattern=pattern,
        detail=detail,
        suspect=True,
    )


class RuleSet:
    """Some rules over passages; a pattern is compiled, and the library loaded, when a text first needs it.

    Rules that need no words are looked for together, in one pass of an RE2 set; only those that it reports are run
    again, for their places. Patterns with gaps between words do not stand in the set: many that have begun at once
    would make its automaton large.
    """

    def __init__(self, rules: Sequence[TextRule], *, of_bytes: bool = True) -> None:
        """`of_bytes`: patterns are ASCII and see a character outside it as some bytes; their automata are smaller."""
        self.rules = tuple(rules)
        self._worded = tuple(rule for rule in rules if rule.groups or rule.blocks)
        self._wordless = tuple(rule for rule in rules if not (rule.groups or rule.blocks))
        self._index = _WordIndex(self._worded)
        self._of_bytes = of_bytes
        self._set: Any = None
        self._compiled: dict[str, Any] = {}

    def candidates(self, passage: Passage) -> Iterator[TextRule]:
        """Yield the rules that may match in a passage."""
        for number in self._index.held(passage.words):
            rule = self._worded[number]
            if rule.blocks and rule.blocks.isdisjoint(passage.blocks):
                continue
            if not rule.fixed_parts or _holds_one(passage.low, rule.fixed_parts):
                yield rule
        if self._wordless:
            if self._set is None:
                self._set = regex_set([_pattern(rule) for rule in self._wordless], of_bytes=self._of_bytes)
            yield from (self._wordless[position] for position in self._set(passage.data))

    def spans(self, rule: TextRule, passage: Passage) -> Iterator[tuple[int, int]]:
        """Yield where a rule matches in a passage, as byte offsets in it; a match holds at least one byte."""
        data = passage.data
        for match in self._regex(_pattern(rule)).finditer(data):
            start, end = match.span()
            if end > start and not (rule.unless and self._is_excused(rule, data, start, end)):
                yield start, end

    def _is_excused(self, rule: TextRule, data: bytes, start: int, end: int) -> bool:
        line_start = data.rfind(b"\n", max(0, start - _BESIDE_BYTES), start) + 1
        line_end = data.find(b"\n", end, end + _BESIDE_BYTES)
        lines = data[line_start or max(0, start - _BESIDE_BYTES) : end + _BESIDE_BYTES if line_end < 0 else line_end]
        return self._regex(f"(?i:{rule.unless})").search(lines) is not None

    def _regex(self, pattern: str) -> Any:
        compiled = self._compiled.get(pattern)
        if compiled is None:
            compiled = self._compiled[pattern] = regex(pattern, of_bytes=self._of_bytes)
        return compiled


class _WordIndex:
    """For each word a number whose bits say which rules have it in their first group, in their second, and so on."""

    def __init__(self, rules: Sequence[TextRule]) -> None:
        self._width = len(rules)
        self._places = max((len(rule.groups) for rule in rules), default=0)
        self._by_word: dict[bytes, int] = {}
        self._free = 0
        for number, rule in enumerate(rules):
            for place in range(self._places):
                bit = 1 << (place * self._width + number)
                if place >= len(rule.groups):
                    self._free |= bit
                    continue
                for word in rule.groups[place]:
                    self._by_word[word] = self._by_word.get(word, 0) | bit
        self._known = frozenset(self._by_word)

    def held(self, words: frozenset[bytes]) -> Iterator[int]:
        """Yield the numbers of the rules of whose every group a passage with these words holds one."""
        found, by_word = self._free, self._by_word
        for word in words & self._known:
            found |= by_word[word]
        held = (1 << self._width) - 1
        for _ in range(self._places):
            held &= found
            found >>= self._width
        while held:
            bit = held & -held
            yield bit.bit_length() - 1
            held ^= bit


def _pattern(rule: TextRule) -> str:
    return rule.pattern if rule.exact else f"(?i:{rule.pattern})"


def _holds_one(text: bytes, marks: tuple[bytes, ...]) -> bool:
    for mark in marks:  # noqa: SIM110 - thousands of looks a context: `any` with a generator takes three times as long
        if mark in text:
            return True
    return False
