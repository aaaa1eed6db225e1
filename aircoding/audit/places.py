"""Where a text stands in a request, and whose it is. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from aircoding.audit.origins import Call, Origins
from aircoding.audit.ownership import Ownership
from aircoding.audit.texts import request_texts
from aircoding.records.manifest import AssembledContext, SegmentRecord

__all__ = ["Place", "why"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One place where a text stands in a request. `start` and `end` are byte offsets in the block.

    `call` is the tool call that a tool's call or result is of. `importers` are the uris of the files that lead to a
    segment's own, the nearest first: each takes in the one before it.
    """

    manifest_id: str
    session_id: str
    task_id: str | None
    role: str
    turn: int
    block: str
    start: int
    end: int
    line: str
    segment: SegmentRecord | None
    call: Call | None = None
    importers: tuple[str, ...] = ()


def why(contexts: Iterable[AssembledContext], text: str) -> tuple[Place, ...]:
    """Return every place where `text` stands, in request order; a place of layout has no segment.

    Blocks are those of `audit.texts.request_texts`: a tool or a tool call is the text of its JSON, in which the needle
    is looked for as JSON writes it.
    """
    return tuple(place for context in contexts for place in _places(context, text))


def _places(context: AssembledContext, text: str) -> Iterator[Place]:
    plain, escaped = text.encode("utf-8"), json.dumps(text, ensure_ascii=False)[1:-1].encode("utf-8")
    owned: Ownership | None = None
    origins = Origins(context)
    for block, value in request_texts(context):
        needle = plain if block.endswith("/text") else escaped
        data = value.encode("utf-8")
        at = data.find(needle) if needle else -1
        while at >= 0:
            owned = owned or Ownership(context.manifest)
            yield _place(origins, block, data, at, at + len(needle), owned.at(block, at))
            at = data.find(needle, at + len(needle))


def _place(origins: Origins, block: str, data: bytes, start: int, end: int, segment: SegmentRecord | None) -> Place:
    line_start = data.rfind(b"\n", 0, start) + 1
    line_end = data.find(b"\n", end)
    line = data[line_start : line_end if line_end >= 0 else len(data)]
    manifest = origins.manifest
    return Place(
        manifest_id=manifest.manifest_id,
        session_id=manifest.session_id,
        task_id=manifest.task_id,
        role=manifest.role,
        turn=manifest.turn,
        block=block,
        start=start,
        end=end,
        line=line.decode("utf-8", "replace"),
        segment=segment,
        call=origins.call_at(block),
        importers=() if segment is None else origins.importers_of(segment),
    )
