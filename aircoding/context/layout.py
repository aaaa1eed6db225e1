"""Lay the fitted items out as canonical blocks and note, byte by byte, whose text stands where (DESIGN section 2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from aircoding.context.draft import Item
from aircoding.context.marks import Request
from aircoding.records.layers import Form, Layer, Scope, SegmentKind, Trust
from aircoding.records.manifest import LayoutSpan, SegmentRecord, Span
from aircoding.records.segments import place_of
from aircoding.records.snapshot import ToolSpec

__all__ = ["Layout", "append_operator_words", "first_message", "system_blocks", "tool_nodes"]

_SYSTEM_PARTS = (
    (Scope.FLEET, (Layer.L0, Layer.L1, Layer.L2)),
    (Scope.RUN, (Layer.L3, Layer.L4)),
)
# External text of a shared layer, such as the role of a project that is not trusted, stands here too.
_SESSION_LAYERS = (Layer.L0, Layer.L1, Layer.L2, Layer.L3, Layer.L4, Layer.L5, Layer.L6, Layer.L7, Layer.L8)

_OWN_WORDS = frozenset(
    {
        SegmentKind.NOTICE,
        SegmentKind.STEERING,
        SegmentKind.INSTRUCTION,
        SegmentKind.OUTPUT_FORMAT,
        SegmentKind.TIME,
        SegmentKind.OMISSION_NOTE,
    }
)
_INSTRUCTS = frozenset({SegmentKind.RULE, SegmentKind.POLICY, SegmentKind.PLAN, SegmentKind.ADR, SegmentKind.SKILL})
_KIND_ORDER = {kind: position for position, kind in enumerate(SegmentKind)}
# A person's identity has a heading of its own: it stands below our guidance, never between it and the role.
_KIND_ORDER[SegmentKind.IDENTITY] = _KIND_ORDER[SegmentKind.GUIDANCE]


@dataclass(slots=True)
class Layout:
    """The account that grows while blocks are written; one per assembly, never shared."""

    segments: list[SegmentRecord] = field(default_factory=list)
    spans: list[LayoutSpan] = field(default_factory=list)

    def own(self, item: Item, spans: tuple[Span, ...]) -> None:
        """Record that an item owns `spans`."""
        segment = item.segment
        self.segments.append(
            SegmentRecord(
                segment_id=segment.segment_id,
                layer=segment.layer,
                scope=segment.scope,
                trust=segment.trust,
                kind=segment.kind,
                source=segment.source,
                rule_id=segment.rule_id,
                required=segment.required,
                form=item.form,
                tokens=item.tokens,
                spans=spans,
                selected_by=item.selected_by,
            )
        )


class _Text:
    """One text block under construction: appends pieces and knows the byte offset of each."""

    def __init__(self, layout: Layout, pointer: str) -> None:
        self._layout = layout
        self._pointer = pointer
        self._pieces: list[str] = []
        self._size_bytes = 0

    def _append(self, text: str) -> tuple[int, int]:
        start = self._size_bytes
        self._pieces.append(text)
        self._size_bytes += len(text) if text.isascii() else len(text.encode("utf-8"))
        return start, self._size_bytes

    def layout(self, text: str) -> None:
        if text:
            self._layout.spans.append(LayoutSpan(self._pointer, *self._append(text)))

    def item(self, item: Item) -> None:
        start, end = self._append(item.text)
        self._layout.own(item, (Span(self._pointer, start, end),))

    def block(self) -> dict[str, Any]:
        return {"type": "text", "text": "".join(self._pieces)}


def tool_nodes(tools: Iterable[ToolSpec]) -> list[dict[str, Any]]:
    """Return the canonical tools, sorted by name so that no registration order shows."""
    return [
        {"name": tool.name, "description": tool.description, "input_schema": _sorted_schema(tool.input_schema)}
        for tool in sorted(tools, key=lambda tool: tool.name)
    ]


def _sorted_schema(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _sorted_schema(value[key]) for key in sorted(value)}
    if isinstance(value, (list, tuple)):
        return [_sorted_schema(item) for item in value]
    return value


def system_blocks(items: tuple[Item, ...], layout: Layout) -> tuple[list[dict[str, Any]], int]:
    """Return the `system` blocks, fleet scope L0 to L2, then run scope L3 to L4, and how many are of fleet scope.

    An empty part leaves no block.
    """
    blocks: list[dict[str, Any]] = []
    fleet_blocks = 0
    parts = _by_place(items)
    for scope, layers in _SYSTEM_PARTS:
        for layer in layers:
            if part := parts.get((scope, layer)):
                blocks.append(_layer_block(layer, part, layout, f"/system/{len(blocks)}/text"))
        fleet_blocks = len(blocks) if scope is Scope.FLEET else fleet_blocks
    return blocks, fleet_blocks


def _by_place(items: tuple[Item, ...]) -> dict[tuple[Scope, Layer], list[Item]]:
    parts: dict[tuple[Scope, Layer], list[Item]] = {}
    for item in items:
        parts.setdefault((item.segment.scope, item.segment.layer), []).append(item)
    return parts


def first_message(items: tuple[Item, ...], layout: Layout) -> tuple[dict[str, Any] | None, int]:
    """Return the first user message (session scope L2 to L8, then turn scope L7 and L9) and how many
    of its blocks are of session scope. None when there is nothing to say.
    """
    content: list[dict[str, Any]] = []
    parts = _by_place(items)
    for layer in _SESSION_LAYERS:
        if part := parts.get((Scope.SESSION, layer)):
            content.append(_layer_block(layer, part, layout, f"/messages/0/content/{len(content)}/text"))
    session_blocks = len(content)
    for layer in (Layer.L6, Layer.L7, Layer.L8, Layer.L9):
        if part := parts.get((Scope.TURN, layer)):
            content.append(_layer_block(layer, part, layout, f"/messages/0/content/{len(content)}/text"))
    message = {"role": "user", "content": content} if content else None
    return message, session_blocks


def _order(item: Item) -> tuple[int, int, int, int, str, int, str]:
    """Within a layer: by kind, then what is built in first, then by level, depth of the file, place in it.

    The skills index is one list whatever file a line comes from: by name.
    """
    segment = item.segment
    uri = segment.source.uri
    return (
        _KIND_ORDER[segment.kind],
        -segment.trust.rank if segment.trust is Trust.BUILTIN else 0,
        segment.level,
        segment.sequence,
        (segment.identity or "") if segment.kind is SegmentKind.SKILLS_INDEX else f"{uri.count('/'):03d}{uri}",
        segment.source.start_line or 0,
        segment.segment_id,
    )


def append_operator_words(
    request: Request,
    items: tuple[Item, ...],
    layout: Layout,
    *,
    system_turns: bool,
    changed: frozenset[str] = frozenset(),
) -> None:
    """Append what is told besides the recorded turns, after the newest of them.

    It goes as a system turn where the model takes one there; else as a reminder block in a user turn. External text
    may not stand in a system turn, so it goes into the user turn before it, fenced.

    Args:
        request: is changed in place.
        items: rules, notices, steering and the like, in any order; none: nothing is appended.
        layout: the account that grows with it.
        system_turns: whether the model takes system turns.
        changed: places (segment ids without digest) of which an earlier version was sent.
    """
    external = [item for item in items if item.segment.trust is Trust.EXTERNAL]
    own = [item for item in items if item.segment.trust is not Trust.EXTERNAL]
    if external:
        _append_reminder(request, external, layout, changed)
    if own and system_turns and request.messages[-1]["role"] == "user":
        pointer = f"/messages/{len(request.messages)}/content/0/text"
        block = _operator_block(own, layout, pointer, changed, tagged=False)
        request.messages.append({"role": "system", "content": [block]})
    elif own:
        _append_reminder(request, own, layout, changed)


def _append_reminder(request: Request, items: list[Item], layout: Layout, changed: frozenset[str]) -> None:
    if not request.messages or request.messages[-1]["role"] != "user":
        request.messages.append({"role": "user", "content": []})
    content = request.messages[-1]["content"]
    pointer = f"/messages/{len(request.messages) - 1}/content/{len(content)}/text"
    content.append(_operator_block(items, layout, pointer, changed, tagged=True))


def _operator_block(
    items: list[Item], layout: Layout, pointer: str, changed: frozenset[str], *, tagged: bool
) -> dict[str, Any]:
    text = _Text(layout, pointer)
    text.layout("<system-reminder>\n" if tagged else "")
    for number, item in enumerate(sorted(items, key=_order)):
        text.layout(("\n" if number else "") + _operator_heading(item, changed))
        _fenced(text, item)
    text.layout("</system-reminder>" if tagged else "")
    return text.block()


def _operator_heading(item: Item, changed: frozenset[str]) -> str:
    """Texts that instruct say since when; what is our own (a notice, a reminder, the time) speaks for itself."""
    segment = item.segment
    if segment.kind in _OWN_WORDS:
        return ""
    name = segment.title or segment.source.uri
    if segment.kind not in _INSTRUCTS:
        return f"## {name}\n"
    if place_of(segment.segment_id) in changed:
        return f"## Changed: {name}\nThis text holds from now on, not the one above.\n\n"
    return f"## Holds from now on: {name}\n"


def _fenced(text: _Text, item: Item) -> None:
    fence = _fence(item)
    text.layout(f'<external id="{fence}">\n' if fence else "")
    text.item(item)
    text.layout(f'\n</external id="{fence}">\n' if fence else "" if item.text.endswith("\n") else "\n")


def _layer_block(layer: Layer, items: list[Item], layout: Layout, pointer: str) -> dict[str, Any]:
    text = _Text(layout, pointer)
    text.layout(f"# {layer.heading}\n")
    title = ""
    for item in sorted(items, key=_order):
        segment = item.segment
        same_list = segment.kind is SegmentKind.SKILLS_INDEX and segment.title == title
        heading = f"## {segment.title}\n" if segment.title and segment.title != title else ""
        text.layout("" if same_list else f"\n{heading}")
        title = segment.title
        _fenced(text, item)
    return text.block()


def _fence(item: Item) -> str:
    """Return the id of the fence around external text, or nothing.

    The id is a part of the digest of the text inside, so no text can hold its own closing line.
    """
    if item.segment.trust is not Trust.EXTERNAL or item.form is Form.REFERENCE:
        return ""
    return item.segment.source.text_digest[:12]
