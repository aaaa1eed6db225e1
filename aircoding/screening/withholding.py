"""Take suspicious lines out of a text that is shown line by line; pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

from aircoding.records.printable import printable
from aircoding.records.segments import Finding

__all__ = ["BLOCKED", "blocked_mark", "withhold"]

BLOCKED = re.compile(r"\[BLOCKED: [a-z]{1,20}, [^\]\n]{1,200}\]")
"""How a line reads that stands for a text that was withheld (DESIGN section 7)."""
_NAME_CHARS = 150


def blocked_mark(kind: str, uri: str, start_line: int, end_line: int) -> str:
    """Return the line that stands for lines `start_line` to `end_line` of a source; `BLOCKED` always matches it.

    Of a long name the end is kept, and what would end the line or the mark is escaped or replaced.
    """
    name = printable(uri).replace("]", ")")
    name = name if len(name) <= _NAME_CHARS else f"…{name[1 - _NAME_CHARS :]}"
    return f"[BLOCKED: {kind}, {name}, lines {start_line}-{end_line}]"


def withhold(text: str, findings: Iterable[Finding], *, uri: str) -> str:
    r"""Return `text` without the lines that a blocking finding touches; all others keep their number.

    A passage of such lines is one mark and, where it was longer, empty lines. Lines end with `\n`.

    Args:
        text: what was screened.
        findings: of this text, in order of place.
        uri: names the source in the marks.
    """
    passages: list[Finding] = []
    ends: list[int] = []
    for one in findings:
        if not one.blocks:
            continue
        if passages and one.start_line <= ends[-1]:
            ends[-1] = max(ends[-1], one.end_line)
            continue
        passages.append(one)
        ends.append(one.end_line)
    if not passages:
        return text
    lines = text.split("\n")
    for one, end in zip(passages, ends, strict=True):
        mark = blocked_mark(one.kind, uri, one.start_line, end)
        lines[one.start_line - 1 : end] = [mark, *[""] * (end - one.start_line)]
    return "\n".join(lines)
