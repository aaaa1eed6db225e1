"""What people ruled on conflicts, and what of a run is brought to whom: read from the record."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from aircoding.app.project import Project
from aircoding.context.conflicts import apply_ruling
from aircoding.records.conflicts import Conflict, Ruling, Suspicion
from aircoding.sources.routed import Routed

if TYPE_CHECKING:
    from aircoding.store import Store

__all__ = ["is_recorded", "recorded_rulings", "recorded_suspicions", "routed_of", "run_conflicts", "suspicions_of"]

_MAIN = "main"
_LARGEST = 20
"""Left-out texts that are handed on; the rest is counted."""


def recorded_rulings(project: Project) -> tuple[Ruling, ...]:
    """Return what counts for a run that is still to come; nothing where nothing was recorded yet."""
    if not is_recorded(project):
        return ()
    with project.open_store() as store:
        return store.rulings.rulings()


def is_recorded(project: Project) -> bool:
    """Whether there may be a record: a database file that is not there yet holds nothing."""
    return "://" in project.database or Path(project.database).exists()


def suspicions_of(store: Store) -> Callable[[str], tuple[Suspicion, ...]]:
    """Return what tells what a model said of the rules: in a run itself, and in others where a person has ruled on it.

    So a ruling counts in later runs, whatever their model sees.
    """

    def suspected(run_id: str) -> tuple[Suspicion, ...]:
        own = {one.conflict.conflict_id: one.suspicion for one in store.rulings.judged(run_id)}
        ruled = {ruling.conflict_id for ruling in store.rulings.rulings(run_id)}
        return tuple((_ruled(store, ruled) | own).values())

    return suspected


def recorded_suspicions(project: Project) -> tuple[Suspicion, ...]:
    """Return what counts for a run that is still to come: what a person has ruled on."""
    if not is_recorded(project):
        return ()
    with project.open_store() as store:
        return tuple(_ruled(store, {ruling.conflict_id for ruling in store.rulings.rulings()}).values())


def _ruled(store: Store, ruled: set[str]) -> dict[str, Suspicion]:
    if not ruled:
        return {}
    judged = store.rulings.judged()
    return {one.conflict.conflict_id: one.suspicion for one in judged if one.conflict.conflict_id in ruled}


def run_conflicts(store: Store, run_id: str) -> tuple[Conflict, ...]:
    """Return the conflicts of a run as they stand now, rulings applied."""
    rulings = {ruling.conflict_id: ruling for ruling in store.rulings.rulings(run_id)}
    return tuple(
        apply_ruling(one.conflict, rulings.get(one.conflict.conflict_id)) for one in store.rulings.conflicts(run_id)
    )


def routed_of(store: Store) -> Callable[[str, str], Routed]:
    """Return what tells a role its conflicts of a run: the coordinator all, and what was left out; others theirs."""

    def routed(run_id: str, role: str) -> Routed:
        conflicts = run_conflicts(store, run_id)
        if role != _MAIN:
            return Routed(conflicts=tuple(one for one in conflicts if one.route.value == role))
        left_out = tuple(one for one in store.rulings.left_out(run_id) if one.role != _MAIN)
        return Routed(conflicts=conflicts, left_out=left_out[:_LARGEST], left_out_count=len(left_out))

    return routed
