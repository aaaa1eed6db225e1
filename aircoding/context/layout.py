"""Lay the fitted items out as canonical blocks and note, byte by byte, whose text stands where (DESIGN section 2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from aircoding.context.draft import Item
from aircoding.records.layers import Form, Layer, Scope, SegmentKind, Trust
from aircoding.records.manifest import LayoutSpan, SegmentRecord, Span
from aircoding.records.snapshot import ToolSpec

__all__ = ["Layout", "first_message", "notice_block", "system_blocks", "tool_nodes"]

_SYSTEM_PARTS = (
    (Scope.FLEET, (Layer.L0, Layer.L1, Layer.L2)),
    (Scope.RUN, (Layer.L3, Layer.L4)),
)
_SESSION_LAYERS = (Layer.L2, Layer.L3, Layer.L4, Layer.L5, Layer.L6, Layer.L7, Layer.L8)

_KIND_ORDER = {kind: position for position, kind in enumerate(SegmentKind)}


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
        self._size_bytes += len(text.encode("utf-8"))
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


def system_blocks(items: tuple[Item, ...], layout: Layout) -> list[dict[str, Any]]:
    """Return the `system` blocks: fleet scope L0 to L2, then run scope L3 to L4; an empty part leaves none."""
    blocks: list[dict[str, Any]] = []
    for scope, layers in _SYSTEM_PARTS:
        for layer in layers:
            part = [item for item in items if (item.segment.scope, item.segment.layer) == (scope, layer)]
            if part:
                blocks.append(_layer_block(layer, part, layout, f"/system/{len(blocks)}/text"))
    return blocks


def first_message(items: tuple[Item, ...], layout: Layout) -> tuple[dict[str, Any] | None, int]:
    """Return the first user message (session scope L2 to L8, then turn scope L7 and L9) and how many
    of its blocks are of session scope. None when there is nothing to say.
    """
    content: list[dict[str, Any]] = []
    for layer in _SESSION_LAYERS:
        part = [item for item in items if (item.segment.scope, item.segment.layer) == (Scope.SESSION, layer)]
        if part:
            content.append(_layer_block(layer, part, layout, f"/messages/0/content/{len(content)}/text"))
    session_blocks = len(content)
    for layer in (Layer.L6, Layer.L7, Layer.L8, Layer.L9):
        part = [item for item in items if (item.segment.scope, item.segment.layer) == (Scope.TURN, layer)]
        if part:
            content.append(_layer_block(layer, part, layout, f"/messages/0/content/{len(content)}/text"))
    message = {"role": "user", "content": content} if content else None
    return message, session_blocks


def _order(item: Item) -> tuple[int, int, int, str, int, str]:
    """Within a layer: by kind, then what is built in first, then by level, depth of the file, place in it."""
    segment = item.segment
    uri = segment.source.uri
    return (
        _KIND_ORDER[segment.kind],
        -segment.trust.rank if segment.trust is Trust.BUILTIN else 0,
        segment.level,
        f"{uri.count('/'):03d}{uri}",
        segment.source.start_line or 0,
        segment.segment_id,
    )


def notice_block(title: str, items: tuple[Item, ...], layout: Layout, pointer: str) -> dict[str, Any]:
    """Return a text block that brings items into a session that goes on, at `pointer`."""
    text = _Text(layout, pointer)
    text.layout(f"<system-reminder>\n{title}\n")
    for item in sorted(items, key=_order):
        text.layout(f"\n## {item.segment.title or item.segment.source.uri}\n")
        text.item(item)
        text.layout("" if item.text.endswith("\n") else "\n")
    text.layout("</system-reminder>")
    return text.block()


def _layer_block(layer: Layer, items: list[Item], layout: Layout, pointer: str) -> dict[str, Any]:
    text = _Text(layout, pointer)
    text.layout(f"# {layer.heading}\n")
    title = ""
    for item in sorted(items, key=_order):
        segment = item.segment
        text.layout("\n" + (f"## {segment.title}\n" if segment.title and segment.title != title else ""))
        title = segment.title
        fence = _fence(item)
        text.layout(f'<external id="{fence}">\n' if fence else "")
        text.item(item)
        text.layout(f'\n</external id="{fence}">' if fence else "")
        text.layout("" if item.text.endswith("\n") and not fence else "\n")
    return text.block()


def _fence(item: Item) -> str:
    """Return the id of the fence around external text, or nothing.

    The id is a part of the digest of the text inside, so no text can hold its own closing line.
    """
    if item.segment.trust is not Trust.EXTERNAL or item.form is Form.REFERENCE:
        return ""
    return item.segment.source.text_digest[:12]
