"""The text of an identity: how much of a `SOUL.md` is taken, and the one line that stands for it in mode minimal."""

from __future__ import annotations

import re

__all__ = ["MAX_IDENTITY_CHARS", "cut_identity", "identity_line"]

MAX_IDENTITY_CHARS = 20_000
"""What of a `SOUL.md` is taken; Hermes takes as much of a context file (read 2026-08)."""

_MOST_LINE_CHARS = 200
_HEADING = re.compile(r"#{1,6}(?:[ \t]|$)")
_SENTENCE_END = re.compile(r"[.!?](?=[ \t])|[\u3002\uff01\uff1f]")


def cut_identity(text: str) -> tuple[str, int]:
    """Return the text without blank ends, cut at a line where it is too long, and how many characters are left out."""
    whole = text.strip()
    if len(whole) <= MAX_IDENTITY_CHARS:
        return whole, 0
    head = whole[:MAX_IDENTITY_CHARS]
    at_line = head.rfind("\n")
    kept = (head[:at_line] if at_line > 0 else head).rstrip()
    return kept, len(whole) - len(kept)


def identity_line(text: str) -> str | None:
    """Return the first sentence of the first line that is no heading, one line of at most 200 characters.

    None where there is no such line.
    """
    lines = (line.strip() for line in text.splitlines())
    line = next((line for line in lines if line and not _HEADING.match(line)), None)
    if line is None:
        return None
    end = _SENTENCE_END.search(line)
    sentence = line[: end.end()] if end is not None else line
    if len(sentence) <= _MOST_LINE_CHARS:
        return sentence
    words = sentence[: _MOST_LINE_CHARS - 1].rsplit(None, 1)[0]
    return f"{words}\u2026"
