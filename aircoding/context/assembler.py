"""One assembly: a frozen snapshot in, a request and its manifest out, or an overflow (DESIGN section 3).

`assemble` is pure: the same snapshot gives the same bytes. The first turn of an epoch renders everything; a later
turn keeps what was sent, byte for byte, and appends.
"""

from __future__ import annotations

from aircoding.context.conflicts import detect
from aircoding.context.draft import Note, Stage, begin
from aircoding.context.extending import extend_epoch
from aircoding.context.fitting import fit
from aircoding.context.opening import open_epoch
from aircoding.context.precedence import precede
from aircoding.context.quarantine import screen
from aircoding.context.selection import select
from aircoding.records.manifest import AssembledContext, Overflow
from aircoding.records.snapshot import Snapshot

__all__ = ["EXTENDING", "OPENING", "assemble"]

OPENING: tuple[Stage, ...] = (select, screen, precede, detect, fit)
"""What happens to the candidates when an epoch opens, in order; each stage notes what it did."""
EXTENDING: tuple[Stage, ...] = (select, screen, precede, detect)
"""The same within an epoch, where nothing is fitted again."""


def assemble(snapshot: Snapshot) -> AssembledContext | Overflow:
    """Return the request for one turn, or what does not fit.

    An `Overflow` means that nothing may be sent: the caller asks for compaction or blocks.
    """
    draft = begin(snapshot)
    notes: tuple[Note, ...] = ()
    for stage in OPENING if snapshot.frozen is None else EXTENDING:
        draft, noted = stage(draft)
        notes += noted
        if draft.overflow is not None:
            return draft.overflow
    return open_epoch(draft, notes) if snapshot.frozen is None else extend_epoch(draft, notes)
