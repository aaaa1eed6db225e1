"""The texts of a request in the order in which they were sent, and the text of each segment. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from aircoding.records.manifest import AssembledContext, SegmentRecord

__all__ = ["block_pointers", "node_text", "request_texts", "segment_texts"]


def request_texts(context: AssembledContext) -> Iterator[tuple[str, str]]:
    """Yield (JSON pointer, text) of each text: of a block its text, of a whole node (a tool, a tool call) its JSON.

    A tool result that holds texts gives those; what else it holds (an image) comes as a node.
    """
    for number, tool in enumerate(context.tools):
        yield f"/tools/{number}", node_text(tool)
    yield from _of_blocks("/system", context.system)
    for position, message in enumerate(context.messages):
        yield from _of_blocks(f"/messages/{position}/content", message["content"])


def block_pointers(context: AssembledContext) -> tuple[str, ...]:
    """Return the pointer of each block in request order, as `context show --prompt` prints them."""
    return (
        *(f"/tools/{number}" for number in range(len(context.tools))),
        *(f"/system/{number}" for number in range(len(context.system))),
        *(
            f"/messages/{position}/content/{number}"
            for position, message in enumerate(context.messages)
            for number in range(len(message["content"]))
        ),
    )


def node_text(node: Mapping[str, Any]) -> str:
    """Return a whole node as text: its JSON, indented, keys in written order."""
    return json.dumps(node, ensure_ascii=False, indent=2)


def segment_texts(context: AssembledContext) -> dict[str, str]:
    """Return the text that each segment has in the request, in whatever form, by segment id.

    A segment of several spans has them one after the other; of a node without text spans it is the node's JSON.
    """
    texts = dict(request_texts(context))
    blocks = {pointer: text.encode("utf-8") for pointer, text in texts.items()}
    return {record.segment_id: _text_of(record, blocks) for record in context.manifest.segments}


def _of_blocks(pointer: str, blocks: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    for number, block in enumerate(blocks):
        place, inner = f"{pointer}/{number}", block.get("content")
        if block.get("type") == "text":
            yield f"{place}/text", str(block["text"])
        elif isinstance(inner, (list, tuple)) and any(part.get("type") == "text" for part in inner):
            yield from _of_blocks(f"{place}/content", inner)
        else:
            yield place, node_text(block)


def _text_of(record: SegmentRecord, blocks: Mapping[str, bytes]) -> str:
    stretches = [span for span in record.spans if span.start is not None]
    parts = [blocks.get(span.block, b"")[span.start : span.end] for span in stretches or record.spans]
    return b"".join(parts).decode("utf-8", "replace")
