"""A prompt block by block, cut where its owner changes. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from aircoding.audit.blame import BlameLine, blame
from aircoding.records.ids import SegmentId
from aircoding.records.manifest import AssembledContext, CacheMark, SegmentRecord

__all__ = ["PromptBlock", "PromptPiece", "prompt_blocks"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptPiece:
    """Text in a row that one segment owns, or the layout (`number` and `record` are None).

    `number` is the segment's in the manifest, from 1; `first` says that no piece of it stands before this one. The text
    begins on line `line` of its block, and there behind another owner's text if it `continues` it. `source_lines` has
    one entry for each line of the text: the line of the source, where that is certain.
    """

    number: int | None
    record: SegmentRecord | None
    first: bool
    text: str
    line: int
    continues: bool
    source_lines: tuple[int | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptBlock:
    """A text of the request with what it is in words, and the cache mark that it carries at its end."""

    pointer: str
    title: str
    pieces: tuple[PromptPiece, ...]
    mark: CacheMark | None


def prompt_blocks(context: AssembledContext) -> tuple[PromptBlock, ...]:
    """Return each text of a request, in order; segments that have no text there stand in a last block of their own."""
    numbers = {record.segment_id: number for number, record in enumerate(context.manifest.segments, 1)}
    marks = {mark.mark: mark for mark in context.manifest.cache}
    seen: set[str] = set()
    grouped = [(pointer, tuple(lines)) for pointer, lines in groupby(blame(context), key=lambda line: line.block)]
    last = {_marked(pointer, marks): place for place, (pointer, _) in enumerate(grouped)}
    blocks = []
    for place, (pointer, lines) in enumerate(grouped):
        mark = _marked(pointer, marks)
        blocks.append(
            PromptBlock(
                pointer=pointer,
                title=_title(context, pointer),
                pieces=tuple(_pieces(lines, numbers, seen)),
                mark=marks[mark] if mark is not None and last[mark] == place else None,
            )
        )
    silent = [record for record in context.manifest.segments if record.segment_id not in seen]
    if silent:
        pieces = tuple(
            PromptPiece(
                number=numbers[record.segment_id],
                record=record,
                first=True,
                text="",
                line=1,
                continues=False,
                source_lines=(),
            )
            for record in silent
        )
        blocks.append(PromptBlock(pointer="", title="Segments without a text of their own", pieces=pieces, mark=None))
    return tuple(blocks)


def _marked(pointer: str, marks: Mapping[str, CacheMark]) -> str | None:
    """Return the mark of the block in which a text stands."""
    while pointer and pointer not in marks:
        pointer = pointer.rpartition("/")[0]
    return pointer or None


def _pieces(lines: Iterable[BlameLine], numbers: Mapping[SegmentId, int], seen: set[str]) -> Iterator[PromptPiece]:
    for record, stretches in groupby(_stretches(lines), key=lambda one: one.record):
        owned = list(stretches)
        first = record is not None and record.segment_id not in seen
        if record is not None:
            seen.add(record.segment_id)
        yield PromptPiece(
            number=None if record is None else numbers[record.segment_id],
            record=record,
            first=first,
            text="".join(one.text for one in owned).removesuffix("\n"),
            line=owned[0].line,
            continues=owned[0].continues,
            source_lines=tuple(one.source_line for one in owned),
        )


class _Stretch(NamedTuple):
    """The part of a line that one owner has."""

    record: SegmentRecord | None
    line: int
    source_line: int | None
    text: str
    continues: bool


def _stretches(lines: Iterable[BlameLine]) -> Iterator[_Stretch]:
    for line in lines:
        if len(line.owners) == 1:
            owner = line.owners[0]
            yield _Stretch(owner.segment, line.number, owner.source_line, line.text, continues=False)
            continue
        data = line.text.encode("utf-8")
        for place, owner in enumerate(line.owners):
            text = data[owner.start - line.start : owner.end - line.start].decode("utf-8", "replace")
            if text != "\n" or place == 0:  # the end of a line of somebody else's is no line of its own
                yield _Stretch(owner.segment, line.number, owner.source_line, text, continues=place > 0)


def _title(context: AssembledContext, pointer: str) -> str:
    """Say in words what a text is: `Tool fs_read`, `System, block 2`, `Message 3 (user), block 1: tool result`."""
    part, *rest = pointer.strip("/").split("/")
    if part == "tools":
        return f"Tool {context.tools[int(rest[0])].get('name', rest[0])}"
    if part == "system":
        return f"System, block {int(rest[0]) + 1}"
    message = context.messages[int(rest[0])]
    block = message["content"][int(rest[2])]
    kind = str(block.get("type", "")).replace("_", " ")
    words = f"Message {int(rest[0]) + 1} ({message['role']}), block {int(rest[2]) + 1}: {kind}"
    inner = rest[4] if len(rest) > 4 and rest[3] == "content" else None
    return f"{words}, part {int(inner) + 1}" if inner is not None and len(block["content"]) > 1 else words
