"""What an epoch has sent already, read back from its last assembly."""

from __future__ import annotations

from aircoding.records.manifest import AssembledContext, SegmentRecord
from aircoding.records.snapshot import Frozen

__all__ = ["frozen_from"]


def frozen_from(context: AssembledContext) -> Frozen:
    """Return the frozen part of the turns that follow `context` in its epoch.

    Recorded messages are counted by their uris (`air:session/…/message/N/block/M`), so that
    notices of ours between them do not shift the count.
    """
    segments = context.manifest.segments
    numbers = [number for record in segments if (number := _message_number(record)) is not None]
    return Frozen(context=context, message_count=max(numbers, default=-1) + 1)


def _message_number(record: SegmentRecord) -> int | None:
    _, found, rest = record.source.uri.partition("/message/")
    return int(rest.split("/", 1)[0]) if found and record.selected_by == "conversation" else None
