"""Which workers asked for a file with a tool: it came to them as a tool's result, and not as a candidate."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from aircoding.records.layers import SegmentKind
from aircoding.records.seen import SeenSegment

if TYPE_CHECKING:
    from aircoding.store import Store
    from aircoding.store.within import Within

__all__ = ["READ_TOOL", "ToolReads", "tool_reads"]

READ_TOOL = "fs_read"
_SHOWN = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolReads:
    """The newest calls that asked for a file, each with the assembly that it came in with; `total` counts all."""

    calls: tuple[SeenSegment, ...] = ()
    total: int = 0


def tool_reads(store: Store, subject: str, within: Within) -> ToolReads:
    """Return the calls of the reading tool that name a path; none where the texts of calls are not kept."""
    path = json.dumps(subject.removeprefix("project:"), ensure_ascii=False)
    hits = store.search.find(f'"name":"{READ_TOOL}","input":{{"path":{path}', candidates=False)
    seen, total, _ = store.sightings.places(hits.segments, replace(within, with_texts=True), limit=_SHOWN)
    calls = tuple(one for one in seen if one.record.kind is SegmentKind.TOOL_CALL)
    return ToolReads(calls=calls, total=total - (len(seen) - len(calls)))
