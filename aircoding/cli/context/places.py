"""Sources, lines and sections as a person writes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aircoding.records.manifest import SegmentRecord

__all__ = ["plain_uri", "shown_place", "shown_section"]


def plain_uri(uri: str) -> str:
    """Return a source as a person would write it: a path of the project without its scheme."""
    return uri.removeprefix("project:")


def shown_place(record: SegmentRecord, last: SegmentRecord | None = None) -> str:
    """Return where a segment, or a stretch of one source to `last`, comes from: `PATH:FIRST-LAST`, if it has lines."""
    source, end_line = record.source, (last or record).source.end_line
    if source.start_line is None or end_line is None:
        return plain_uri(source.uri)
    return f"{plain_uri(source.uri)}:{source.start_line}-{end_line}"


def shown_section(segment_id: str) -> str:
    """Return a segment's source and section as a person would write them."""
    return plain_uri(segment_id.partition(":")[2].rpartition("@")[0])
