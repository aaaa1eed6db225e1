"""What a person's ruling does to a conflict, to the segment that loses, and what the session is told of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from aircoding.context.conflicts.naming import unversioned
from aircoding.context.conflicts.user_rules import Contradiction
from aircoding.context.draft import Draft, Item, Note, outcome
from aircoding.context.tokens import estimate_tokens
from aircoding.records.conflicts import Conflict, ConflictKind, Ruling
from aircoding.records.digests import sha256_text
from aircoding.records.ids import SegmentId
from aircoding.records.layers import Form, Layer, OutcomeKind, Reason, Scope, SegmentKind, Trust
from aircoding.records.segments import Segment, Source, place_of
from aircoding.rules.sentences import is_one_statement

__all__ = ["apply_ruling", "may_rule", "ruling_words", "settle"]

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


def ruling_words(conflict: Conflict, ruling: Ruling) -> str:
    """Return what a prompt that holds both parties says of a ruling: who ruled on what, and which of the two holds.

    The detail of a conflict between two texts quotes both sentences, in the order of its parties.
    """
    place = next((place for place, party in enumerate(conflict.parties) if _is_party(ruling.winner, party)), None)
    if place is None:
        holds = ""
    elif conflict.kind is ConflictKind.USER_RULE:
        this, that = ("first", "second") if place == 0 else ("second", "first")
        holds = f"The {this} of the two holds, the {that} does not. "
    else:
        holds = f"{unversioned(conflict.parties[place])} holds. "
    return f"{ruling.ruled_by} ruled on a contradiction {conflict.detail}. {holds}{ruling.ruling}"


def settle(draft: Draft, contradictions: Iterable[Contradiction]) -> tuple[Draft, tuple[Note, ...]]:
    """Apply what people ruled on contradictions between texts; return the conflicts among the notes.

    A rule that lost is taken out where it says nothing else, is not required, and is no text that other workers share
    under way: text that all of them have yields only to text that all have, by a ruling from before the run. Else both
    texts stay, and the session is told which sentence does not hold.
    """
    rulings = {ruling.conflict_id: ruling for ruling in draft.snapshot.rulings}
    found = [
        replace(one, conflict=apply_ruling(one.conflict, rulings.get(one.conflict.conflict_id)))
        for one in contradictions
    ]
    out: dict[str, tuple[Conflict, Segment]] = {}
    for one in found:
        ruling = rulings.get(one.conflict.conflict_id)
        for loser, winner in (one.pair, one.pair[::-1]):
            if ruling is not None and _is_party(ruling.winner, winner.segment_id) and _yields(loser, winner, ruling):
                out[loser.segment_id] = (one.conflict, winner)
    # Of two texts of which one is out, nobody needs to hear that both stand; the ruling that took it out is on record.
    standing = [one for one in found if not any(segment.segment_id in out for segment in one.pair)]
    listed = {one.conflict.conflict_id for one in standing} | {conflict.conflict_id for conflict, _ in out.values()}
    told = [
        _told(one.conflict, rulings[one.conflict.conflict_id], draft)
        for one in standing
        if one.conflict.conflict_id in rulings and not _is_told(one.conflict, rulings[one.conflict.conflict_id], draft)
    ]
    kept = (item for item in draft.items if item.segment.segment_id not in out)
    notes = (_lost(item, *out[item.segment.segment_id]) for item in draft.items if item.segment.segment_id in out)
    conflicts = (one.conflict for one in found if one.conflict.conflict_id in listed)
    return draft.with_items((*kept, *told)), (*notes, *conflicts)


def _yields(loser: Segment, winner: Segment, ruling: Ruling) -> bool:
    if loser.kind not in _YIELDS or loser.segment_id == winner.segment_id:
        return False
    if loser.required or not is_one_statement(loser.text):
        return False
    return loser.scope not in _SHARED or (winner.scope in _SHARED and ruling.before_run)


def _is_told(conflict: Conflict, ruling: Ruling, draft: Draft) -> bool:
    """Whether the session has heard of the ruling, or hears of it as news of a conflict that it knew (`changes`)."""
    frozen = draft.snapshot.frozen
    if frozen is None:
        return False
    sent = frozen.context
    if any(place_of(one.segment_id) == _place(conflict, ruling) for one in sent.manifest.segments):
        return True
    last = next((old for old in reversed(sent.conflicts) if old.conflict_id == conflict.conflict_id), None)
    return last is not None and apply_ruling(last, ruling) != last


def _place(conflict: Conflict, ruling: Ruling) -> str:
    return f"L7:air:conflict/{conflict.conflict_id}#{ruling.ruled_at}"


def _told(conflict: Conflict, ruling: Ruling, draft: Draft) -> Item:
    text = ruling_words(conflict, ruling)
    digest = sha256_text(text)
    segment = Segment(
        segment_id=SegmentId(f"{_place(conflict, ruling)}@{digest[:8]}"),
        layer=Layer.L7,
        scope=Scope.SESSION,
        trust=Trust.USER,
        kind=SegmentKind.DECISION,
        source=Source(uri=f"air:conflict/{conflict.conflict_id}", digest=digest, text_digest=digest),
        text=text,
        title="Rulings",
        required=True,
    )
    return Item(segment, Form.WHOLE, text, estimate_tokens(text, draft.snapshot.estimator), "ruling")


def _lost(item: Item, conflict: Conflict, winner: Segment) -> Note:
    detail = f"{conflict.ruled_by} ruled that {winner.source.uri} holds: {conflict.ruling}"
    by = f"ruling:{conflict.conflict_id}"
    return outcome(item.segment, OutcomeKind.OVERRIDDEN, Reason.OVERRIDDEN, detail, tokens=item.tokens, by=by)
