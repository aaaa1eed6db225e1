"""A quick look before a pattern is tried: one of these fixed parts stands in every text that it can match."""

from __future__ import annotations

__all__ = ["fold", "may_match"]

_AS_IGNORECASE = {0x131: "i", 0x17F: "s", 0x307: ""}
"""What `re.IGNORECASE` takes for an ASCII letter and `lower` does not: dotless i, long s, the dot of a capital I."""


def fold(text: str) -> str:
    """Return `text` so that whatever matches an ASCII letter under `re.IGNORECASE` is that letter in lower case."""
    low = text.lower()
    return low if low.isascii() else low.translate(_AS_IGNORECASE)


def may_match(stems: tuple[str, ...], folded: str) -> bool:
    """Whether a folded text holds one of the stems; without stems every text may match."""
    for stem in stems:  # thousands of looks a context: `any` with a generator takes three times as long
        if stem in folded:
            return True
    return not stems
