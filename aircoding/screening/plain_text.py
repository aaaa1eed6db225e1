"""The normalised copy of a text that phrases are looked for in, and the way back to places in the original.

Each character is folded by itself, so that every place of the copy belongs to one of the original: compatibility
forms become plain ones (NFKC), Latin letters lose their marks, what is invisible is left out. `look_alikes` replaces
letters of other scripts by the Latin ones that they look like; it changes no place.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right

from aircoding.screening.confusables import LETTERS_LIKE, LOOK_ALIKES

__all__ = ["PlainText", "foreign_characters", "look_alikes"]

_ASCII = bytes(range(128))
_FEW = 40
"""So many characters are replaced one by one; it is quicker than to look at each place."""
_FOREIGN = re.compile("[^\x00-\x7f]+")
_MIXED = re.compile(f"[A-Za-z][{LETTERS_LIKE}]|[{LETTERS_LIKE}][A-Za-z]")


class _Folded(dict[int, str]):
    """What each character becomes; filled as characters are met."""

    def __missing__(self, code: int) -> str:
        folded = self[code] = _fold(chr(code))
        return folded


_UNDIVIDED = {"đ": "d", "ð": "d", "ı": "i", "ø": "o", "ł": "l", "ß": "ss", "æ": "ae", "œ": "oe", "þ": "th", "ħ": "h"}
_MARKS = {**dict.fromkeys("‘’‚‛′‹›´", "'"), **dict.fromkeys("“”„‟″«»", '"'), **dict.fromkeys("‐‑‒–—―−", "-")}
_FILLERS = frozenset("\u115f\u1160\u2800\u3164\uffa0\u034f\u180e\ufffc")


def _fold(char: str) -> str:
    if char in _FILLERS or unicodedata.category(char) in ("Cf", "Cs") or _is_mark(char):
        return ""
    if char in _MARKS:
        return _MARKS[char]
    if (low := char.lower()) in _UNDIVIDED:
        return _UNDIVIDED[low] if low == char else _UNDIVIDED[low].upper()
    split = unicodedata.normalize("NFKD", char)
    if split[0].isascii():
        return "".join(part for part in split if not _is_mark(part))
    return unicodedata.normalize("NFKC", char)


def _is_mark(char: str) -> bool:
    """Combining marks of Latin, and selectors; those of Indic scripts spell words and stay."""
    return "\u0300" <= char <= "\u036f" or "\ufe00" <= char <= "\ufe0f" or "\U000e0100" <= char <= "\U000e01ef"


_FOLDED = _Folded()


class PlainText:
    """A text, its normalised copy, and the copy's places in it."""

    def __init__(self, text: str) -> None:
        self.source = text
        self.foreign = foreign_characters(text)
        self.text = _folded(text, self.foreign)
        self._shifts: tuple[list[int], list[int]] | None = None

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the characters of the original that hold `start` to `end` of the copy."""
        first, last = self._place(start), self._place(max(start, end - 1))
        return first, max(last, first) + 1

    def _place(self, offset: int) -> int:
        """Return the character of the original that one of the copy stands for."""
        if self._shifts is None:
            self._shifts = self._made_shifts()
        begins, shifts = self._shifts
        before = bisect_right(begins, offset) - 1
        return min(offset + (shifts[before] if before >= 0 else 0), len(self.source) - 1)

    def _made_shifts(self) -> tuple[list[int], list[int]]:
        """Return from which place of the copy on, by how much the original's places are further on."""
        odd = "".join(char for char in self.foreign if len(_FOLDED[ord(char)]) != 1)
        begins: list[int] = []
        shifts: list[int] = []
        shift = 0
        for match in re.finditer(f"[{re.escape(odd)}]", self.source) if odd else ():
            size, place = len(_FOLDED[ord(match[0])]), match.start() - shift
            for further in range(1, size):  # of what a character became, all stands for it
                begins.append(place + further)
                shifts.append(shift - further)
            shift += 1 - size
            begins.append(place + size)
            shifts.append(shift)
        return begins, shifts


def foreign_characters(text: str) -> frozenset[str]:
    """Return the characters of a text outside ASCII."""
    if text.isascii():
        return frozenset()
    return frozenset(text.encode("utf-8", "surrogatepass").translate(None, _ASCII).decode("utf-8", "surrogatepass"))


def _folded(text: str, foreign: frozenset[str]) -> str:
    changed = [char for char in foreign if _FOLDED[ord(char)] != char]
    if len(changed) > _FEW:
        return _FOREIGN.sub(lambda match: match[0].translate(_FOLDED), text)
    for char in changed:
        text = text.replace(char, _FOLDED[ord(char)])
    return text


def look_alikes(plain: str) -> str | None:
    """Return a normalised text with look-alike letters as Latin ones; None where no word mixes them with Latin."""
    if LOOK_ALIKES.keys().isdisjoint(map(ord, foreign_characters(plain))) or not _MIXED.search(plain):
        return None
    return plain.translate(LOOK_ALIKES)
