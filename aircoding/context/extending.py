"""A later turn of an epoch: what was sent stays, byte for byte; recorded turns and news are appended."""

from __future__ import annotations

from collections.abc import Iterable

from aircoding.context.changes import news_of
from aircoding.context.conversation import append_message, screening_outcomes
from aircoding.context.draft import Draft, Item, Note
from aircoding.context.fitting import window_overflow
from aircoding.context.layout import Layout, append_operator_words
from aircoding.context.manifest import included, seal
from aircoding.context.marks import Request, without_marks
from aircoding.records.conflicts import Conflict
from aircoding.records.layers import Scope, SegmentKind
from aircoding.records.manifest import AssembledContext, Manifest, OutcomeRecord, Overflow

__all__ = ["extend_epoch"]


def extend_epoch(draft: Draft, notes: tuple[Note, ...]) -> AssembledContext | Overflow:
    """Return the request that goes on where the frozen one ended, or an overflow of the turns."""
    snapshot, frozen = draft.snapshot, draft.snapshot.frozen
    assert frozen is not None  # noqa: S101 - the caller looked
    before, sent = frozen.context, frozen.context.manifest
    request = Request(without_marks(before.tools), without_marks(before.system), without_marks(before.messages))
    layout = Layout(list(sent.segments), list(sent.layout))
    for message in snapshot.messages[frozen.message_count :]:
        append_message(request.messages, message, layout, snapshot.estimator)
    screened = screening_outcomes(snapshot, layout.segments[len(sent.segments) :])
    noted = tuple(part for part in notes if isinstance(part, OutcomeRecord))
    news = news_of(snapshot, draft.items, noted)
    items = (*news.items, *_time(draft, news.items))
    append_operator_words(request, items, layout, system_turns=snapshot.limits.system_turns, changed=news.changed)
    if (overflow := window_overflow(snapshot, layout.segments)) is not None:
        return overflow
    fresh = _fresh((*noted, *news.outcomes), sent)
    found = (part for part in notes if isinstance(part, Conflict))
    return seal(
        snapshot,
        request,
        layout,
        [mark.mark for mark in sent.cache if _is_scope_end(mark.mark, sent)],
        outcomes=(*sent.outcomes, *fresh, *screened, *included(items, noted)),
        conflicts=(*sent.conflicts, *_new_conflicts(found, sent)),
    )


def _time(draft: Draft, news: tuple[Item, ...]) -> tuple[Item, ...]:
    """The time goes with what is said in a system turn, and is no news by itself (DESIGN section 2)."""
    if not news or not draft.snapshot.limits.system_turns:
        return ()
    return tuple(item for item in draft.items if item.segment.kind is SegmentKind.TIME)


def _is_scope_end(pointer: str, sent: Manifest) -> bool:
    """Whether a mark closes a shared scope: in `system`, or in the first message before what changes each turn."""
    if pointer.startswith("/system/"):
        return True
    owners = [record for record in sent.segments if record.spans[0].block.removesuffix("/text") == pointer]
    return pointer.startswith("/messages/0/") and bool(owners) and owners[-1].scope is Scope.SESSION


def _fresh(notes: Iterable[OutcomeRecord], sent: Manifest) -> tuple[OutcomeRecord, ...]:
    """A candidate that stays out for the same reason as before needs no second record; what was sent stays in."""
    standing = {record.segment_id for record in sent.segments}
    last = {old.segment_id: (old.outcome, old.reason) for old in sent.outcomes}
    return tuple(
        note
        for note in notes
        if note.segment_id not in standing and last.get(note.segment_id) != (note.outcome, note.reason)
    )


def _new_conflicts(found: Iterable[Conflict], sent: Manifest) -> tuple[Conflict, ...]:
    """A conflict is on record once, and once more when somebody has ruled on it."""
    last = {old.conflict_id: (old.state, old.winner) for old in sent.conflicts}
    return tuple(one for one in found if last.get(one.conflict_id) != (one.state, one.winner))
