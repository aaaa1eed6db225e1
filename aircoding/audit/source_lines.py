"""Which line of its source each line of a segment is, where that is certain. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from aircoding.records.digests import sha256_bytes
from aircoding.records.layers import Form, SegmentKind
from aircoding.records.manifest import SegmentRecord
from aircoding.records.segments import place_of

__all__ = ["source_lines"]

_MADE = frozenset({SegmentKind.SKILLS_INDEX, SegmentKind.NOTICE})
"""Kinds whose words are ours: their lines say where the reason stands, not where the text does."""
_GAP = re.compile(
    r"\[… (?:the middle of line (?P<middle>\d+)"
    r"|(?:the end of line (?P<end>\d+))?(?:, )?(?:lines (?P<first>\d+)-(?P<last>\d+))?(?:, )?"
    r"(?:the start of line (?P<start>\d+))?) left out, \d+ of \d+ bytes …\]"
)
"""The line of an excerpt that says what is missing of it (`sources.excerpts`)."""


def source_lines(record: SegmentRecord, text: bytes) -> Sequence[int | None]:
    """Return for each line of a segment's text the number of that line in the source; empty when nothing is certain.

    A whole text has as many lines as the source names; comments that were taken out, secrets of several lines that
    were masked and texts that were blocked leave another number. An excerpt says itself which lines it lacks: with
    them its lines must come to the same number.

    Args:
        record: the segment.
        text: what stands in the request for it.
    """
    source = record.source
    if source.start_line is None or source.end_line is None or record.kind in _MADE or record.form is Form.REFERENCE:
        return ()
    shortened = record.form is Form.EXCERPT or place_of(record.segment_id).endswith("~short")
    if shortened:
        return _of_excerpt(text.decode("utf-8", "replace"), source.start_line, source.end_line)
    feeds = text.count(b"\n")
    lines = source.end_line - source.start_line + 1
    if lines not in {feeds + 1, feeds + (not text.endswith(b"\n"))}:
        return ()
    if sha256_bytes(text) != source.text_digest:
        return ()
    return range(source.start_line, source.start_line + feeds + 1)


def _of_excerpt(text: str, first_line: int, last_line: int) -> Sequence[int | None]:
    lines = text.removesuffix("\n").split("\n")
    gaps = [(place, gap) for place, line in enumerate(lines) if (gap := _GAP.fullmatch(line)) is not None]
    if len(gaps) != 1:
        return ()
    place, gap = gaps[0]
    tail = len(lines) - place - 1
    before, after = _around(gap)
    ends = {last_line, last_line - text.endswith("\n")}
    if before != first_line + place - 1 or after + tail - 1 not in ends:
        return ()
    return [*range(first_line, first_line + place), None, *range(after, after + tail)]


def _around(gap: re.Match[str]) -> tuple[int, int]:
    """Return the last line that an excerpt shows before its gap, in part or whole, and the first one after it."""
    number = {name: int(value) for name, value in gap.groupdict().items() if value is not None}
    if "middle" in number:
        return number["middle"], number["middle"]
    first, last = number.get("first"), number.get("last")
    end, start = number.get("end"), number.get("start")
    before = end or (first or start or 0) - 1
    after = start or (last or end or 0) + 1
    return before, after
