"""What an epoch has sent already, read back from its last assembly."""

from __future__ import annotations

from aircoding.records.layers import Reason
from aircoding.records.manifest import AssembledContext
from aircoding.records.selections import CONVERSATION
from aircoding.records.snapshot import Frozen

__all__ = ["frozen_from"]


def frozen_from(context: AssembledContext) -> Frozen:
    """Return the frozen part of the turns that follow `context` in its epoch.

    Recorded messages are counted by the uris of their blocks (`air:session/…/message/N/block/M`), those that were
    left out included, so that notices of ours between them do not shift the count.
    """
    shown = (record.source.uri for record in context.manifest.segments if record.selected_by == CONVERSATION)
    left_out = (note.uri for note in context.manifest.outcomes if note.reason is Reason.STALE and note.by == "epoch")
    numbers = [int(uri.split("/message/")[1].split("/", 1)[0]) for uri in (*shown, *left_out)]
    return Frozen(context=context, message_count=max(numbers, default=-1) + 1)
