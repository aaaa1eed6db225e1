"""Markdown by lines: which lines stand in a fence, and where code spans are (CommonMark, as far as rules need it)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

__all__ = ["CodeLine", "code_spans", "read_lines", "spans_of"]

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


def read_lines(text: str) -> Iterator[CodeLine]:
    """Yield all lines of a text; a fence that is not closed goes on to the end."""
    marker, language = "", ""
    for number, line in enumerate(text.split("\n"), 1):
        opening = _FENCE.match(line)
        if marker:
            closes = opening is not None and opening[1].startswith(marker) and line.strip(" \t>") == opening[1]
            yield CodeLine(number, line, language, closes)
            if closes:
                marker = ""
        elif opening is not None:
            marker, language = opening[1], opening[2].lower()
            yield CodeLine(number, line, language, edge=True)
        else:
            yield CodeLine(number, line, None, edge=False)


def spans_of(line: str) -> Iterator[tuple[int, str]]:
    """Yield (place, text) of the code spans of one line; a span ends at a run of as many ticks as began it."""
    if "`" not in line:
        return
    runs = list(_TICKS.finditer(line))
    place = 0
    while place < len(runs):
        opening = runs[place]
        length = opening.end() - opening.start()
        closing = next((n for n in range(place + 1, len(runs)) if runs[n].end() - runs[n].start() == length), None)
        if closing is None:
            place += 1
            continue
        text = line[opening.end() : runs[closing].start()].strip()
        if text:
            yield opening.start(), text
        place = closing + 1


def code_spans(text: str) -> tuple[tuple[int, str], ...]:
    """Return (line, text) of all code spans outside fences; lines count from 1."""
    return tuple(
        (line.number, span) for line in read_lines(text) if line.fence is None for _, span in spans_of(line.text)
    )
