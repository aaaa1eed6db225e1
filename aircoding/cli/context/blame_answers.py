"""Whose each line of a prompt is, as text for a terminal in columns of one width, and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from aircoding.cli.output import visible_line
from aircoding.records.source_names import plain_uri

if TYPE_CHECKING:
    from aircoding.audit.blame import BlameLine, Owner
    from aircoding.records.manifest import SegmentRecord

__all__ = ["ToldLine", "blame_document", "blame_text"]

_SOURCE_CHARS, _RULE_CHARS, _TEXT_CHARS = 44, 24, 400
"""A column is as wide as it needs, and no wider than this; a longer name loses its beginning, a longer text its end."""
_LAYOUT = ("-", "(layout)", "", "")


def blame_text(lines: Sequence[BlameLine]) -> str:
    """Return the lines block by block: layer, source and line, version, rule; then line number and text.

    A line that several share has a row for each; the number stands in the first one, the text is each one's own part.
    """
    if not lines:
        return "no line matches"
    rows = [(line, [(_columns(owner), part) for owner, part in _parts(line)]) for line in lines]
    columns = [one for _, parts in rows for one, _ in parts]
    widths = [max(len(row[n]) for row in columns) for n in range(len(_LAYOUT))]
    digits = len(str(max(line.number for line in lines)))
    shown: list[str] = []
    for block, group in groupby(rows, key=lambda row: row[0].block):
        shown.append(f"--- {block}")
        for line, parts in group:
            shown.extend(_rows(line.number, parts, widths, digits))
    return "\n".join(shown)


def _rows(
    number: int, parts: Iterable[tuple[tuple[str, ...], str]], widths: Sequence[int], digits: int
) -> Iterator[str]:
    count = str(number)
    for columns, part in parts:
        cells = " ".join(cell.ljust(width) for cell, width in zip(columns, widths, strict=True))
        yield f"{cells} {count.rjust(digits)}) {_cut_end(visible_line(part), _TEXT_CHARS)}".rstrip()
        count = ""


def _parts(line: BlameLine) -> Iterator[tuple[Owner, str]]:
    data = line.text.encode("utf-8")
    for owner in line.owners:
        part = data[owner.start - line.start : owner.end - line.start].decode("utf-8", "replace").rstrip("\n")
        # A line feed alone after a text is no part of a line that a reader can see.
        if part or len(line.owners) == 1:
            yield owner, part


def _columns(owner: Owner) -> tuple[str, ...]:
    from aircoding.audit.blame import version_of

    record = owner.segment
    if record is None:
        return _LAYOUT
    line = f":{owner.source_line}" if owner.source_line is not None else ""
    source = _cut_start(visible_line(plain_uri(record.source.uri)), _SOURCE_CHARS - len(line))
    rule = _cut_start(visible_line(record.rule_id or ""), _RULE_CHARS)
    return record.layer.value, f"{source}{line}", version_of(record), rule


def _cut_start(text: str, most: int) -> str:
    return text if len(text) <= most else f"…{text[len(text) - most + 1 :]}"


def _cut_end(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldSegment:
    """A segment as blame tells it: without its spans, which are those of the lines."""

    segment_id: str
    layer: str
    scope: str
    trust: str
    kind: str
    uri: str
    revision: str
    rule_id: str | None
    form: str
    selected_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldOwner:
    """Whose a stretch of a line is, by byte offsets in its block; without a segment it is the prompt's own layout."""

    start: int
    end: int
    segment: ToldSegment | None
    source_line: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldLine:
    """One line of a block, from byte `start` to `end`, and whose it is."""

    block: str
    number: int
    start: int
    end: int
    text: str
    owners: tuple[ToldOwner, ...]


def blame_document(lines: Sequence[BlameLine]) -> tuple[ToldLine, ...]:
    """Return the JSON form."""
    return tuple(
        ToldLine(
            block=line.block,
            number=line.number,
            start=line.start,
            end=line.end,
            text=line.text,
            owners=tuple(_owner(owner) for owner in line.owners),
        )
        for line in lines
    )


def _owner(owner: Owner) -> ToldOwner:
    record = owner.segment
    segment = _segment(record) if record is not None else None
    return ToldOwner(start=owner.start, end=owner.end, segment=segment, source_line=owner.source_line)


def _segment(record: SegmentRecord) -> ToldSegment:
    from aircoding.audit.blame import version_of

    return ToldSegment(
        segment_id=record.segment_id,
        layer=record.layer.value,
        scope=record.scope.value,
        trust=record.trust.value,
        kind=record.kind.value,
        uri=record.source.uri,
        revision=version_of(record),
        rule_id=record.rule_id,
        form=record.form.value,
        selected_by=record.selected_by,
    )
