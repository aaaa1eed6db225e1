"""The difference of two texts, by words where they are small enough, else by lines. Pure and deterministic.

Lines are compared first and words only within lines that differ. A comparison takes time with the product of its sides,
so above a bound only lines that occur once on each side are taken as fixed points, and what lies between them is
compared by itself; this bounds the work for any two texts.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby

__all__ = ["MAX_WORDS_PRODUCT", "Stretch", "longest_rise", "word_changes"]

MAX_WORDS_PRODUCT = 60_000
"""Words of one stretch of lines before, times words after, up to which they are compared by words."""
_MAX_LINES_PRODUCT = 60_000
_MAX_DEPTH = 12
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_WORD = re.compile(r"(?:\w+|[^\w\s])[^\S\n]*|[^\S\n]+|\n")
"""A word or a sign with the blanks behind it: blanks alone would match everywhere, and cost the most."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """A part of two texts: `kind` is `same`, `removed` (only in the one before) or `added` (only in the one after)."""

    kind: str
    text: str


def word_changes(before: str, after: str, *, by_words: bool = True) -> tuple[Stretch, ...]:
    """Return the parts of two texts in order; those of one kind are joined.

    What is not `added` is the text before, what is not `removed` the one after. Equal texts are one `same` part, two
    empty ones none.

    Args:
        before: one text.
        after: the other.
        by_words: whether lines that differ are compared by words too.
    """
    if before == after:
        return (Stretch("same", before),) if before else ()
    parts = _lines(_LINE.findall(before), _LINE.findall(after), by_words=by_words)
    return tuple(_joined(part for part in parts if part.text))


def _joined(parts: Iterator[Stretch]) -> Iterator[Stretch]:
    for kind, group in groupby(parts, key=lambda part: part.kind):
        yield Stretch(kind, "".join(part.text for part in group))


def _lines(before: Sequence[str], after: Sequence[str], *, by_words: bool) -> Iterator[Stretch]:
    for same, old, new in _compared(before, after, _MAX_LINES_PRODUCT):
        if same:
            yield Stretch("same", "".join(old))
        elif by_words and old and new:
            yield from _words("".join(old), "".join(new))
        else:
            yield Stretch("removed", "".join(old))
            yield Stretch("added", "".join(new))


def _words(before: str, after: str) -> Iterator[Stretch]:
    old, new = _tokens(before), _tokens(after)
    if len(old) * len(new) > MAX_WORDS_PRODUCT:
        yield Stretch("removed", before)
        yield Stretch("added", after)
        return
    for same, left, right in _compared(old, new, MAX_WORDS_PRODUCT):
        if same:
            yield Stretch("same", "".join(left))
        else:
            yield Stretch("removed", "".join(left))
            yield Stretch("added", "".join(right))


def _tokens(text: str) -> list[str]:
    """Return words, signs and line feeds; together they are the text."""
    return _WORD.findall(text)


_Part = tuple[bool, Sequence[str], Sequence[str]]
"""Whether both sides are the same, and the sides."""


def _compared(before: Sequence[str], after: Sequence[str], most: int, depth: int = 0) -> Iterator[_Part]:
    """Yield the parts of two sequences in order."""
    start = _common(before, after)
    end = _common(before[start:][::-1], after[start:][::-1])
    old, new = before[start : len(before) - end], after[start : len(after) - end]
    if start:
        yield True, before[:start], after[:start]
    if old and new and len(old) * len(new) <= most:
        for tag, i, j, k, m in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
            yield tag == "equal", old[i:j], new[k:m]
    elif old and new and depth < _MAX_DEPTH and (points := _fixed_points(old, new)):
        yield from _between(old, new, points, most, depth)
    elif old or new:
        yield False, old, new
    if end:
        yield True, before[len(before) - end :], after[len(after) - end :]


def _common(before: Sequence[str], after: Sequence[str]) -> int:
    pairs = zip(before, after, strict=False)
    return next((place for place, (a, b) in enumerate(pairs) if a != b), min(len(before), len(after)))


def _between(
    before: Sequence[str], after: Sequence[str], points: Sequence[tuple[int, int]], most: int, depth: int
) -> Iterator[_Part]:
    left = right = 0
    for old, new in (*points, (len(before), len(after))):
        yield from _compared(before[left:old], after[right:new], most, depth + 1)
        if old < len(before):
            yield True, before[old : old + 1], after[new : new + 1]
        left, right = old + 1, new + 1


def _fixed_points(before: Sequence[str], after: Sequence[str]) -> list[tuple[int, int]]:
    """Return the places of what occurs once on each side, the longest run of them that is in order on both."""
    once = {item for item, count in Counter(before).items() if count == 1}
    once &= {item for item, count in Counter(after).items() if count == 1}
    places = {item: place for place, item in enumerate(after) if item in once}
    pairs = [(place, places[item]) for place, item in enumerate(before) if item in once]
    return [pairs[place] for place in longest_rise([new for _, new in pairs])]


def longest_rise(numbers: Sequence[int]) -> list[int]:
    """Return the places of a longest rising run of numbers, each of which occurs once."""
    tails: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for place, number in enumerate(numbers):
        at = bisect_left(tails, number)
        before.append(ends[at - 1] if at else -1)
        tails[at : at + 1] = [number]
        ends[at : at + 1] = [place]
    rise: list[int] = []
    place = ends[-1] if ends else -1
    while place >= 0:
        rise.append(place)
        place = before[place]
    return rise[::-1]
