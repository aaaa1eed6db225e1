"""Short forms of texts: whole lines from both ends, and a line that says what is missing and where it is."""

from __future__ import annotations

__all__ = ["EXCERPT_BYTES", "reference_line", "shorten"]

EXCERPT_BYTES = 3_000
"""About what an excerpt holds at most (some 40 lines of prose or code); a text that is little longer has none."""

_HEAD_PART = 0.7
"""Most of an excerpt is the beginning of the text, the rest its end (a build log says why it failed at its end)."""
_WORTH_IT = 1.25
"""An excerpt must save a fifth of the text; otherwise the whole costs hardly more."""


def shorten(text: str, start_line: int = 1) -> str | None:
    """Return the text cut to head and tail, or None when it is short enough.

    Args:
        text: the whole text.
        start_line: the number of its first line in its source, for the line that says what is missing.
    """
    size_bytes = len(text.encode("utf-8"))
    if size_bytes <= EXCERPT_BYTES * _WORTH_IT:
        return None
    lines = text.split("\n")
    head = _fitting(lines, int(EXCERPT_BYTES * _HEAD_PART))
    tail = _fitting(lines[head:][::-1], int(EXCERPT_BYTES * (1 - _HEAD_PART)))
    if head == 0:
        return _cut_line(lines, start_line, size_bytes)
    first, last = start_line + head, start_line + len(lines) - tail - 1
    left_out = len("\n".join(lines[head : len(lines) - tail]).encode("utf-8"))
    gap = f"[… lines {first}-{last} left out, {left_out} of {size_bytes} bytes …]"
    return "\n".join([*lines[:head], gap, *lines[len(lines) - tail :]])


def _fitting(lines: list[str], limit_bytes: int) -> int:
    """Return how many of the lines, from the first, fit."""
    total = 0
    for count, line in enumerate(lines):
        total += len(line.encode("utf-8")) + 1
        if total > limit_bytes:
            return count
    return len(lines)


def _cut_line(lines: list[str], start_line: int, size_bytes: int) -> str:
    """The first line alone is too long: cut inside it, at a character."""
    kept = lines[0].encode("utf-8")[: int(EXCERPT_BYTES * _HEAD_PART)].decode("utf-8", "ignore")
    left_out = size_bytes - len(kept.encode("utf-8"))
    return f"{kept}\n[… cut in line {start_line}, {left_out} of {size_bytes} bytes left out …]"


def reference_line(what: str, *, start_line: int | None = None, end_line: int | None = None) -> str:
    """Return the line that stands for a text of which nothing is shown. `what` is a path or an artifact's name."""
    lines = f", lines {start_line}-{end_line}" if start_line is not None and end_line is not None else ""
    return f"[not shown here; the text stands in {what}{lines}]"
