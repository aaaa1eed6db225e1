"""Which segment owns which bytes of a request. Pure."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from aircoding.records.manifest import Manifest, SegmentRecord

__all__ = ["Ownership", "Stretch"]

Stretch = tuple[int, int, SegmentRecord]
"""Start, end (byte offsets in the text of a block), owner."""


class Ownership:
    """The spans of a manifest, sorted once, so that each question about a byte takes no walk over all of them."""

    def __init__(self, manifest: Manifest) -> None:
        self._spans: dict[str, list[Stretch]] = {one.block: [] for one in manifest.layout}
        self._nodes: dict[str, SegmentRecord] = {}
        for record in manifest.segments:
            for span in record.spans:
                if span.start is None or span.end is None:
                    self._nodes[span.block] = record
                elif span.start < span.end:
                    self._spans.setdefault(span.block, []).append((span.start, span.end, record))
        for stretches in self._spans.values():
            stretches.sort(key=lambda one: one[:2])

    def stretches(self, block: str) -> Sequence[Stretch] | None:
        """Return what segments own of a text, in order, the rest is layout; None: it belongs to a whole node."""
        return self._spans.get(block)

    def node(self, block: str) -> SegmentRecord | None:
        """Return the owner of the whole node at or around a pointer."""
        while block and block not in self._nodes:
            block = block.rpartition("/")[0]
        return self._nodes.get(block)

    def at(self, block: str, offset: int) -> SegmentRecord | None:
        """Return the owner of a byte; None: it is layout."""
        stretches = self._spans.get(block)
        if stretches is None:
            return self.node(block)
        found = bisect_right(stretches, offset, key=lambda one: one[0]) - 1
        return stretches[found][2] if found >= 0 and offset < stretches[found][1] else None
