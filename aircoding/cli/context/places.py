"""Sources, lines and sections as a person writes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aircoding.records.manifest import SegmentRecord

__all__ = ["plain_uri", "shown_place", "shown_section"]


def plain_uri(uri: str) -> str:
    """Return a source as a person would write it: a path of the project without its scheme."""
    return uri.removeprefix("project:")


def shown_place(record: SegmentRecord) -> str:
    """Return where a segment comes from: `PATH:FIRST-LAST`, where it has lines."""
    source = record.source
    if source.start_line is None:
        return plain_uri(source.uri)
    return f"{plain_uri(source.uri)}:{source.start_line}-{source.end_line}"


def shown_section(segment_id: str) -> str:
    """Return a segment's source and section as a person would write them."""
    return plain_uri(segment_id.partition(":")[2].rpartition("@")[0])
