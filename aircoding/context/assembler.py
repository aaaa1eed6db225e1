"""One assembly: a frozen snapshot in, a request and its manifest out, or an overflow (DESIGN section 3).

`assemble` is pure: the same snapshot gives the same bytes. The first turn of an epoch renders everything; a later
turn keeps what was sent, byte for byte, and appends.
"""

from __future__ import annotations

from aircoding.context.conflicts import detect
from aircoding.context.conversation import append_message
from aircoding.context.draft import Draft, Item, Note, Stage, begin, outcome
from aircoding.context.fitting import available_tokens, fit
from aircoding.context.layout import Layout, first_message, notice_block, system_blocks, tool_nodes
from aircoding.context.manifest import seal
from aircoding.context.marks import Request, without_marks
from aircoding.context.omissions import omission_note
from aircoding.context.precedence import precede
from aircoding.context.quarantine import screen
from aircoding.context.selection import select
from aircoding.context.tokens import estimate_range, estimate_tokens
from aircoding.records.conflicts import Conflict
from aircoding.records.digests import canonical_json, sha256_bytes
from aircoding.records.ids import SegmentId
from aircoding.records.layers import Form, Layer, OutcomeKind, Scope, SegmentKind, Trust
from aircoding.records.manifest import AssembledContext, Manifest, OutcomeRecord, Overflow, Span
from aircoding.records.segments import Segment, Source
from aircoding.records.snapshot import Snapshot

__all__ = ["STAGES", "assemble"]

STAGES: tuple[Stage, ...] = (select, screen, precede, detect, fit)
"""What happens to the candidates, in order; each stage notes what it did."""

_LATE_RULES = "These rules apply to a path that you have touched."


def assemble(snapshot: Snapshot) -> AssembledContext | Overflow:
    """Return the request for one turn, or what does not fit.

    An `Overflow` means that nothing may be sent: the caller asks for compaction or blocks.
    """
    draft = begin(snapshot)
    notes: tuple[Note, ...] = ()
    for stage in STAGES:
        draft, noted = stage(draft)
        notes += noted
        if draft.overflow is not None:
            return draft.overflow
    if snapshot.frozen is None:
        return _open_epoch(draft, notes)
    return _extend_epoch(draft, notes, snapshot.frozen.context.manifest)


def _open_epoch(draft: Draft, notes: tuple[Note, ...]) -> AssembledContext | Overflow:
    snapshot, layout = draft.snapshot, Layout()
    note = omission_note(notes, snapshot.estimator)
    items = draft.items if note is None else (*draft.items, note)
    tools = tool_nodes(snapshot.tools)
    for number, (tool, node) in enumerate(zip(sorted(snapshot.tools, key=lambda tool: tool.name), tools, strict=True)):
        layout.own(_tool_item(tool.name, node, snapshot), (Span(f"/tools/{number}"),))
    system = system_blocks(items, layout)
    fleet = len(
        {
            span.block
            for record in layout.segments
            if record.scope is Scope.FLEET
            for span in record.spans
            if span.block.startswith("/system/")
        }
    )
    first, session_blocks = first_message(items, layout)
    messages = [] if first is None else [first]
    for message in snapshot.messages:
        append_message(messages, message, layout, snapshot.estimator)
    request = Request(tools, system, messages)
    places = [
        *([f"/system/{fleet - 1}"] if fleet else []),
        *([f"/system/{len(system) - 1}"] if len(system) > fleet else []),
        *([f"/messages/0/content/{session_blocks - 1}"] if session_blocks else []),
    ]
    outcomes = tuple(part for part in notes if isinstance(part, OutcomeRecord)) + _included(items, notes)
    return seal(snapshot, request, layout, places, outcomes=outcomes, conflicts=_conflicts(notes))


