"""Where a text stands in a request, and whose it is. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from aircoding.records.manifest import AssembledContext, Manifest, SegmentRecord

__all__ = ["Place", "why"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One place where a text stands in a request. `start` and `end` are byte offsets in the block."""

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


def why(contexts: Iterable[AssembledContext], text: str) -> tuple[Place, ...]:
    """Return every place where `text` stands, in request order; a place of layout has no segment."""
    needle = text.encode("utf-8")
    places: list[Place] = []
    for context in contexts:
        for block, value in _texts(context):
            data = value.encode("utf-8")
            at = data.find(needle) if needle else -1
            while at >= 0:
                places.append(_place(context.manifest, block, data, at, at + len(needle)))
                at = data.find(needle, at + len(needle))
    return tuple(places)


def _texts(context: AssembledContext) -> Iterable[tuple[str, str]]:
    """Yield each text of a request with its pointer; tool calls count as their JSON node."""
    stack: list[tuple[str, object]] = [(f"/{name}", list(part)) for name, part in context.request.items()]
    while stack:
        pointer, node = stack.pop(0)
        if isinstance(node, dict):
            stack[:0] = [(f"{pointer}/{key}", value) for key, value in node.items()]
        elif isinstance(node, (list, tuple)):
            stack[:0] = [(f"{pointer}/{number}", value) for number, value in enumerate(node)]
        elif isinstance(node, str):
            yield pointer, node


def _place(manifest: Manifest, block: str, data: bytes, start: int, end: int) -> Place:
    line_start = data.rfind(b"\n", 0, start) + 1
    line_end = data.find(b"\n", end)
    line = data[line_start : line_end if line_end >= 0 else len(data)]
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
        segment=_owner(manifest, block, start),
    )


def _owner(manifest: Manifest, block: str, offset: int) -> SegmentRecord | None:
    """Return the segment that owns a byte: by its span, else by the whole node around it."""
    around: SegmentRecord | None = None
    for record in manifest.segments:
        for span in record.spans:
            if span.start is None:
                if block.startswith(span.block + "/"):
                    around = record
            elif span.block == block and span.start <= offset < (span.end or 0):
                return record
    return around
