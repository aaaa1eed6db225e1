"""Whose each line of a prompt is: layer, source, line in the source, version, rule. Pure.

Spans are sorted once for each text and walked beside its lines, so the work grows with the prompt and no faster.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, count

from aircoding.audit.ownership import Ownership, Stretch
from aircoding.audit.source_lines import source_lines
from aircoding.audit.texts import request_texts
from aircoding.records.manifest import AssembledContext, SegmentRecord

__all__ = ["BlameLine", "Owner", "blame", "version_of"]

_VERSION_CHARS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """A stretch of one line that one segment owns, or the layout (None); `start` and `end` are byte offsets in the
    block. `source_line` is the line of the source that stands there (from 1), only where it is certain.
    """

    start: int
    end: int
    segment: SegmentRecord | None
    source_line: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BlameLine:
    """One line of one text of a request, its line feed included: the `text` of all lines joined is the whole text.

    `block` is the JSON pointer of the text; of a whole node (a tool, a tool call) it is the node's, and its text the
    node's JSON, indented. `number` counts from 1 in the block, `start` and `end` are byte offsets in it. `owners`
    follow one another without a gap; an observed request may have bytes that nobody could attribute, they count as
    layout.
    """

    block: str
    number: int
    start: int
    end: int
    text: str
    owners: tuple[Owner, ...]


def blame(context: AssembledContext, *, block: str | None = None) -> tuple[BlameLine, ...]:
    """Return each line of each text with its owners, in request order.

    Args:
        context: an assembly with its texts.
        block: the JSON pointer of a text or of a node; only texts at or below it are given.
    """
    owned = Ownership(context.manifest)
    lines: list[BlameLine] = []
    for pointer, text in request_texts(context):
        if block is not None and pointer != block and not pointer.startswith(block + "/"):
            continue
        stretches = owned.stretches(pointer)
        if stretches is not None:
            lines.extend(_walked(pointer, text, stretches))
        else:
            lines.extend(_of_node(pointer, text, owned.node(pointer)))
    return tuple(lines)


def version_of(record: SegmentRecord) -> str:
    """Return which version of its source a segment is: the revision where it is known, else the digest, both short."""
    source = record.source
    return (source.revision or source.digest or source.text_digest)[:_VERSION_CHARS]


def _of_node(pointer: str, text: str, record: SegmentRecord | None) -> Iterator[BlameLine]:
    for number, start, end, line in _lines(text):
        owner = Owner(start=start, end=end, segment=record, source_line=None)
        yield BlameLine(block=pointer, number=number, start=start, end=end, text=line, owners=(owner,))


def _walked(pointer: str, text: str, stretches: Sequence[Stretch]) -> Iterator[BlameLine]:
    """Walk lines and stretches side by side."""
    owners_of = _Pieces(text.encode("utf-8"), stretches).between
    return (
        BlameLine(block=pointer, number=number, start=start, end=end, text=line, owners=owners_of(start, end))
        for number, start, end, line in _lines(text)
    )


class _Pieces:
    """The stretches of one text with the layout between them, handed out line by line."""

    def __init__(self, data: bytes, stretches: Sequence[Stretch]) -> None:
        self._data = data
        self._rest = iter(stretches)
        self._next: Stretch | None = None
        self._end = 0
        self._record: SegmentRecord | None = None
        self._lines: Iterator[int | None] = iter(())
        self._advance()

    def between(self, start: int, end: int) -> tuple[Owner, ...]:
        """Return the owners of the next line."""
        if self._end >= end:
            owner = Owner(start=start, end=end, segment=self._record, source_line=next(self._lines, None))
            return (owner,)
        owners: list[Owner] = []
        while start < end:
            if self._end <= start:
                self._advance()
                continue
            stop = min(self._end, end)
            line = next(self._lines, None)
            owners.append(Owner(start=start, end=stop, segment=self._record, source_line=line))
            start = stop
        return tuple(owners)

    def _advance(self) -> None:
        """Go on to the next stretch, or to the layout before it."""
        place = self._end
        if self._next is None:
            self._next = next(self._rest, None)
        if self._next is None or self._next[0] > place:
            self._end = self._next[0] if self._next is not None else len(self._data)
            self._record, self._lines = None, iter(())
            return
        start, end, self._record = self._next
        self._next = None
        self._end = max(place, end)
        self._lines = iter(source_lines(self._record, self._data[start:end]))


def _lines(text: str) -> Iterator[tuple[int, int, int, str]]:
    """Return number, start, end and text of each line; only a line feed ends one."""
    lines = _LINE.findall(text)
    sizes = map(len, lines) if text.isascii() else (len(line.encode("utf-8")) for line in lines)
    ends = list(accumulate(sizes))
    return zip(count(1), chain((0,), ends), ends, lines, strict=False)


_LINE = re.compile(r"[^\n]*\n|[^\n]+")
