"""Evidence conflicts: a summary, excerpt or finding that its file has outlived."""

from __future__ import annotations

from aircoding.context.conflicts.naming import conflict_id, source_place
from aircoding.context.draft import Draft, Item, Note, outcome
from aircoding.records.conflicts import Conflict, ConflictKind, Route
from aircoding.records.layers import OutcomeKind, Reason, SegmentKind
from aircoding.records.segments import Segment
from aircoding.records.snapshot import Snapshot

__all__ = ["split_stale"]

_CLAIMS = frozenset({SegmentKind.SUMMARY, SegmentKind.FILE, SegmentKind.FINDING, SegmentKind.ARTIFACT})


def split_stale(draft: Draft) -> tuple[tuple[Item, ...], tuple[Conflict, ...], tuple[Note, ...]]:
    """Return the items that still hold, the conflicts of the others, and what became of those."""
    kept: list[Item] = []
    conflicts: list[Conflict] = []
    notes: list[Note] = []
    for item in draft.items:
        claim = _outlived(item.segment, draft.snapshot)
        if claim is None:
            kept.append(item)
            continue
        detail = f"{item.segment.source.uri} was made from a version of {claim} that is no more"
        notes.append(outcome(item.segment, OutcomeKind.OMITTED, Reason.STALE, detail, tokens=item.tokens, by=claim))
        conflicts.append(
            Conflict(
                conflict_id=conflict_id(ConflictKind.EVIDENCE, source_place(item.segment), claim),
                kind=ConflictKind.EVIDENCE,
                parties=(item.segment.segment_id, claim),
                subject=claim,
                detail=detail,
                ruling="the file as it is now holds",
                winner=claim,
                route=Route.EXPERIENCE_MINER,
                blocking=False,
                ruled_by="evidence",
            )
        )
    return tuple(kept), tuple(conflicts), tuple(notes)


def _outlived(segment: Segment, snapshot: Snapshot) -> str | None:
    """Return the uri whose file differs from what the segment was made from.

    A file that is as the session itself last read or wrote it is no surprise to the session.
    """
    if segment.kind not in _CLAIMS:
        return None
    digests, baselines = snapshot.digests, snapshot.baselines
    return next(
        (
            claim.uri
            for claim in segment.claims
            if claim.uri in digests
            and digests[claim.uri] != claim.digest
            and baselines.get(claim.uri) != digests[claim.uri]
        ),
        None,
    )
