"""Take manifests apart into what came in with each: the same values as the store keeps. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from aircoding.records.manifest import Manifest
from aircoding.records.seen import SeenOutcome, SeenSegment, Worker

__all__ = ["Sightings", "sightings"]

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sightings:
    """Workers, segments and outcomes, each in the order in which they were recorded."""

    workers: tuple[Worker, ...]
    segments: tuple[SeenSegment, ...]
    outcomes: tuple[SeenOutcome, ...]


def sightings(manifests: Iterable[Manifest]) -> Sightings:
    """Return what came in with each manifest; those of one session come in the order of their turns."""
    segments: list[SeenSegment] = []
    outcomes: list[SeenOutcome] = []
    before: dict[str, Manifest] = {}
    sessions: dict[tuple[str, str | None, str], dict[str, str]] = {}
    for manifest in manifests:
        last = before.get(manifest.session_id)
        earlier = last if last is not None and last.epoch == manifest.epoch else None
        before[manifest.session_id] = manifest
        who = (manifest.run_id, manifest.task_id, manifest.role)
        sessions.setdefault(who, {}).setdefault(manifest.session_id, manifest.manifest_id)
        place = _place(manifest)
        new = _new(earlier.segments if earlier else (), manifest.segments)
        segments += (SeenSegment(**place, record=record) for record in new)
        notes = _new(earlier.outcomes if earlier else (), manifest.outcomes)
        outcomes += (SeenOutcome(**place, record=note) for note in notes)
    workers = (
        Worker(run_id=run, task_id=task, role=role, session_ids=tuple(ids), manifest_id=next(iter(ids.values())))
        for (run, task, role), ids in sessions.items()
    )
    return Sightings(workers=tuple(workers), segments=tuple(segments), outcomes=tuple(outcomes))


def _new(earlier: Sequence[Item], now: Sequence[Item]) -> Sequence[Item]:
    """Return what a turn added to a list; all of it where the list does not begin as it did."""
    return now[len(earlier) :] if tuple(now[: len(earlier)]) == tuple(earlier) else now


def _place(manifest: Manifest) -> dict[str, Any]:
    names = ("manifest_id", "run_id", "session_id", "task_id", "attempt", "role", "turn")
    return {name: getattr(manifest, name) for name in names}
