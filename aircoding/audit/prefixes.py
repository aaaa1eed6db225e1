"""How far two recorded requests begin with the same bytes, and the first segment that differs. Pure.

Only bytes are compared, marks removed, as the provider's cache does: so it answers for any two assemblies on record,
whatever process sent them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from aircoding.context.cache_checks import segment_at
from aircoding.records.digests import canonical_json
from aircoding.records.ids import SegmentId
from aircoding.records.manifest import AssembledContext, CacheMark

__all__ = ["PrefixComparison", "compare_prefixes"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PrefixComparison:
    """What a request shares with an earlier one, in estimated tokens.

    `expected` is the mark of the earlier request up to which the later one should begin with the same bytes: of one
    session its last one, else the last one of tools and system. `readable` is the last of its marks up to which it
    does. `same_blocks` counts the blocks that are equal from the first one on, of `earlier_blocks`. `block` is the
    first other one, `offset_bytes` where in its text (UTF-8) the bytes differ, `before` and `after` the segments that
    stand there; all None when the later request begins with the whole of the earlier one.
    """

    same_session: bool
    same_model: bool
    expected: CacheMark | None
    readable: CacheMark | None
    same_blocks: int
    earlier_blocks: int
    block: str | None
    offset_bytes: int | None
    before: SegmentId | None
    after: SegmentId | None

    @property
    def complete(self) -> bool:
        """Whether all that should be the same is the same."""
        return self.same_model and self.expected == self.readable


def compare_prefixes(earlier: AssembledContext, later: AssembledContext) -> PrefixComparison:
    """Return how far `later` begins as `earlier` did."""
    old, new = list(_blocks(earlier)), list(_blocks(later))
    same = next((n for n, (a, b) in enumerate(zip(old, new, strict=False)) if a[:2] != b[:2]), min(len(old), len(new)))
    same_session = earlier.manifest.session_id == later.manifest.session_id
    same_model = earlier.manifest.model == later.manifest.model
    marks = earlier.manifest.cache
    expected = [mark for mark in marks if same_session or not mark.mark.startswith("/messages/")]
    equal = {pointer for pointer, _, _ in old[:same]}
    readable = [mark for mark in expected if mark.mark in equal] if same_model else []
    block, offset = None, None
    if same < len(old):
        block, offset = old[same][0], 0
        if same < len(new) and new[same][0] == block:
            offset = _first_other_byte(old[same][2], new[same][2])
    return PrefixComparison(
        same_session=same_session,
        same_model=same_model,
        expected=expected[-1] if expected else None,
        readable=readable[-1] if readable else None,
        same_blocks=same,
        earlier_blocks=len(old),
        block=block,
        offset_bytes=offset,
        before=segment_at(earlier.manifest.segments, block, offset),
        after=segment_at(later.manifest.segments, block, offset),
    )


def _blocks(context: AssembledContext) -> Iterator[tuple[str, bytes, Mapping[str, Any]]]:
    """Yield pointer, bytes (the role of the message in front, marks removed) and block, in prompt order."""
    for number, tool in enumerate(context.tools):
        yield f"/tools/{number}", _bytes("tool", tool), tool
    for number, block in enumerate(context.system):
        yield f"/system/{number}", _bytes("system", block), block
    for position, message in enumerate(context.messages):
        for number, block in enumerate(message["content"]):
            yield f"/messages/{position}/content/{number}", _bytes(message["role"], block), block


def _bytes(role: str, block: Mapping[str, Any]) -> bytes:
    plain = {key: value for key, value in block.items() if key != "cache_control"}
    return role.encode("utf-8") + b"\n" + canonical_json(plain)


def _first_other_byte(before: Mapping[str, Any], now: Mapping[str, Any]) -> int | None:
    """Return where two texts begin to differ, in bytes of UTF-8; None where they are no texts."""
    old, new = before.get("text"), now.get("text")
    if not isinstance(old, str) or not isinstance(new, str):
        return None
    same = next((n for n, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    return len(new[:same].encode("utf-8"))
