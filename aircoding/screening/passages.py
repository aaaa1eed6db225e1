"""A long text as passages that overlap: short enough that few rules have all their words in one.

A passage ends with a line where it can, and a long line is never divided, so that what stands on one line is in one
passage. The overlap is longer than any phrase, because long runs of blanks and signs between words are cut short.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import Any

from aircoding.screening.automata import regex

__all__ = ["DenseText", "Passage"]

_PASSAGE_CHARS = 4_096
_OVERLAP_CHARS = 1_024
_LONG_RUN = re.compile(r"[\s_*#>/\\\"'`~,:;()\[\]{}|=+<.!?-]{64,}")
_KEPT_CHARS = 16
_ASCII = bytes(range(128))
_CONTINUATION = bytes(range(0x80, 0xC0))
_STRETCH_BYTES = 1_024
_LETTERS_ONLY = bytes(code if chr(code) in "abcdefghijklmnopqrstuvwxyz" else 32 for code in range(256))


def _begun_in(data: bytes) -> int:
    """Return how many characters begin in some bytes of UTF-8."""
    return len(data.translate(None, _CONTINUATION))


class Passage:
    """A part of a text: its characters, its bytes in UTF-8, its words."""

    def __init__(self, text: str, start: int) -> None:
        self.text = text
        self.start = start

    @cached_property
    def data(self) -> bytes:
        """The bytes in UTF-8."""
        return self.text.encode("utf-8", "replace")

    @cached_property
    def low(self) -> bytes:
        """The bytes, ASCII letters in lower case."""
        return self.data.lower()

    @cached_property
    def words(self) -> frozenset[bytes]:
        """Its words of ASCII letters, in lower case."""
        return frozenset(self.low.translate(_LETTERS_ONLY).split())

    @cached_property
    def blocks(self) -> frozenset[int]:
        """The blocks of 128 characters outside ASCII that it has letters of."""
        return frozenset(ord(char) >> 7 for char in set(self.data.translate(None, _ASCII).decode("utf-8", "ignore")))

    def character(self, offset: int) -> int:
        """Return the character of the whole text that a byte of the passage belongs to."""
        if len(self.data) == len(self.text):
            return self.start + offset
        stretch = offset // _STRETCH_BYTES
        return self.start + self._begun[stretch] + _begun_in(self.data[stretch * _STRETCH_BYTES : offset])

    @cached_property
    def _begun(self) -> list[int]:
        """How many characters begin before each stretch of some bytes."""
        stretches = range(0, len(self.data), _STRETCH_BYTES)
        counts = (_begun_in(self.data[start : start + _STRETCH_BYTES]) for start in stretches)
        return list(accumulate(counts, initial=0))


@dataclass(frozen=True, slots=True)
class _Piece:
    """From `start` of the dense text on, characters stand `shift` further on in the text."""

    start: int
    shift: int


class DenseText:
    """A text with long runs between words cut short, and the way back to places in it."""

    def __init__(self, text: str) -> None:
        parts: list[str] = []
        self._pieces = [_Piece(0, 0)]
        size = done = 0
        for match in _LONG_RUN.finditer(text) if _has_long_run(text) else ():
            kept = _shortened(match[0])
            parts += [text[done : match.start()], kept]
            size += match.start() - done + len(kept)
            done = match.end()
            self._pieces.append(_Piece(size, done - size))
        self.text = "".join([*parts, text[done:]]) if parts else text

    def place(self, offset: int) -> int:
        """Return the place in the text of a place in the dense one."""
        piece = self._pieces[bisect_right(self._pieces, offset, key=lambda one: one.start) - 1]
        return offset + piece.shift

    def passages(self) -> Iterator[Passage]:
        """Yield overlapping passages that together hold all of it."""
        text, start = self.text, 0
        while True:
            end = self._end(start)
            yield Passage(text[start:end], start)
            if end == len(text):
                return
            start = max(start + 1, end - _OVERLAP_CHARS)

    def _end(self, start: int) -> int:
        if len(self.text) - start <= _PASSAGE_CHARS + _OVERLAP_CHARS:
            return len(self.text)
        line_end = self.text.find("\n", start + _PASSAGE_CHARS)
        return len(self.text) if line_end < 0 else line_end + 1


def _has_long_run(text: str) -> bool:
    return _long_run().search(text.encode("utf-8", "replace")) is not None


@lru_cache(maxsize=1)
def _long_run() -> Any:
    return regex(_LONG_RUN.pattern)


def _shortened(run: str) -> str:
    """Keep both ends of a run, and that it ended a paragraph or a line."""
    lines = "\n\n" if run.count("\n") > 1 else "\n" if "\n" in run else ""
    return run[:_KEPT_CHARS] + lines + run[-_KEPT_CHARS:]
