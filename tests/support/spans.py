"""The check that a manifest accounts for every byte of its request."""

from __future__ import annotations

from collections.abc import Iterator

from aircoding.records.manifest import AssembledContext


def texts(node: object, pointer: str = "") -> Iterator[tuple[str, str]]:
    """Yield (pointer, text) of each text block, those inside tool results too."""
    if isinstance(node, dict):
        if node.get("type") == "text":
            yield f"{pointer}/text", node["text"]
            return
        for key, value in node.items():
            if key in {"content", "tools", "system", "messages"}:
                yield from texts(value, f"{pointer}/{key}")
    elif isinstance(node, (list, tuple)):
        for number, item in enumerate(node):
            yield from texts(item, f"{pointer}/{number}")


def tool_blocks(context: AssembledContext) -> Iterator[str]:
    """Yield the pointer of each tool and of each block that is not text."""
    for number in range(len(context.tools)):
        yield f"/tools/{number}"
    for position, message in enumerate(context.messages):
        for number, block in enumerate(message["content"]):
            if block["type"] != "text":
                yield f"/messages/{position}/content/{number}"


def assert_covered(context: AssembledContext) -> None:
    """Every byte of text lies in exactly one span; every tool block is named by exactly one segment."""
    manifest = context.manifest
    spans: dict[str, list[tuple[int, int]]] = {}
    nodes: dict[str, int] = {}
    for record in manifest.segments:
        for span in record.spans:
            if span.start is None:
                nodes[span.block] = nodes.get(span.block, 0) + 1
            else:
                spans.setdefault(span.block, []).append((span.start, span.end or 0))
    for span in manifest.layout:
        spans.setdefault(span.block, []).append((span.start, span.end))
    seen = set()
    for pointer, text in texts(context.request):
        position = 0
        for start, end in sorted(spans.get(pointer, [])):
            assert start == position, f"{pointer}: byte {position} is in no span, or in two"
            position = end
        assert position == len(text.encode("utf-8")), f"{pointer}: the end is in no span"
        seen.add(pointer)
    assert set(spans) <= seen, f"spans of blocks that are not there: {set(spans) - seen}"
    assert nodes == dict.fromkeys(tool_blocks(context), 1)
