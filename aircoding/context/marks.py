"""Cache marks: where a prefix ends that other requests share (DESIGN section 2, marks)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aircoding.records.digests import canonical_json
from aircoding.records.ids import Digest
from aircoding.records.manifest import CacheMark, SegmentRecord
from aircoding.records.snapshot import ModelLimits

__all__ = ["LOOK_BACK_BLOCKS", "MAX_MARKS", "Request", "mark_places", "mark_request", "without_marks"]

MAX_MARKS = 4
"""Most marks that a request may carry (Anthropic prompt caching, read 2026-08)."""
LOOK_BACK_BLOCKS = 20
"""From a mark an entry is found that ends at it or at one of the 19 blocks before it (the same page)."""

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


def without_marks(blocks: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return tools, system blocks or messages without their marks, in dicts and lists of their own.

    What lies deeper (the input of a tool call, the parts of a tool result) is shared: nothing changes it.
    """
    return [_plain(block) for block in blocks]


def _plain(block: Mapping[str, Any]) -> dict[str, Any]:
    plain = {key: value for key, value in block.items() if key != "cache_control"}
    if "role" in plain:
        plain["content"] = [_plain(part) for part in plain["content"]]
    return plain


def mark_places(request: Request, scope_ends: Sequence[str], newest_before: str | None) -> list[str]:
    """Return where marks belong, in prompt order and at most four.

    They stand at the ends of fleet, run and session scope and at the newest block. An entry that ends more than
    19 blocks before a mark is not found from it, so when a turn brought more, the session's mark moves to where
    the newest one stood: from there the turn before is read exactly, and the session is a part of it.

    Args:
        request: without marks.
        scope_ends: pointers to the last block of each shared scope.
        newest_before: where the newest mark of the request before stood.
    """
    blocks = [pointer for pointer, node, _ in _nodes(request) if _markable(node)]
    if not blocks:
        return []
    ends = [place for place in scope_ends if place in blocks]
    places = [*ends, blocks[-1]]
    if newest_before in blocks and len(blocks) - blocks.index(newest_before) > LOOK_BACK_BLOCKS:
        places.insert(-1, newest_before)
    if len(places) > MAX_MARKS:
        places.remove(ends[-1])
    return list(dict.fromkeys(places))


def mark_request(
    request: Request,
    *,
    places: Sequence[str],
    segments: Sequence[SegmentRecord],
    limits: ModelLimits,
) -> tuple[CacheMark, ...]:
    """Set a mark at each of `places` and return them with the digest of the prefix that each closes.

    A place whose prefix is below the model's minimum gets none: the provider would ignore it. The request's
    blocks are changed in place; digests are taken with marks removed.
    """
    if not limits.cache_marks:
        return ()
    tokens, owner = _tokens_by_block(segments), {_block_of(record): record.segment_id for record in segments}
    wanted, marks = frozenset(places), list[tuple[str, dict[str, Any], Digest, int]]()
    running, total = hashlib.sha256(), 0
    for pointer, node, role in _nodes(request):
        running.update(f"\n{pointer} {role}\n".encode())
        running.update(_bytes(node))
        total += tokens.get(pointer, 0)
        if pointer in wanted and total >= limits.min_cache_prefix_tokens:
            marks.append((pointer, node, Digest(running.hexdigest()), total))
    for _, node, _, _ in marks:
        node["cache_control"] = dict(_EPHEMERAL)
    return tuple(
        CacheMark(mark=pointer, after_segment=owner.get(pointer), prefix_digest=digest, prefix_tokens=prefix_tokens)
        for pointer, _, digest, prefix_tokens in marks
    )


def _bytes(node: Mapping[str, Any]) -> bytes:
    """Return what tells a block from any other at its place; a plain text stands for itself, which saves a pass."""
    if len(node) == 2 and node.get("type") == "text":
        return b"text\n" + str(node["text"]).encode("utf-8", "surrogatepass")
    return canonical_json(node)


def _markable(node: Mapping[str, Any]) -> bool:
    return node.get("type") not in _UNMARKABLE and not (node.get("type") == "text" and not node["text"])


def _nodes(request: Request) -> list[tuple[str, dict[str, Any], str]]:
    """Return each block in prompt order: its pointer, itself, and the role of its message."""
    nodes = [(f"/tools/{n}", node, "") for n, node in enumerate(request.tools)]
    nodes += [(f"/system/{n}", node, "") for n, node in enumerate(request.system)]
    for number, message in enumerate(request.messages):
        nodes += [
            (f"/messages/{number}/content/{n}", node, message["role"]) for n, node in enumerate(message["content"])
        ]
    return nodes


def _tokens_by_block(segments: Sequence[SegmentRecord]) -> dict[str, int]:
    per_block: dict[str, int] = {}
    for segment in segments:
        pointer = _block_of(segment)
        per_block[pointer] = per_block.get(pointer, 0) + segment.tokens
    return per_block


def _block_of(record: SegmentRecord) -> str:
    """Return the pointer of the block that a segment stands in; the first of its spans is never inside a node."""
    return record.spans[0].block.removesuffix("/text")
