"""The value that the stages of an assembly hand on, and what they note as they act."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from aircoding.records.conflicts import Conflict
from aircoding.records.layers import Form, OutcomeKind, Reason, Scope, SegmentKind, Trust
from aircoding.records.manifest import OutcomeRecord, Overflow
from aircoding.records.segments import Segment
from aircoding.records.snapshot import Snapshot

__all__ = ["Draft", "Item", "Note", "Stage", "begin", "outcome"]

Note = OutcomeRecord | Conflict

_NOT_YET = frozenset({Reason.PATH_NOT_MATCHED, Reason.TAG_NOT_MATCHED})
"""Reasons that a later path or tag can lift within an epoch."""


@dataclass(frozen=True, slots=True)
class Item:
    """A segment that is still in, the form that it has now, and the text that this form carries."""

    segment: Segment
    form: Form
    text: str
    tokens: int
    selected_by: str


@dataclass(frozen=True, slots=True)
class Draft:
    """What is in so far. `waiting` are candidates that no stage has judged yet."""

    snapshot: Snapshot
    waiting: tuple[Segment, ...]
    items: tuple[Item, ...] = ()
    overflow: Overflow | None = None

    def with_items(self, items: tuple[Item, ...]) -> Draft:
        """Return the draft with other items."""
        return replace(self, items=items)


Stage = Callable[[Draft], tuple[Draft, tuple[Note, ...]]]


def begin(snapshot: Snapshot) -> Draft:
    """Return the draft in which each candidate that this epoch has not judged yet waits.

    The order is by segment id, which no directory listing can change. External text may not
    stand in `system` (DESIGN section 2), so it waits with session scope.
    """
    candidates = sorted(map(_placed, snapshot.segments), key=lambda segment: segment.segment_id)
    if snapshot.frozen is None:
        return Draft(snapshot, tuple(candidates))
    manifest = snapshot.frozen.context.manifest
    known = {(record.layer, record.source.uri, record.rule_id) for record in manifest.segments}
    # What lost, doubled, or was cut when the epoch began stays out of it: only what no path or tag had named can come.
    settled = {note.segment_id for note in manifest.outcomes if note.reason not in _NOT_YET}
    late = (
        segment
        for segment in candidates
        if segment.kind is SegmentKind.RULE
        and segment.scope is Scope.SESSION
        and (segment.layer, segment.source.uri, segment.rule_id) not in known
        and segment.segment_id not in settled
        and (segment.paths or segment.tags)
    )
    return Draft(snapshot, tuple(late))


def _placed(segment: Segment) -> Segment:
    if segment.trust is Trust.EXTERNAL and segment.scope in {Scope.FLEET, Scope.RUN}:
        return replace(segment, scope=Scope.SESSION)
    return segment


def outcome(
    segment: Segment, kind: OutcomeKind, reason: Reason | None, detail: str, *, tokens: int, by: str
) -> OutcomeRecord:
    """Return the record of what became of a segment."""
    return OutcomeRecord(
        segment_id=segment.segment_id,
        uri=segment.source.uri,
        layer=segment.layer,
        outcome=kind,
        reason=reason,
        detail=detail,
        tokens=tokens,
        by=by,
        rule_id=segment.rule_id,
    )
