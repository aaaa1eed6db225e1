"""Markdown by lines: which lines stand in a fence, and where code spans are (CommonMark, as far as rules need it)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

__all__ = ["CodeLine", "Fences", "code_spans", "read_lines", "spans_of", "ticked_ranges"]

_FENCE = re.compile(r"[ \t]*(?:[-*+>][ \t]+)*(`{3,}(?=[^`]*$)|~{3,})[ \t]*([^\s`]*)")
_TICKS = re.compile(r"`+")


class CodeLine(NamedTuple):
    """A line with its number (from 1). `fence` is None outside fences, else the language of the fence.

    `edge` says that the line opens or closes a fence.
    """

    number: int
    text: str
    fence: str | None
    edge: bool


class Fences:
    """Which lines stand in a fence, told line by line; a fence that is not closed goes on to the end."""

    def __init__(self) -> None:
        self._marker, self._language = "", ""

    @property
    def inside(self) -> bool:
        """Whether the next line stands in a fence."""
        return bool(self._marker)

    def read(self, number: int, line: str) -> CodeLine:
        """Return the next line with what it stands in."""
        opening = _FENCE.match(line) if "```" in line or "~~~" in line else None
        if self._marker:
            closes = opening is not None and opening[1].startswith(self._marker) and line.strip(" \t>") == opening[1]
            if closes:
                self._marker = ""
            return CodeLine(number, line, self._language, closes)
        if opening is not None:
            self._marker, self._language = opening[1], opening[2].lower()
            return CodeLine(number, line, self._language, edge=True)
        return CodeLine(number, line, None, edge=False)


@lru_cache(maxsize=1024)
def read_lines(text: str) -> tuple[CodeLine, ...]:
    """Return all lines of a text; several readers of a rule ask for them one after the other."""
    fences = Fences()
    return tuple(fences.read(number, line) for number, line in enumerate(text.split("\n"), 1))


def spans_of(line: str) -> Iterator[tuple[int, str]]:
    """Yield (place, text) of the code spans of one line; a span ends at a run of as many ticks as began it."""
    for start, end in ticked_ranges(line):
        text = line[start:end].strip("`").strip()
        if text:
            yield start, text


def ticked_ranges(line: str) -> tuple[tuple[int, int], ...]:
    """Return where the code spans of one line begin and end, their ticks included."""
    if "`" not in line:
        return ()
    runs = list(_TICKS.finditer(line))
    ranges: list[tuple[int, int]] = []
    place = 0
    while place < len(runs):
        length = runs[place].end() - runs[place].start()
        closing = next((n for n in range(place + 1, len(runs)) if runs[n].end() - runs[n].start() == length), None)
        if closing is None:
            place += 1
            continue
        ranges.append((runs[place].start(), runs[closing].end()))
        place = closing + 1
    return tuple(ranges)


def code_spans(text: str) -> tuple[tuple[int, str], ...]:
    """Return (line, text) of all code spans outside fences; lines count from 1."""
    return tuple(
        (line.number, span) for line in read_lines(text) if line.fence is None for _, span in spans_of(line.text)
    )
