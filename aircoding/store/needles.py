"""What the words of a searched text say about the texts that may hold it; pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["Needle", "cut", "quoted", "words_of"]

_WORD = re.compile(r"[A-Za-z0-9_\u0080-\U0010ffff]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Needle:
    """The words of a needle: `whole` stand between two bounds, `start` begins a word, `end` ends one.

    `inner` is a needle that is (a part of) one word. Words are folded as the index folds them.
    """

    whole: tuple[str, ...] = ()
    start: str = ""
    end: str = ""
    inner: str = ""


def words_of(text: str) -> list[str]:
    """Return the words of a text as the index cuts and folds them, each time that one stands there."""
    return _WORD.findall(text.encode("utf-8", "surrogatepass").lower().decode("utf-8", "surrogatepass"))


def cut(needle: str) -> Needle:
    """Cut a needle into words; the first and the last may go on outside of it."""
    whole: list[str] = []
    start = end = inner = ""
    for found in _WORD.finditer(needle):
        word = found.group().encode("utf-8", "surrogatepass").lower().decode("utf-8", "surrogatepass")
        is_open = found.start() == 0, found.end() == len(needle)
        if is_open == (True, True):
            inner = word
        elif is_open == (True, False):
            end = word
        elif is_open == (False, True):
            start = word
        else:
            whole.append(word)
    return Needle(whole=tuple(dict.fromkeys(whole)), start=start, end=end, inner=inner)


def quoted(word: str) -> str:
    """Return a word as a string of a query."""
    return '"' + word.replace('"', '""') + '"'