def _extend_epoch(draft: Draft, notes: tuple[Note, ...], sent: Manifest) -> AssembledContext | Overflow:
    """Append the messages that were recorded since, then rules that a touched path has brought in."""
    snapshot, frozen = draft.snapshot, draft.snapshot.frozen
    assert frozen is not None  # noqa: S101 - the caller looked
    request = Request(
        without_marks(frozen.context.tools),
        without_marks(frozen.context.system),
        without_marks(frozen.context.messages),
    )
    layout = Layout(list(sent.segments), list(sent.layout))
    for message in snapshot.messages[frozen.message_count :]:
        append_message(request.messages, message, layout, snapshot.estimator)
    if draft.items:
        _append_late(request, draft.items, layout, system_turns=snapshot.limits.system_turns)
    tokens = sum(record.tokens for record in layout.segments)
    hard = estimate_range(tokens, snapshot.estimator).high
    if hard > available_tokens(snapshot):
        return _turn_overflow(snapshot, layout, hard)
    places = [mark.mark for mark in sent.cache[:3] if _is_scope_end(mark.mark)]
    fresh = tuple(part for part in notes if isinstance(part, OutcomeRecord) and _is_news(part, sent))
    outcomes = sent.outcomes + fresh + _included(draft.items, notes)
    return seal(snapshot, request, layout, places, outcomes=outcomes, conflicts=sent.conflicts + _conflicts(notes))


def _append_late(request: Request, items: tuple[Item, ...], layout: Layout, *, system_turns: bool) -> None:
    """Put late rules where the operator speaks: a system turn, else a reminder after the tool results."""
    position = len(request.messages)
    if system_turns or request.messages[-1]["role"] != "user":
        block = notice_block(_LATE_RULES, items, layout, f"/messages/{position}/content/0/text")
        request.messages.append({"role": "system" if system_turns else "user", "content": [block]})
        return
    content = request.messages[-1]["content"]
    content.append(notice_block(_LATE_RULES, items, layout, f"/messages/{position - 1}/content/{len(content)}/text"))


def _is_scope_end(pointer: str) -> bool:
    return pointer.startswith(("/system/", "/messages/0/"))


def _is_news(note: OutcomeRecord, sent: Manifest) -> bool:
    """A candidate that stays out for the same reason as before needs no second record."""
    before = next((old for old in reversed(sent.outcomes) if old.segment_id == note.segment_id), None)
    return before is None or (before.outcome, before.reason) != (note.outcome, note.reason)


def _included(items: tuple[Item, ...], notes: tuple[Note, ...]) -> tuple[OutcomeRecord, ...]:
    noted = {note.segment_id for note in notes if isinstance(note, OutcomeRecord)}
    return tuple(
        outcome(item.segment, OutcomeKind.INCLUDED, None, "", tokens=item.tokens, by=item.selected_by)
        for item in items
        if item.segment.segment_id not in noted
    )


def _conflicts(notes: tuple[Note, ...]) -> tuple[Conflict, ...]:
    return tuple(note for note in notes if isinstance(note, Conflict))


def _tool_item(name: str, node: dict[str, object], snapshot: Snapshot) -> Item:
    data = canonical_json(node)
    digest = sha256_bytes(data)
    uri = f"resource:tools/{name}.yaml"
    segment = Segment(
        segment_id=SegmentId(f"L1:{uri}@{digest[:8]}"),
        layer=Layer.L1,
        scope=Scope.FLEET,
        trust=Trust.BUILTIN,
        kind=SegmentKind.TOOL,
        source=Source(uri=uri, digest=digest, text_digest=digest),
        text=data.decode("utf-8"),
        required=True,
    )
    return Item(segment, Form.WHOLE, segment.text, estimate_tokens(segment.text, snapshot.estimator), "tools")


def _turn_overflow(snapshot: Snapshot, layout: Layout, needed_tokens: int) -> Overflow:
    largest = sorted(
        ((record.segment_id, record.tokens) for record in layout.segments), key=lambda row: (-row[1], row[0])
    )
    return Overflow(
        scope=Scope.TURN,
        needed_tokens=needed_tokens,
        available_tokens=available_tokens(snapshot),
        largest=tuple(largest[:5]),
    )
