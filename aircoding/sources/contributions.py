"""What plugins and hooks gave for a session, as segments of its own part of the prompt."""

from __future__ import annotations

from collections.abc import Iterable

from aircoding.records.hooks import Contribution
from aircoding.records.layers import Scope, SegmentKind
from aircoding.records.segments import Segment
from aircoding.sources.segments import Intake

__all__ = ["contributed_segments"]


def contributed_segments(contributed: Iterable[Contribution], *, intake: Intake) -> tuple[Segment, ...]:
    """Return a candidate for each text, masked and screened by its trust; it never stands in shared bytes."""
    return tuple(
        intake.segment(
            one.text,
            layer=one.layer,
            scope=Scope.SESSION,
            kind=SegmentKind.CONTEXT,
            trust=one.trust,
            uri=one.source_uri,
            title=f"Context from {one.source_uri}",
        )
        for one in contributed
    )
