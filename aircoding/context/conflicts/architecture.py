"""Architecture conflicts: a write area that meets an interface of an accepted decision that the task does not carry."""

from __future__ import annotations

from collections.abc import Iterable

from aircoding.context.conflicts.naming import conflict_id
from aircoding.records.conflicts import Conflict, ConflictKind, Route
from aircoding.records.tasks import Adr, TaskSpec
from aircoding.rules.globs import overlap

__all__ = ["architecture_conflicts"]


def architecture_conflicts(task: TaskSpec, adrs: Iterable[Adr]) -> tuple[Conflict, ...]:
    """Return the conflicts of a write area with interfaces that accepted decisions declare.

    A task that carries the decision (`adr: [ID]`) has none; a person's ruling is the other grant (see `rulings`).
    """
    return tuple(
        Conflict(
            conflict_id=conflict_id(ConflictKind.ARCHITECTURE, task.id, adr.id),
            kind=ConflictKind.ARCHITECTURE,
            parties=(f"air:task/{task.id}", adr.uri),
            subject=glob,
            detail=f"task {task.id} may write {area}, which meets {glob}, an interface of ADR {adr.id} ({adr.title})",
            ruling=f"nobody wins: the task waits until it carries `adr: [{adr.id}]` or the area is narrowed",
            winner=None,
            route=Route.ARCHITECTURE_DESIGNER,
            blocking=True,
            state="open",
        )
        for adr in sorted(adrs, key=lambda adr: adr.id)
        if adr.status == "accepted" and adr.id not in task.adr
        for area, glob in _first_meeting(task.write_area, adr.interfaces)
    )


def _first_meeting(areas: Iterable[str], globs: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    pairs = ((area, glob) for area in areas for glob in globs if overlap(area, glob))
    first = next(pairs, None)
    return () if first is None else (first,)
