"""Stage 3, precede: rules of one identity yield to the later level; equal texts stand once."""

from __future__ import annotations

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
    unique, copies = _split_copies(kept)
    return draft.with_items(unique), (*notes, *copies)


def _split_copies(items: tuple[Item, ...]) -> tuple[tuple[Item, ...], tuple[Note, ...]]:
    """Keep the first of each group of rules with one text in one layer and scope.

    Across scopes a copy stays: what the run froze may be gone by now, and the session's own text is what holds.
    """
    first_with: dict[tuple[str, str, str], Item] = {}
    kept: list[Item] = []
    notes: list[Note] = []
    for item in sorted(items, key=lambda item: (item.segment.level, item.segment.segment_id)):
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
