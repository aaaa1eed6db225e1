"""The first turn of an epoch: every scope is rendered in place."""

from __future__ import annotations

from aircoding.context.conversation import append_message, screening_outcomes
from aircoding.context.draft import Draft, Item, Note, outcome
from aircoding.context.fitting import window_overflow
from aircoding.context.layout import Layout, append_operator_words, first_message, system_blocks, tool_nodes
from aircoding.context.manifest import included, seal
from aircoding.context.marks import Request
from aircoding.context.omissions import omission_note
from aircoding.context.tokens import estimate_tokens
from aircoding.errors import InternalError
from aircoding.records.conflicts import Conflict
from aircoding.records.digests import canonical_json, sha256_bytes
from aircoding.records.ids import SegmentId
from aircoding.records.layers import Form, Layer, OutcomeKind, Reason, Scope, SegmentKind, Trust
from aircoding.records.manifest import AssembledContext, OutcomeRecord, Overflow, Span
from aircoding.records.segments import Segment, Source
from aircoding.records.snapshot import Message, Snapshot, ToolSpec

__all__ = ["open_epoch"]

_BOUND = frozenset({"thinking", "redacted_thinking"})
"""Blocks that are signed with everything before them: under another prefix they are invalid (preserved thinking,
2026-09), so an epoch that opens within a session leaves them out."""


def open_epoch(draft: Draft, notes: tuple[Note, ...]) -> AssembledContext | Overflow:
    """Return the request that opens an epoch: all scopes in place, then the turns that were recorded so far.

    An overflow when these turns and what must be kept are larger than the window.
    """
    snapshot, layout = draft.snapshot, Layout()
    note = omission_note(notes, snapshot.estimator)
    items = draft.items if note is None else (*draft.items, note)
    late = tuple(item for item in items if snapshot.messages and item.segment.kind is SegmentKind.STEERING)
    items = tuple(item for item in items if item not in late)
    tools = tool_nodes(snapshot.tools)
    for number, (tool, node) in enumerate(zip(sorted(snapshot.tools, key=lambda tool: tool.name), tools, strict=True)):
        layout.own(_tool_item(tool, node, snapshot), (Span(f"/tools/{number}"),))
    system, fleet_blocks = system_blocks(items, layout)
    first, session_blocks = first_message(items, layout)
    request = Request(tools, system, [] if first is None else [first])
    left_out: list[OutcomeRecord] = []
    for message in snapshot.messages:
        append_message(request.messages, message, layout, snapshot.estimator, without=_BOUND)
        left_out += _bound_blocks(message, snapshot)
    append_operator_words(request, late, layout, system_turns=snapshot.limits.system_turns)
    _require_all(items, layout)
    if (overflow := window_overflow(snapshot, layout.segments)) is not None:
        return overflow
    scope_ends = [
        *([f"/system/{fleet_blocks - 1}"] if fleet_blocks else []),
        *([f"/system/{len(system) - 1}"] if len(system) > fleet_blocks else []),
        *([f"/messages/0/content/{session_blocks - 1}"] if session_blocks else []),
    ]
    noted = tuple(part for part in notes if isinstance(part, OutcomeRecord))
    screened = screening_outcomes(snapshot, layout.segments)
    outcomes = (*noted, *left_out, *screened, *included((*items, *late), noted))
    conflicts = tuple(part for part in notes if isinstance(part, Conflict))
    return seal(snapshot, request, layout, scope_ends, outcomes=outcomes, conflicts=conflicts)


def _require_all(items: tuple[Item, ...], layout: Layout) -> None:
    """What is let in stands in the request: a text without a place would be lost in silence."""
    placed = {record.segment_id for record in layout.segments}
    lost = [item.segment.segment_id for item in items if item.segment.segment_id not in placed]
    if lost:
        raise InternalError(f"no place of the request takes {', '.join(lost[:3])}")


def _bound_blocks(message: Message, snapshot: Snapshot) -> list[OutcomeRecord]:
    return [
        _left_out(message, number, canonical_json(block).decode("utf-8"), snapshot)
        for number, block in enumerate(message.content)
        if block["type"] in _BOUND
    ]


def _left_out(message: Message, number: int, text: str, snapshot: Snapshot) -> OutcomeRecord:
    segment = _segment(Layer.L7, Scope.TURN, Trust.AGENT, SegmentKind.MESSAGE, f"{message.uri}/block/{number}", text)
    detail = "thinking is bound to the prefix that it was made under, and a new epoch has another"
    tokens = estimate_tokens(text, snapshot.estimator)
    return outcome(segment, OutcomeKind.OMITTED, Reason.STALE, detail, tokens=tokens, by="epoch")


def _tool_item(tool: ToolSpec, node: dict[str, object], snapshot: Snapshot) -> Item:
    text = canonical_json(node).decode("utf-8")
    uri, trust = (tool.uri, Trust.USER) if tool.uri else (f"resource:tools/{tool.name}.yaml", Trust.BUILTIN)
    segment = _segment(Layer.L1, Scope.FLEET, trust, SegmentKind.TOOL, uri, text, required=True)
    return Item(segment, Form.WHOLE, text, estimate_tokens(text, snapshot.estimator), "tools")


def _segment(
    layer: Layer, scope: Scope, trust: Trust, kind: SegmentKind, uri: str, text: str, *, required: bool = False
) -> Segment:
    digest = sha256_bytes(text.encode("utf-8"))
    return Segment(
        segment_id=SegmentId(f"{layer}:{uri}@{digest[:8]}"),
        layer=layer,
        scope=scope,
        trust=trust,
        kind=kind,
        source=Source(uri=uri, digest=digest, text_digest=digest),
        text=text,
        required=required,
    )
