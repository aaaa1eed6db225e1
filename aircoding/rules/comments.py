"""HTML comments that stand as blocks of their own in Markdown: notes for people, which no model is to read (E29).

Claude Code leaves them out (documentation of 2026-08), not those within a line, nor those in code. Whoever leaves a
comment out must have screened it: hidden text is a place for attacks.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from aircoding.rules.markdown_lines import Fences

__all__ = ["Uncommented", "without_block_comments"]

_OPENS = re.compile(r" {0,3}<!--")


@dataclass(frozen=True, slots=True)
class Uncommented:
    """A text with as many lines as before; `emptied` are the lines (from 1) of which nothing was left."""

    text: str
    emptied: frozenset[int]

    def lines(self, start_line: int, end_line: int) -> str:
        """Return a stretch (both ends included) without the lines that held comments only."""
        kept = self.text.split("\n")[start_line - 1 : end_line]
        return "\n".join(line for number, line in enumerate(kept, start_line) if number not in self.emptied)


def without_block_comments(text: str) -> Uncommented:
    """Blank out comments that begin a line outside fences; one that is not closed hides nothing and stays."""
    if "<!--" not in text:
        return Uncommented(text, frozenset())
    lines = text.split("\n")
    emptied: set[int] = set()
    fences = Fences()
    place, closable = 0, True
    while place < len(lines):
        # A fence inside a comment is none: only lines outside comments are read for fences.
        opens = closable and _OPENS.match(lines[place]) is not None
        if opens and not fences.inside:
            end = _closing(lines, place)
            if end is not None:
                rest = lines[end].split("-->", 1)[1].strip()
                lines[place : end + 1] = ["" for _ in range(place, end)] + [rest]
                emptied.update(range(place + 1, end + 1 if rest else end + 2))
                place = end + 1
                continue
            closable = False
        fences.read(place + 1, lines[place])
        place += 1
    return Uncommented("\n".join(lines), frozenset(emptied))


def _closing(lines: list[str], start: int) -> int | None:
    after = lines[start].index("<!--") + len("<!--")
    if "-->" in lines[start][after:]:
        return start
    return next((place for place in range(start + 1, len(lines)) if "-->" in lines[place]), None)
