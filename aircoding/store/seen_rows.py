"""Rows of segments and outcomes as the values that are told; without pydantic, whose start costs more than a page."""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import Row, select

from aircoding.errors import StoreError
from aircoding.records.ids import Digest, SegmentId
from aircoding.records.layers import Form, Layer, OutcomeKind, Reason, Scope, SegmentKind, Trust
from aircoding.records.manifest import OutcomeRecord, SegmentRecord, Span
from aircoding.records.seen import SeenOutcome, SeenSegment
from aircoding.records.segments import Source
from aircoding.store.accounts import ASSEMBLIES, OUTCOME_USES, OUTCOMES, SEGMENT_USES, SEGMENTS, segment_names

__all__ = ["SEEN_OUTCOMES", "SEEN_SEGMENTS", "outcome_record", "seen_outcome", "seen_segment"]


_PLACE = ("manifest_id", "run_id", "session_id", "task_id", "attempt", "role", "turn")
_PLACE_COLUMNS = tuple(ASSEMBLIES.c[name].label(f"at_{name}") for name in _PLACE)

SEEN_SEGMENTS = (
    select(SEGMENTS, SEGMENT_USES.c.spans, *_PLACE_COLUMNS)
    .join(SEGMENT_USES, SEGMENT_USES.c.segment == SEGMENTS.c.segment)
    .join(ASSEMBLIES, ASSEMBLIES.c.assembly == SEGMENT_USES.c.assembly)
    .order_by(ASSEMBLIES.c.assembly, SEGMENT_USES.c.position)
)
SEEN_OUTCOMES = (
    select(OUTCOMES, *_PLACE_COLUMNS)
    .join(OUTCOME_USES, OUTCOME_USES.c.outcome_row == OUTCOMES.c.outcome_row)
    .join(ASSEMBLIES, ASSEMBLIES.c.assembly == OUTCOME_USES.c.assembly)
    .order_by(ASSEMBLIES.c.assembly, OUTCOME_USES.c.position)
)


def seen_segment(found: Row[Any]) -> SeenSegment:
    """Return a segment with its place, from a row of `SEEN_SEGMENTS`.

    Raises:
        StoreError: the row is damaged, or of a newer version.
    """
    return SeenSegment(**_place(found), record=_segment(found, found.spans))


def seen_outcome(found: Row[Any]) -> SeenOutcome:
    """Return an outcome with its place, from a row of `SEEN_OUTCOMES`.

    Raises:
        StoreError: the row is damaged, or of a newer version.
    """
    return SeenOutcome(**_place(found), record=outcome_record(found))


def _place(found: Row[Any]) -> dict[str, Any]:
    return {name: getattr(found, f"at_{name}") for name in _PLACE}


def _segment(found: Row[Any], spans: str) -> SegmentRecord:
    segment_id, source_digest = segment_names(found)
    try:
        return SegmentRecord(
            segment_id=SegmentId(segment_id),
            layer=Layer(found.layer),
            scope=Scope(found.scope),
            trust=Trust(found.trust),
            kind=SegmentKind(found.kind),
            source=Source(
                uri=found.uri,
                digest=Digest(source_digest),
                text_digest=Digest(found.text_digest),
                start_line=found.start_line,
                end_line=found.end_line,
                revision=found.revision,
            ),
            rule_id=found.rule_id,
            required=bool(found.required),
            form=Form(found.form),
            tokens=found.tokens,
            spans=tuple(Span(block, start, end) for block, start, end in json.loads(spans)),
            selected_by=found.selected_by,
        )
    except ValueError as error:
        raise _damaged(f"The segment {segment_id}", error) from None


def outcome_record(found: Row[Any]) -> OutcomeRecord:
    """Return an outcome from its row.

    Raises:
        StoreError: the row is damaged.
    """
    try:
        return OutcomeRecord(
            segment_id=SegmentId(found.segment_id),
            uri=found.uri,
            layer=Layer(found.layer),
            outcome=OutcomeKind(found.outcome),
            reason=None if found.reason is None else Reason(found.reason),
            detail=found.detail,
            tokens=found.tokens,
            by=found.decided_by,
            rule_id=found.rule_id,
        )
    except ValueError as error:
        raise _damaged(f"The outcome of {found.segment_id}", error) from None


def _damaged(what: str, error: ValueError) -> StoreError:
    return StoreError(
        f"{what} cannot be read: {error}",
        hint="The row is damaged or was written by a newer version; see `aircoding doctor`.",
        code="store.damaged",
    )
