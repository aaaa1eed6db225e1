"""Pieces that patterns of phrases are made of; RE2's syntax, over the normalised copy of a text."""

from __future__ import annotations

__all__ = ["GAP", "WORD", "any_of", "near", "phrase", "words"]

GAP = r"(?:[\s_*#>/\\\"'`~,:;()\[\]{}|=+<-]+)"
"""What may stand between two words of one phrase: also line ends, comment signs and marks of Markdown."""
WORD = r"[^\s.!?,;:\"'`()\[\]{}*_#>/\\|=+<~-]+"
"""Any word."""


def phrase(text: str) -> str:
    """Return a pattern with a gap for each space between its words."""
    return text.replace(" ", GAP)


def any_of(alternatives: str) -> str:
    """Return a group of alternatives that are written with spaces between them; `+` in one stands for a gap."""
    return f"(?:{'|'.join(one.replace('+', GAP) for one in alternatives.split())})"


def words(most: int) -> str:
    """Return a pattern of up to so many words, each with the gap after it."""
    return f"(?:{WORD}{GAP}){{0,{most}}}"


def near(first: str, second: str, most: int) -> str:
    """Return a pattern of two words in either order, with at most so many others between."""
    return f"(?:{first}{GAP}{words(most)}{second}|{second}{GAP}{words(most)}{first})"
