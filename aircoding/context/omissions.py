"""The two lines in which a worker is told what was left out for space, and how to ask for it."""

from __future__ import annotations

from aircoding.context.draft import Item, Note
from aircoding.context.tokens import estimate_tokens
from aircoding.records.digests import sha256_text
from aircoding.records.ids import SegmentId
from aircoding.records.layers import Form, Layer, OutcomeKind, Reason, Scope, SegmentKind, Trust
from aircoding.records.manifest import OutcomeRecord
from aircoding.records.segments import Segment, Source
from aircoding.records.snapshot import Estimator

__all__ = ["omission_note"]

_MOST_NAMES = 8


def omission_note(notes: tuple[Note, ...], estimator: Estimator) -> Item | None:
    """Return the note as an item of L9, or None when nothing was cut for space."""
    cut = [note for note in notes if isinstance(note, OutcomeRecord) and note.reason is Reason.BUDGET]
    if not cut:
        return None
    names = sorted({_name(note) for note in cut})
    shown = ", ".join(names[:_MOST_NAMES])
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    text = (
        f"Shortened or left out for space: {shown}{more}.\n"
        "To see one of them whole, read it by its path, or say in your result that you need it."
    )
    digest = sha256_text(text)
    segment = Segment(
        segment_id=SegmentId(f"L9:air:assembly/omissions@{digest[:8]}"),
        layer=Layer.L9,
        scope=Scope.TURN,
        trust=Trust.BUILTIN,
        kind=SegmentKind.OMISSION_NOTE,
        source=Source(uri="air:assembly/omissions", digest=digest, text_digest=digest),
        text=text,
    )
    return Item(segment, Form.WHOLE, text, estimate_tokens(text, estimator), "fit")


def _name(note: OutcomeRecord) -> str:
    name = note.uri.split(":", 1)[1]
    return f"{name} (nothing left)" if note.outcome is OutcomeKind.OMITTED else name
