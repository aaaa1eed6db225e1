"""Cache marks: where a prefix ends that other requests share (DESIGN section 2, marks)."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from aircoding.records.digests import canonical_json, sha256_bytes
from aircoding.records.ids import Digest
from aircoding.records.manifest import CacheMark, SegmentRecord
from aircoding.records.snapshot import ModelLimits

__all__ = ["MAX_MARKS", "Request", "mark_request", "without_marks"]

MAX_MARKS = 4
"""Most marks that a request may carry (Anthropic prompt caching, read 2026-08)."""

_EPHEMERAL = {"type": "ephemeral"}
_UNMARKABLE = frozenset({"thinking", "redacted_thinking"})


@dataclass(frozen=True, slots=True)
class Request:
    """A canonical request: plain JSON lists."""

    tools: list[dict[str, Any]]
    system: list[dict[str, Any]]
    messages: list[dict[str, Any]]

    def value(self) -> dict[str, Any]:
        """Return the request as one JSON object, in written order."""
        return {"tools": self.tools, "system": self.system, "messages": self.messages}


def without_marks(blocks: Sequence[Any]) -> list[dict[str, Any]]:
    """Return a deep copy of tools, system blocks or messages without their marks."""
    plain = copy.deepcopy([dict(block) for block in blocks])
    for block in plain:
        block.pop("cache_control", None)
        content = block.get("content")
        if isinstance(content, list):
            for part in content:
                part.pop("cache_control", None)
    return plain


def mark_request(
    request: Request,
    *,
    places: Sequence[str],
    segments: Sequence[SegmentRecord],
    limits: ModelLimits,
) -> tuple[CacheMark, ...]:
    """Set a mark at each of `places` (pointers to blocks, in prompt order) that may carry one.

    A place whose prefix is below the model's minimum gets none: the provider would ignore it.
    The request's blocks are changed in place; the marks are returned with the digest of the
    prefix that they close, taken with marks removed.
    """
    if not limits.cache_marks:
        return ()
    prefix_tokens = _prefix_tokens(request, segments)
    last_in_block = {_block_of(record): record.segment_id for record in segments}
    marks: list[tuple[str, dict[str, Any], Digest, int]] = []
    for place in dict.fromkeys(places):
        node = _markable(request, place)
        if node is None or prefix_tokens[place] < limits.min_cache_prefix_tokens:
            continue
        marks.append((place, node, _prefix_digest(request, place), prefix_tokens[place]))
    for _, node, _, _ in marks[-MAX_MARKS:]:
        node["cache_control"] = dict(_EPHEMERAL)
    return tuple(
        CacheMark(
            mark=place,
            after_segment=last_in_block.get(place),
            prefix_digest=digest,
            prefix_tokens=tokens,
        )
        for place, _, digest, tokens in marks[-MAX_MARKS:]
    )


def _node(request: Request, pointer: str) -> Any:
    node: Any = request.value()
    for part in pointer.strip("/").split("/"):
        node = node[int(part)] if isinstance(node, list) else node[part]
    return node


def _markable(request: Request, pointer: str) -> dict[str, Any] | None:
    node: dict[str, Any] = _node(request, pointer)
    if node.get("type") in _UNMARKABLE or (node.get("type") == "text" and not node["text"]):
        return None
    return node


def _blocks(request: Request) -> list[str]:
    """Return the pointers of all blocks in prompt order."""
    pointers = [f"/tools/{n}" for n in range(len(request.tools))]
    pointers += [f"/system/{n}" for n in range(len(request.system))]
    for number, message in enumerate(request.messages):
        pointers += [f"/messages/{number}/content/{n}" for n in range(len(message["content"]))]
    return pointers


def _prefix_tokens(request: Request, segments: Sequence[SegmentRecord]) -> dict[str, int]:
    per_block: dict[str, int] = {}
    for segment in segments:
        pointer = _block_of(segment)
        per_block[pointer] = per_block.get(pointer, 0) + segment.tokens
    total = 0
    running: dict[str, int] = {}
    for pointer in _blocks(request):
        total += per_block.get(pointer, 0)
        running[pointer] = total
    return running


def _block_of(record: SegmentRecord) -> str:
    """Return the pointer of the block that a segment stands in; the first of its spans is never inside a node."""
    return record.spans[0].block.removesuffix("/text")


def _prefix_digest(request: Request, pointer: str) -> Digest:
    """Return the digest of everything up to and with the block at `pointer`."""
    parts = pointer.strip("/").split("/")
    system, messages = request.system, request.messages
    if parts[0] == "system":
        system, messages = system[: int(parts[1]) + 1], []
    elif parts[0] == "messages":
        last = int(parts[1])
        cut = {**messages[last], "content": messages[last]["content"][: int(parts[3]) + 1]}
        messages = [*messages[:last], cut]
    return sha256_bytes(canonical_json({"tools": request.tools, "system": system, "messages": messages}))
