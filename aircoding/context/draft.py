"""The value that the stages of an assembly hand on, and what they note as they act."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from aircoding.records.conflicts import Conflict
from aircoding.records.layers import Form, OutcomeKind, Reason, Scope, Trust
from aircoding.records.manifest import OutcomeRecord, Overflow
from aircoding.records.segments import REMOVED, Barred, Finding, Segment, place_of
from aircoding.records.snapshot import Snapshot

__all__ = ["Draft", "Item", "Note", "Stage", "begin", "found_words", "outcome", "suspicion"]

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
    places = (place_of(one.segment_id) for one in snapshot.segments if one.scope not in _SHARED)
    own = {place.removesuffix(REMOVED) for place in places}
    waiting = (
        _placed(one, newer=place_of(one.segment_id) in own)
        for one in snapshot.segments
        # The shared prefix holds the frozen text; within an epoch it is settled, and the newer one counts.
        if snapshot.frozen is None or one.scope not in _SHARED or place_of(one.segment_id) not in own
    )
    return Draft(snapshot, tuple(sorted(waiting, key=lambda segment: segment.segment_id)))


_SHARED = frozenset({Scope.FLEET, Scope.RUN})
_NEWER = Barred(
    outcome=OutcomeKind.OVERRIDDEN,
    reason=Reason.OVERRIDDEN,
    detail="its source changed after the run's text was frozen, and the session has the newer text",
)


def _placed(segment: Segment, *, newer: bool) -> Segment:
    """Move external text of a shared scope to the session, where a newer text of the same place needs no old one."""
    if segment.trust is not Trust.EXTERNAL or segment.scope not in _SHARED:
        return segment
    moved = replace(segment, scope=Scope.SESSION)
    return replace(moved, barred=_NEWER) if newer and segment.barred is None else moved


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


def found_words(findings: Iterable[Finding]) -> str:
    """Return the details of findings: which rule, at which lines of the text."""
    return "; ".join(f"{one.code} at lines {one.start_line}-{one.end_line}" for one in findings)


def suspicion(findings: tuple[Finding, ...]) -> str:
    """Return the detail of what is in although something suspicious was found in it; empty when nothing was."""
    return f"suspicious: {found_words(findings)}" if findings else ""
