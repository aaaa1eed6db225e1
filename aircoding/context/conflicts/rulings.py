"""What a person's ruling does to a conflict, and to the segment that loses."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from aircoding.context.conflicts.naming import unversioned
from aircoding.context.draft import Draft, Item, Note, outcome
from aircoding.records.conflicts import Conflict, ConflictKind, Ruling
from aircoding.records.layers import OutcomeKind, Reason, Scope, SegmentKind
from aircoding.records.segments import Segment

__all__ = ["apply_ruling", "may_rule", "overridden"]

_RULED = frozenset({ConflictKind.ARCHITECTURE, ConflictKind.USER_RULE, ConflictKind.PROVIDER})
_YIELDS = frozenset({SegmentKind.RULE, SegmentKind.MEMORY, SegmentKind.SKILL})
_SHARED = frozenset({Scope.FLEET, Scope.RUN})


def may_rule(kind: ConflictKind) -> bool:
    """Whether a person can rule on conflicts of a kind: a policy always holds, and so does a file as it is now."""
    return kind in _RULED


def apply_ruling(conflict: Conflict, ruling: Ruling | None) -> Conflict:
    """Return the conflict as it was ruled; no ruling lifts what a policy denies."""
    if ruling is None or not may_rule(conflict.kind):
        return conflict
    winner = next((party for party in conflict.parties if _is_party(ruling.winner, party)), conflict.winner)
    return replace(conflict, ruling=ruling.ruling, winner=winner, state="ruled", ruled_by=ruling.ruled_by)


def _is_party(named: str | None, party: str) -> bool:
    return named is not None and unversioned(named) == unversioned(party)


def _yields(loser: Segment, winner: Segment, ruling: Ruling) -> bool:
    if loser.kind not in _YIELDS or loser.segment_id == winner.segment_id:
        return False
    return loser.scope not in _SHARED or (winner.scope in _SHARED and ruling.before_run)


def overridden(
    draft: Draft, conflicts: Iterable[tuple[Conflict, tuple[Segment, Segment]]]
) -> tuple[Draft, tuple[Note, ...]]:
    """Take out rules that lost by a person's ruling.

    Text that all workers share yields only to text that all of them have, and only when the ruling was there before
    the run began: else the shared prefix would change under the others. Then both texts stay, the later one being
    nearer to the instruction.
    """
    rulings = {ruling.conflict_id: ruling for ruling in draft.snapshot.rulings}
    out: dict[str, tuple[Conflict, Segment]] = {}
    for conflict, pair in conflicts:
        ruling = rulings.get(conflict.conflict_id)
        if ruling is None or ruling.winner is None:
            continue
        for loser, winner in (pair, pair[::-1]):
            if _is_party(ruling.winner, winner.segment_id) and _yields(loser, winner, ruling):
                out[loser.segment_id] = (conflict, winner)
    kept: list[Item] = []
    notes: list[Note] = []
    for item in draft.items:
        if item.segment.segment_id not in out:
            kept.append(item)
            continue
        conflict, winner = out[item.segment.segment_id]
        detail = f"{conflict.ruled_by} ruled that {winner.source.uri} holds: {conflict.ruling}"
        notes.append(
            outcome(
                item.segment,
                OutcomeKind.OVERRIDDEN,
                Reason.OVERRIDDEN,
                detail,
                tokens=item.tokens,
                by=f"ruling:{conflict.conflict_id}",
            )
        )
    return draft.with_items(tuple(kept)), tuple(notes)
