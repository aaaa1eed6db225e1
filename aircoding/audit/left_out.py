"""What one prompt left out, by source and reason. Pure."""

from __future__ import annotations

from aircoding.context.manifest import latest_outcomes
from aircoding.records.accounting import LeftOut
from aircoding.records.layers import OutcomeKind
from aircoding.records.manifest import Manifest, OutcomeRecord

__all__ = ["left_out_of"]


def left_out_of(manifest: Manifest, *, layer: str | None = None, reason: str | None = None) -> tuple[LeftOut, ...]:
    """Return what a prompt left out or shortened, the most tokens first."""
    groups: dict[tuple[object, ...], list[OutcomeRecord]] = {}
    for note in latest_outcomes(manifest.outcomes):
        asked = layer in (None, note.layer) and reason in (None, note.reason)
        if asked and note.outcome is not OutcomeKind.INCLUDED:
            groups.setdefault((note.uri, note.layer, note.outcome, note.reason, note.by), []).append(note)
    made = (_group(manifest, notes) for notes in groups.values())
    return tuple(sorted(made, key=lambda one: (-one.tokens, one.example.uri, one.example.by)))


def _group(manifest: Manifest, notes: list[OutcomeRecord]) -> LeftOut:
    return LeftOut(
        example=notes[-1],
        manifest_id=manifest.manifest_id,
        workers=1,
        candidates=len(notes),
        details=len({note.detail for note in notes}),
        tokens=sum(note.tokens for note in notes),
        roles=(manifest.role,),
        tasks=(manifest.task_id,) if manifest.task_id is not None else (),
    )
