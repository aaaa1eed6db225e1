"""Which paths a session has read or written: scoped rules and read-before-edit ask this."""

from __future__ import annotations

from collections.abc import Iterable

from aircoding.records.calls import ToolRecord
from aircoding.records.ids import Digest

__all__ = ["baselines", "last_digests", "touched_paths"]


def last_digests(records: Iterable[ToolRecord]) -> dict[str, Digest]:
    """Return for each path the digest that the session last read or wrote; `records` are in call order.

    Calls without a result do not count: what an interrupted call did is not known.
    """
    known: dict[str, Digest] = {}
    for record in records:
        if record.result is not None:
            known.update(record.result.read_digests)
            known.update(record.result.written_digests)
    return known


def touched_paths(records: Iterable[ToolRecord]) -> tuple[str, ...]:
    """Return each path that the session has read or written, in the order of first touch."""
    return tuple(last_digests(records))


def baselines(records: Iterable[ToolRecord]) -> dict[str, Digest]:
    """Return for each path the digest that the session's own calls left or saw last, its commands included.

    What differs from it was changed by somebody else.
    """
    known: dict[str, Digest] = {}
    for record in records:
        if record.result is not None:
            known.update(record.result.read_digests)
            known.update(record.result.written_digests)
            known.update(record.result.changed_digests)
    return known
