"""Mask known values in a text that comes in pieces: what may be the beginning of one is held back. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable

from aircoding.screening.known_values import KnownValues
from aircoding.screening.markers import MARKER, clear_of_markers, joined, mask_spans

__all__ = ["StreamMask", "mask_known"]

_WORD = "[REDACTED:"
_OPEN_MARKER = re.compile(
    rf"(?:{'|'.join(re.escape(_WORD[:size]) for size in range(len(_WORD) - 1, 0, -1))}"
    r"|\[REDACTED:[a-z0-9_]{0,32}(?::[0-9a-f]{0,8})?)\Z"
)
"""An end of a text that may be the beginning of a marker."""
_MARKER_ROOM = 64


def mask_known(text: str, known: KnownValues, key: bytes) -> str:
    """Return a whole text with its known values masked; markers are left alone."""
    found = sorted(known.find(text), key=lambda span: span.start)
    if not found:
        return text
    return mask_spans(text, joined(clear_of_markers(found, [match.span() for match in MARKER.finditer(text)])), key)


class StreamMask:
    """Masks pieces as they come; together they are what `mask_known` makes of the whole, however it is cut.

    Args:
        known: the values.
        key: gives the key under which their ids are made; asked when there is one to make.
    """

    def __init__(self, known: KnownValues, key: Callable[[], bytes]) -> None:
        self._known, self._key, self._held = known, key, ""

    def feed(self, piece: str) -> str:
        """Return what can be said for certain after one more piece."""
        text = self._held + piece
        end = self._certain(text)
        self._held = text[end:]
        return self._masked(text[:end])

    def close(self) -> str:
        """Return what was held back: the text is at its end, or the reader must see all that there is."""
        held, self._held = self._held, ""
        return self._masked(held)

    def _masked(self, text: str) -> str:
        return mask_known(text, self._known, self._key()) if self._known.find(text) else text

    def _certain(self, text: str) -> int:
        """Return up to where no piece that follows can change what is masked."""
        end = self._known.open_end(text)
        marker = _OPEN_MARKER.search(text, max(0, len(text) - _MARKER_ROOM))
        if marker is not None:
            end = min(end, marker.start())
        whole = [match.span() for match in MARKER.finditer(text)]
        found = joined(clear_of_markers(sorted(self._known.find(text), key=lambda span: span.start), whole))
        for start, stop in sorted([*whole, *((span.start, span.end) for span in found)], reverse=True):
            if start < end < stop:
                end = start
        return end
