"""Texts by line, pure: ranges, numbered display, exact edits."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Edit", "Window", "apply_edit", "number_lines", "split_lines"]

_MAX_LINES = 2_000
_MAX_CHARS = 60_000
"""What one read shows at most: about 15,000 tokens."""
_MAX_LINE_CHARS = 2_000
"""A longer line is a bundle or data; its rest is named, not shown."""
_COUNTED = 10
"""How many places of an ambiguous text are counted and named."""
_NUMBERED = re.compile(r"\s*\d+\t")


@dataclass(frozen=True, slots=True)
class Window:
    """Lines `start` to `end`, from 1, both included; empty when `end` is below `start`."""

    start: int
    end: int

    @classmethod
    def of(cls, tool_input: Mapping[str, Any], *, whole: int) -> Window | str:
        """Return the window that `start_line` and `end_line` ask for in a text of `whole` lines.

        A window that reaches beyond the text is cut to it; one that lies outside of it is an error, in words.
        """
        start = int(tool_input.get("start_line") or 1)
        end = int(tool_input.get("end_line") or max(whole, start))
        if start < 1 or end < start:
            return f"start_line {start} and end_line {end} are no range: lines count from 1, and start comes first."
        if start > max(whole, 1):
            return f"It has {whole} lines: start_line {start} is beyond the end."
        return cls(start, min(end, whole))


@dataclass(frozen=True, slots=True)
class Edit:
    """The text after an edit and the lines that are new in it."""

    text: str
    window: Window


def split_lines(text: str) -> list[str]:
    r"""Split at `\n` only, as editors and compilers count; a final newline opens no further line."""
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return lines


def number_lines(text: str, window: Window, *, again: str) -> str:
    """Return the lines of a window, numbered, and how to go on (by the tool `again`) where they were too many."""
    lines = split_lines(text)
    if not lines:
        return "(empty)"
    shown: list[str] = []
    chars = 0
    for number in range(window.start, window.end + 1):
        row = f"{number:>6}\t{_cut(lines[number - 1].removesuffix(chr(13)))}"
        chars += len(row) + 1
        if shown and (len(shown) >= _MAX_LINES or chars > _MAX_CHARS):
            break
        shown.append(row)
    last = window.start + len(shown) - 1
    if last < window.end:
        shown.append(f"[lines {last + 1} to {window.end} are not shown: go on with {again} and start_line {last + 1}]")
    elif (window.start, window.end) != (1, len(lines)):
        shown.append(f"[lines {window.start} to {window.end} of {len(lines)}]")
    return "\n".join(shown)


def _cut(line: str) -> str:
    if len(line) <= _MAX_LINE_CHARS:
        return line
    return f"{line[:_MAX_LINE_CHARS]} [{len(line) - _MAX_LINE_CHARS} more characters in this line]"


def apply_edit(text: str, old: str, new: str) -> Edit | str:
    r"""Replace the one place where `old` stands, or say why not.

    In a file whose lines all end in `\r\n`, bare newlines in `old` and `new` mean the file's own line ends.
    """
    if not old:
        return "The text to replace is empty. Give the exact text that stands there, or use fs_write for a new file."
    if old == new:
        return "The old and the new text are the same: there is nothing to change."
    if "\r\n" in text and text.count("\n") == text.count("\r\n"):
        old, new = (part if "\r" in part else part.replace("\n", "\r\n") for part in (old, new))
    places = _places(text, old)
    if len(places) > 1:
        return _ambiguous(text, places)
    if not places:
        return f"The text to replace is not in the file. {_near_miss(text, old)}"
    start = text.count("\n", 0, places[0]) + 1
    end = start + new.count("\n") - (1 if new.endswith("\n") else 0) if new else start - 1
    return Edit(text[: places[0]] + new + text[places[0] + len(old) :], Window(start, end))


def _places(text: str, old: str) -> list[int]:
    """Return where `old` stands, overlapping places too, at most `_COUNTED` of them."""
    places: list[int] = []
    place = text.find(old)
    while place >= 0 and len(places) < _COUNTED:
        places.append(place)
        place = text.find(old, place + 1)
    return places


def _ambiguous(text: str, places: list[int]) -> str:
    numbers = [str(text.count("\n", 0, place) + 1) for place in places]
    count = f"{len(places)} or more" if len(places) == _COUNTED else str(len(places))
    where = f"{count} places (lines {', '.join(numbers)})"
    return f"The text to replace stands at {where}. Add lines around it until it is unique."


def _near_miss(text: str, old: str) -> str:
    """Say what the likely slip is: copied line numbers, other white space, or a text that is not there at all."""
    wanted = next((line.strip() for line in split_lines(old) if line.strip()), "")
    if _NUMBERED.match(old):
        return "It seems to carry the line numbers of fs_read: leave them and the tab out."
    for number, line in enumerate(split_lines(text), start=1):
        if wanted and line.strip() == wanted:
            return (
                f"Line {number} begins like it; white space or a later line differs. Read from there and copy exactly."
            )
    return "Read the lines with fs_read and copy them exactly."
