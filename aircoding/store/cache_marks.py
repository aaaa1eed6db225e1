"""What the usage of an answered call says of each cache mark, in tokens as the provider counts them; pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from aircoding.records.manifest import CacheMark
from aircoding.records.usage import Usage

__all__ = ["counted_prefixes", "measured_marks"]

_NEAR = 0.08
"""Share of the cached prompt by which an estimated length may miss the counted one and still be the same place."""


def counted_prefixes(marks: Sequence[CacheMark], usage: Usage) -> tuple[int, ...]:
    """Return the length of each mark's prefix on the provider's scale.

    What was cached, read or written, ends at the last mark: that gives the scale. Where nothing was, there is none, and
    all lengths are 0.
    """
    cached = _cached(usage)
    whole = marks[-1].prefix_tokens if marks else 0
    scale = cached / whole if whole else 0.0
    return tuple(round(mark.prefix_tokens * scale) for mark in marks)


def measured_marks(marks: Sequence[CacheMark], usage: Usage) -> tuple[CacheMark, ...]:
    """Return the marks with what the usage says of each: read, written, or none.

    A mark that the forecast of the same call calls written was read only when what was read reaches it: no earlier
    request of ours had ended an entry there. Any other may lie a little further by estimate.
    """
    cached, read = _cached(usage), usage.cache_read_tokens
    if not cached or not marks:
        return tuple(replace(mark, measured="none") for mark in marks)
    states = []
    for mark, prefix in zip(marks, counted_prefixes(marks, usage), strict=True):
        tolerance = 0.0 if mark.predicted == "written" else _NEAR * cached
        states.append("read" if read and prefix <= read + tolerance else "written")
    states[-1] = "written" if cached > read else "read"
    return tuple(replace(mark, measured=state) for mark, state in zip(marks, states, strict=True))


def _cached(usage: Usage) -> int:
    return usage.cache_read_tokens + usage.cache_write_5m_tokens + usage.cache_write_1h_tokens
