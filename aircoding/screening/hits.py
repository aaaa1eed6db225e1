"""A hit of one rule in a text, by character offsets, before it becomes a finding with bytes and lines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from aircoding.records.segments import Finding
from aircoding.screening.stems import fold, may_match

__all__ = ["Hit", "TextRule", "as_findings", "rule_hits"]


@dataclass(frozen=True, slots=True)
class Hit:
    """What was hit and where. `suspect` hits block only where the text may not instruct at all, a `remark` nowhere."""

    kind: str
    code: str
    start: int
    end: int
    detail: str
    suspect: bool = False
    remark: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TextRule:
    """One kind of injection by its look; every pattern runs in linear time.

    Where `then` names more patterns, each must follow the one before on the same line. `suspect` as in Hit: prose may
    quote it honestly. `stems` are fixed parts, in lower case, of which every match holds one (`screening.stems`).
    """

    kind: str
    code: str
    pattern: re.Pattern[str]
    detail: str
    then: tuple[re.Pattern[str], ...] = ()
    suspect: bool = False
    stems: tuple[str, ...] = ()


def rule_hits(text: str, rules: Iterable[TextRule]) -> Iterator[Hit]:
    """Yield the hits of all rules, rule by rule, over the whole text."""
    folded = fold(text)
    for rule in rules:
        for start, end in _matches(text, rule) if may_match(rule.stems, folded) else ():
            yield Hit(rule.kind, rule.code, start, end, rule.detail, rule.suspect)


def _matches(text: str, rule: TextRule) -> Iterator[tuple[int, int]]:
    """Yield the spans of one rule. A rule of several patterns is tried once a line, so its cost stays linear."""
    if not rule.then:
        yield from (match.span() for match in rule.pattern.finditer(text))
        return
    first = rule.pattern.search(text)
    while first is not None:
        line_end = text.find("\n", first.end())
        line_end = len(text) if line_end < 0 else line_end
        place = first.end()
        for pattern in rule.then:
            following = pattern.search(text, place, line_end)
            if following is None:
                break
            place = following.end()
        else:
            yield first.start(), place
        first = rule.pattern.search(text, line_end)


def as_findings(text: str, hits: Iterable[Hit], *, block_suspects: bool) -> tuple[Finding, ...]:
    """Return findings in order of place; offsets become UTF-8 bytes, lines count from 1."""
    ordered = sorted(hits, key=lambda hit: (hit.start, hit.end, hit.code))
    places = _Places(text, [place for hit in ordered for place in (hit.start, hit.end)])
    return tuple(
        Finding(
            kind=hit.kind,
            code=hit.code,
            start=places.byte(hit.start),
            end=places.byte(hit.end),
            start_line=places.line(hit.start),
            end_line=places.line(max(hit.start, hit.end - 1)),
            blocks=not hit.remark and (block_suspects or not hit.suspect),
            detail=hit.detail,
        )
        for hit in ordered
    )


class _Places:
    """Byte offsets and lines of some character offsets, counted in one pass."""

    def __init__(self, text: str, offsets: list[int]) -> None:
        self._bytes: dict[int, int] = {}
        self._lines: dict[int, int] = {}
        done, size, line = 0, 0, 1
        for offset in sorted({*offsets, *(max(0, offset - 1) for offset in offsets)}):
            piece = text[done:offset]
            size += len(piece.encode("utf-8", "surrogatepass"))
            line += piece.count("\n")
            done = offset
            self._bytes[offset], self._lines[offset] = size, line

    def byte(self, offset: int) -> int:
        return self._bytes[offset]

    def line(self, offset: int) -> int:
        return self._lines[offset]
