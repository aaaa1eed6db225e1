"""Short forms of texts: whole lines from both ends, and a line that says what is missing and where it is."""

from __future__ import annotations

from aircoding.records.layers import SegmentKind

__all__ = ["EXCERPT_BYTES", "head_end", "reference_line", "shorten", "tail_start"]

EXCERPT_BYTES = 3_000
"""What an excerpt shows of a text at most (some 40 lines of prose or code); a text that is little longer has none."""

_HEAD_BYTES = EXCERPT_BYTES * 70 // 100
"""Most of an excerpt of prose or code is its beginning: titles, imports and definitions stand there."""
_OUTPUT_HEAD_BYTES = EXCERPT_BYTES * 20 // 100
"""Of the output of a command the end counts, where it says what failed; the beginning only says what was run."""
_OUTPUTS = frozenset({SegmentKind.DIAGNOSTIC, SegmentKind.FAILURE, SegmentKind.TOOL_RESULT})
_WORTH_IT = 1.25
"""An excerpt must save a fifth of the text; otherwise the whole costs hardly more."""


def shorten(text: str, start_line: int = 1, *, kind: SegmentKind = SegmentKind.FILE) -> str | None:
    """Return the text cut to head and tail, or None when it is short enough.

    Both are cut at line ends; only a first or last line that is too long by itself is cut inside, at a character.

    Args:
        text: the whole text.
        start_line: the number of its first line in its source, for the line that says what is missing.
        kind: what it is; of the output of a command the end is worth more than the rest.
    """
    data = text.encode("utf-8")
    if len(data) <= EXCERPT_BYTES * _WORTH_IT:
        return None
    head_bytes = _OUTPUT_HEAD_BYTES if kind in _OUTPUTS else _HEAD_BYTES
    head = head_end(data, head_bytes)
    tail = tail_start(data, len(data) - EXCERPT_BYTES + head_bytes)
    gap = f"[… {_lines_between(data, head, tail, start_line)} left out, {tail - head} of {len(data)} bytes …]\n"
    shown = data[:head].decode("utf-8")
    if not shown.endswith("\n"):
        shown += "\n"
    return shown + gap + data[tail:].decode("utf-8")


def head_end(data: bytes, limit: int) -> int:
    """Return where the last line ends that lies before `limit`, else the last character that does."""
    end = data.rfind(b"\n", 0, limit) + 1
    if end:
        return end
    while _inside_character(data, limit):
        limit -= 1
    return limit


def tail_start(data: bytes, limit: int) -> int:
    """Return where the first line begins from `limit` on, else the first character; the last line end begins none."""
    start = data.find(b"\n", limit - 1, len(data) - 1) + 1
    if start:
        return start
    while _inside_character(data, limit):
        limit += 1
    return limit


def _inside_character(data: bytes, at: int) -> bool:
    return data[at] & 0xC0 == 0x80


def _lines_between(data: bytes, head: int, tail: int, start_line: int) -> str:
    """Say which lines, and which parts of lines, lie between two offsets."""
    in_first, in_last = data[head - 1 : head] != b"\n", data[tail - 1 : tail] != b"\n"
    first = start_line + data.count(b"\n", 0, head)
    last = start_line + data.count(b"\n", 0, tail) - (0 if in_last else 1)
    if in_first and in_last and first == last:
        return f"the middle of line {first}"
    whole = (first + in_first, last - in_last)
    parts = [
        f"the end of line {first}" if in_first else "",
        f"lines {whole[0]}-{whole[1]}" if whole[0] <= whole[1] else "",
        f"the start of line {last}" if in_last else "",
    ]
    return ", ".join(part for part in parts if part)


def reference_line(what: str, *, start_line: int | None = None, end_line: int | None = None) -> str:
    """Return the line that stands for a text of which nothing is shown. `what` is a path or an artifact's name."""
    lines = f", lines {start_line}-{end_line}" if start_line is not None and end_line is not None else ""
    return f"[not shown here; the text stands in {what}{lines}]"
