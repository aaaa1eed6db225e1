"""Compare what the prompt cache should have given with what the provider's usage says; pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from aircoding.records.caching import CacheCheck, CacheForecast, Shortfall
from aircoding.records.ids import SegmentId
from aircoding.records.manifest import CacheMark, SegmentRecord
from aircoding.records.usage import Usage

__all__ = ["compare", "foretold_marks", "segment_at"]

_NEAR = 0.08
"""Share of the prompt by which an estimated length may miss the measured one and still be the same place."""


def compare(forecast: CacheForecast, usage: Usage, shortfall: Shortfall | None = None) -> CacheCheck:
    """Return how a call compared: hit, partial, miss, or none when nothing was to be read.

    Estimates are scaled to what the provider counted. What was measured is taken as the nearest of the lengths that
    an entry can have, so that an estimate that is a little off is no miss.
    """
    scale = usage.prompt_tokens / forecast.prompt_tokens if forecast.prompt_tokens else 0.0
    expected = max(forecast.read_tokens, 0 if shortfall is None else shortfall.expected_tokens)
    lengths = {0, forecast.read_tokens, expected, *forecast.boundaries_tokens}
    read = min(lengths, key=lambda tokens: (abs(tokens * scale - usage.cache_read_tokens), -tokens))
    if usage.cache_read_tokens >= (expected - _NEAR * forecast.prompt_tokens) * scale and usage.cache_read_tokens:
        read = max(read, expected)
    kind = "none" if not expected else "hit" if read >= expected else "partial" if read else "miss"
    check = CacheCheck(
        kind=kind,
        expected_tokens=round(expected * scale),
        predicted_tokens=round(forecast.read_tokens * scale),
        measured_tokens=usage.cache_read_tokens,
    )
    if kind in {"none", "hit"}:
        return check
    if shortfall is not None and read >= forecast.read_tokens:
        return replace(
            check,
            reason=shortfall.reason,
            detail=shortfall.detail,
            block=shortfall.block,
            offset_bytes=shortfall.offset_bytes,
        )
    detail = "by the rules it could be read, and the provider did not find it"
    return replace(check, reason="not_found", detail=detail)


def foretold_marks(marks: Sequence[CacheMark], forecast: CacheForecast) -> tuple[CacheMark, ...]:
    """Return a manifest's marks with what the forecast says of each: read, written, or none."""
    states = {mark.mark: mark.state for mark in forecast.marks}
    return tuple(replace(mark, predicted=states.get(mark.mark)) for mark in marks)


def segment_at(segments: Sequence[SegmentRecord], block: str | None, offset_bytes: int | None) -> SegmentId | None:
    """Return the segment that stands in a block at an offset of its text, or else the next one there; the first one
    where the block is no text.
    """
    if block is None:
        return None
    found: SegmentId | None = None
    for record in segments:
        for span in record.spans:
            if span.block != block and not span.block.startswith(f"{block}/"):
                continue
            if offset_bytes is None or span.end is None or offset_bytes < span.end:
                return record.segment_id
            found = record.segment_id
    return found
