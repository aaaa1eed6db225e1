"""Character offsets of byte offsets in a text's UTF-8."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

__all__ = ["CharOffsets", "char_offsets"]


class CharOffsets:
    """Gives character offsets of byte offsets that only grow, in one pass over the text.

    Args:
        text: the text.
        data: its UTF-8, where a lone surrogate became one `?`.
    """

    def __init__(self, text: str, data: bytes) -> None:
        self._data, self._byte, self._char = data, 0, 0
        self._same = len(text) == len(data)

    def of(self, byte: int) -> int:
        """Return the character offset of a byte offset, not smaller than that of the call before."""
        if self._same:
            return byte
        self._char += len(self._data[self._byte : byte].decode("utf-8", "replace"))
        self._byte = byte
        return self._char


def char_offsets(text: str, data: bytes, byte_offsets: Iterable[int]) -> Mapping[int, int]:
    """Return the character offset of each byte offset."""
    places = CharOffsets(text, data)
    return {byte: places.of(byte) for byte in sorted(set(byte_offsets))}
