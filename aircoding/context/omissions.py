"""The two lines in which a worker is told what was left out for space, and how to ask for it."""

from __future__ import annotations

from collections.abc import Sequence

from aircoding.context.draft import Item, Note
from aircoding.context.tokens import estimate_tokens
from aircoding.records.digests import sha256_text
from aircoding.records.ids import SegmentId
from aircoding.records.layers import Form, Layer, OutcomeKind, Reason, Scope, SegmentKind, Trust
from aircoding.records.manifest import OutcomeRecord
from aircoding.records.segments import Segment, Source
from aircoding.records.snapshot import Estimator

__all__ = ["MOST_NAMES", "omission_note"]

MOST_NAMES = 8
"""Most texts that the note names; the manifest has them all."""
_NAME_CHARS = 120
"""A longer name loses its beginning: the end of a path says more."""


def omission_note(notes: Sequence[Note], estimator: Estimator) -> Item | None:
    """Return the note as an item of L9, or None when nothing was cut for space.

    It names what was cut in the order of `notes`, where what is worth most comes first.
    """
    cut = [note for note in notes if isinstance(note, OutcomeRecord) and note.reason is Reason.BUDGET]
    if not cut:
        return None
    shown = ", ".join(map(_name, cut[:MOST_NAMES]))
    more = f" and {len(cut) - MOST_NAMES} more" if len(cut) > MOST_NAMES else ""
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
    """Return the name of a text: path or address of its source and which part of it, as in its segment id."""
    name = note.segment_id.split(":", 1)[1].rsplit("@", 1)[0].removesuffix("~short")
    if not name.startswith(("~/", "/")):
        name = name.split(":", 1)[1]
    # A name that breaks the line would make the note look like words of ours about something else.
    name = "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in name)
    if len(name) > _NAME_CHARS:
        name = "…" + name[1 - _NAME_CHARS :]
    return f"{name} (nothing left)" if note.outcome is OutcomeKind.OMITTED else name
