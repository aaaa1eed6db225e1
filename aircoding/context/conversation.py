"""Recorded messages as they enter a request: append-only, each block owned by one segment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from aircoding.context.draft import Item, found_words, suspicion
from aircoding.context.layout import Layout
from aircoding.context.tokens import estimate_tokens
from aircoding.records.digests import canonical_json, sha256_bytes
from aircoding.records.ids import SegmentId
from aircoding.records.layers import Form, Layer, OutcomeKind, Reason, Scope, SegmentKind, Trust
from aircoding.records.manifest import OutcomeRecord, SegmentRecord, Span
from aircoding.records.segments import Segment, Source
from aircoding.records.selections import CONVERSATION
from aircoding.records.snapshot import Estimator, Message, ScreenedBlock, Snapshot

__all__ = ["append_message", "screening_outcomes"]

_KIND_OF_BLOCK = {
    "tool_use": (Layer.L8, SegmentKind.TOOL_CALL, Trust.AGENT),
    "tool_result": (Layer.L8, SegmentKind.TOOL_RESULT, Trust.EXTERNAL),
    "thinking": (Layer.L7, SegmentKind.MESSAGE, Trust.AGENT),
    "redacted_thinking": (Layer.L7, SegmentKind.MESSAGE, Trust.AGENT),
}


def append_message(
    messages: list[dict[str, Any]],
    message: Message,
    layout: Layout,
    estimator: Estimator,
    *,
    without: frozenset[str] = frozenset(),
) -> None:
    """Append one recorded message and account for each of its blocks, under the number that it has on record.

    Args:
        messages: is changed in place.
        message: as it was recorded.
        layout: the account.
        estimator: for the tokens of the blocks.
        without: types of blocks that are left out; a message of nothing else leaves none.
    """
    kept = [(number, dict(block)) for number, block in enumerate(message.content) if block["type"] not in without]
    if not kept:
        return
    position = len(messages)
    messages.append({"role": message.role, "content": [block for _, block in kept]})
    for place, (number, block) in enumerate(kept):
        pointer = f"/messages/{position}/content/{place}"
        layout.own(_item(message, number, block, estimator), _spans(pointer, block))


def screening_outcomes(snapshot: Snapshot, appended: Iterable[SegmentRecord]) -> tuple[OutcomeRecord, ...]:
    """Return what screening did to the blocks that were appended, under the name of the source that each came from.

    Lines that were withheld are out of the record before it is made, so no tokens of them are counted.
    """
    by_uri = {block.uri: block for block in snapshot.screened}
    return tuple(
        _screened(record, block) for record in appended if (block := by_uri.get(record.source.uri)) is not None
    )


def _screened(record: SegmentRecord, block: ScreenedBlock) -> OutcomeRecord:
    hits = tuple(one for one in block.findings if one.blocks)
    return OutcomeRecord(
        segment_id=record.segment_id,
        uri=block.source_uri,
        layer=record.layer,
        outcome=OutcomeKind.QUARANTINED if hits else OutcomeKind.INCLUDED,
        reason=Reason.QUARANTINED if hits else None,
        detail=f"in a tool's result: {found_words(hits) or suspicion(block.findings)}",
        tokens=0 if hits else record.tokens,
        by=hits[0].code if hits else CONVERSATION,
    )


def _item(message: Message, number: int, block: Mapping[str, Any], estimator: Estimator) -> Item:
    layer, kind, trust = _KIND_OF_BLOCK.get(str(block["type"]), _spoken(message))
    text = block["text"] if block["type"] == "text" else canonical_json(block).decode("utf-8")
    digest = sha256_bytes(text.encode("utf-8"))
    uri = f"{message.uri}/block/{number}"
    segment = Segment(
        segment_id=SegmentId(f"{layer}:{uri}@{digest[:8]}"),
        layer=layer,
        scope=Scope.TURN,
        trust=trust,
        kind=kind,
        source=Source(uri=uri, digest=digest, text_digest=digest),
        text=text,
        recency=message.index,
    )
    return Item(segment, Form.WHOLE, text, estimate_tokens(text, estimator), CONVERSATION)


def _spoken(message: Message) -> tuple[Layer, SegmentKind, Trust]:
    """What a plain text is: the agent's words, or the harness's own notice in a user or system turn."""
    if message.role == "assistant":
        return Layer.L7, SegmentKind.MESSAGE, Trust.AGENT
    return Layer.L9, SegmentKind.NOTICE, Trust.BUILTIN


def _spans(pointer: str, block: Mapping[str, Any]) -> tuple[Span, ...]:
    """Return the spans of a block: its text, or its node, and the texts inside a tool result."""
    if block["type"] == "text":
        return (Span(f"{pointer}/text", 0, len(str(block["text"]).encode("utf-8"))),)
    spans = [Span(pointer)]
    inner = block.get("content")
    if block["type"] == "tool_result" and isinstance(inner, (list, tuple)):
        for number, part in enumerate(inner):
            if part.get("type") == "text":
                size = len(str(part["text"]).encode("utf-8"))
                spans.append(Span(f"{pointer}/content/{number}/text", 0, size))
    return tuple(spans)
