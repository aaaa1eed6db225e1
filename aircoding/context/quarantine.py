"""Stage 2, screen: apply the findings in the snapshot; a hit takes out its segment, not the file around it."""

from __future__ import annotations

from dataclasses import replace

from aircoding.context.draft import Draft, Item, Note, found_words, outcome
from aircoding.context.tokens import estimate_tokens
from aircoding.records.layers import OutcomeKind, Reason, Trust
from aircoding.records.segments import Finding, Segment
from aircoding.screening.withholding import blocked_mark

__all__ = ["screen"]


def screen(draft: Draft) -> tuple[Draft, tuple[Note, ...]]:
    """Replace each segment that a blocking finding hit by a line that says so (DESIGN section 7)."""
    items: list[Item] = []
    notes: list[Note] = []
    for item in draft.items:
        hits = tuple(finding for finding in item.segment.findings if finding.blocks)
        if not hits or item.segment.trust is Trust.BUILTIN:
            items.append(item)
            continue
        text = _blocked_line(item.segment, hits)
        tokens = estimate_tokens(text, draft.snapshot.estimator)
        detail = found_words(hits)
        items.append(replace(item, text=text, tokens=tokens, segment=_without_smaller_forms(item.segment)))
        notes.append(
            outcome(
                item.segment, OutcomeKind.QUARANTINED, Reason.QUARANTINED, detail, tokens=item.tokens, by=hits[0].code
            )
        )
    return draft.with_items(tuple(items)), tuple(notes)


def _blocked_line(segment: Segment, hits: tuple[Finding, ...]) -> str:
    first = (segment.source.start_line or 1) - 1
    return blocked_mark(hits[0].kind, segment.source.uri, first + hits[0].start_line, first + hits[-1].end_line)


def _without_smaller_forms(segment: Segment) -> Segment:
    """A blocked segment is one short line; its excerpt would carry the blocked text."""
    return replace(segment, excerpt=None, reference=None)
