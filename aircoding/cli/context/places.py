"""Segments, and stretches of them, as a person would write where they come from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aircoding.records.source_names import lines_of, plain_uri

if TYPE_CHECKING:
    from aircoding.records.manifest import SegmentRecord

__all__ = ["shown_place", "shown_section"]


def shown_place(record: SegmentRecord, last: SegmentRecord | None = None) -> str:
    """Return where a segment, or a stretch of one source to `last`, comes from: `PATH:FIRST-LAST`, if it has lines."""
    source = record.source
    return lines_of(source.uri, source.start_line, (last or record).source.end_line)


def shown_section(segment_id: str) -> str:
    """Return a segment's source and section as a person would write them."""
    return plain_uri(segment_id.partition(":")[2].rpartition("@")[0])
