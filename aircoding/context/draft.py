"""The value that the stages of an assembly hand on, and what they note as they act."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from aircoding.records.conflicts import Conflict
from aircoding.records.layers import Form, OutcomeKind, Reason, Scope, Trust
from aircoding.records.manifest import OutcomeRecord, Overflow
from aircoding.records.segments import Segment, place_of
from aircoding.records.snapshot import Snapshot

__all__ = ["Draft", "Item", "Note", "Stage", "begin", "outcome"]

Note = OutcomeRecord | Conflict


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
    """Return the draft in which every candidate waits; what an epoch has sent already is taken out after selection.

    The order is by segment id, which no directory listing can change. External text may not
    stand in `system` (DESIGN section 2), so it waits with session scope.
    """
    candidates = sorted(map(_placed, snapshot.segments), key=lambda segment: segment.segment_id)
    return Draft(snapshot, tuple(candidates if snapshot.frozen is None else _newest(candidates)))


def _newest(candidates: list[Segment]) -> Iterator[Segment]:
    """Leave out a frozen text of the run where the session has a newer one of the same place: the prefix holds it."""
    own = {place_of(one.segment_id) for one in candidates if one.scope is Scope.SESSION}
    shared = {Scope.FLEET, Scope.RUN}
    return (one for one in candidates if one.scope not in shared or place_of(one.segment_id) not in own)


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
