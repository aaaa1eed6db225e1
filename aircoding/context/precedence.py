"""Stage 3, precede: rules of one identity yield to the later level; equal texts stand once."""

from __future__ import annotations

from collections.abc import Collection

from aircoding.context.draft import Draft, Item, Note, outcome
from aircoding.records.layers import OutcomeKind, Reason, SegmentKind
from aircoding.rules.precedence import resolve

__all__ = ["precede"]


def precede(draft: Draft) -> tuple[Draft, tuple[Note, ...]]:
    """Take out overridden rules and second copies; say who won and why."""
    # A rule of which only the blocked line is left rules nothing.
    rules = tuple(
        item.segment
        for item in draft.items
        if item.segment.kind is SegmentKind.RULE and not any(hit.blocks for hit in item.segment.findings)
    )
    notes: list[Note] = []
    gone: set[str] = set()
    tokens = {item.segment.segment_id: item.tokens for item in draft.items}
    for ruling in resolve(rules):
        gone.add(ruling.loser.segment_id)
        notes.append(
            outcome(
                ruling.loser,
                OutcomeKind.OVERRIDDEN,
                Reason.OVERRIDDEN,
                ruling.why,
                tokens=tokens[ruling.loser.segment_id],
                by=ruling.winner.source.uri,
            )
        )
    kept = tuple(item for item in draft.items if item.segment.segment_id not in gone)
    frozen = draft.snapshot.frozen
    sent = {one.segment_id for one in frozen.context.manifest.segments} if frozen is not None else set()
    unique, copies = _split_copies(kept, sent)
    return draft.with_items(unique), (*notes, *copies)


def _split_copies(items: tuple[Item, ...], sent: Collection[str]) -> tuple[tuple[Item, ...], tuple[Note, ...]]:
    """Keep the first of each group of rules with one text in one layer and scope; one that was sent stays the first.

    Across scopes a copy stays: what the run froze may be gone by now, and the session's own text is what holds.
    """
    first_with: dict[tuple[str, str, str], Item] = {}
    kept: list[Item] = []
    notes: list[Note] = []
    by_age = sorted(
        items, key=lambda one: (one.segment.segment_id not in sent, one.segment.level, one.segment.segment_id)
    )
    for item in by_age:
        segment = item.segment
        if segment.kind is not SegmentKind.RULE:
            kept.append(item)
            continue
        known = first_with.setdefault((segment.layer, segment.scope, segment.text.strip()), item)
        if known is item:
            kept.append(item)
            continue
        uri = known.segment.source.uri
        notes.append(
            outcome(
                segment,
                OutcomeKind.DUPLICATE,
                Reason.DUPLICATE,
                f"the same text stands in {uri}",
                tokens=item.tokens,
                by=uri,
            )
        )
    return tuple(sorted(kept, key=lambda item: item.segment.segment_id)), tuple(notes)
