"""What a recorded call read from the provider's prompt cache, and what it should have read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aircoding.app.models import capabilities
from aircoding.app.project import open_project
from aircoding.app.questions.assemblies import full_id
from aircoding.records.ids import ManifestId
from aircoding.records.manifest import CacheMark
from aircoding.records.usage import Usage
from aircoding.store.cache_marks import counted_prefixes

__all__ = ["CacheReport", "cache_report"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheReport:
    """One call: its marks with what they did, its usage, and the event `cache.missed` where it read too little.

    `usage` is None while there is no answer. `prefix_tokens` is the length up to each mark: as the provider counts,
    scaled from the estimate by what was cached in all, where something was (`counted`), else the estimate itself.
    `simulated` says that no provider counted, `takes_marks` whether the model takes marks by the table of models.
    """

    manifest_id: str
    session_id: str
    turn: int
    model: str
    marks: tuple[CacheMark, ...]
    usage: Usage | None
    missed: Mapping[str, Any] | None
    prefix_tokens: tuple[int, ...]
    counted: bool
    simulated: bool
    takes_marks: bool


def cache_report(start: Path, given: str) -> CacheReport:
    """Return what the call of an assembly read; the start of an id is enough when only one has it.

    Raises:
        NotFoundError: there is no such assembly.
    """
    with open_project(start).open_store() as store:
        manifest = store.assemblies.account(ManifestId(full_id(store, given))).manifest
        session = manifest.session_id
        calls = store.queries.calls(session_id=session, limit=None)
        simulated = store.calls.spending(manifest.run_id).simulated_calls > 0
        events = store.queries.events(manifest.run_id, types=("cache.missed",), session_id=session, limit=None)
    answered = [call for call in calls if call.manifest_id == manifest.manifest_id and call.state == "committed"]
    missed = [event.payload for event in events if event.payload.get("manifest_id") == manifest.manifest_id]
    usage = answered[0].usage if answered else None
    scaled = counted_prefixes(manifest.cache, usage) if usage is not None else ()
    return CacheReport(
        manifest_id=manifest.manifest_id,
        session_id=session,
        turn=manifest.turn,
        model=manifest.model,
        marks=manifest.cache,
        usage=usage,
        missed=missed[0] if missed else None,
        prefix_tokens=scaled if any(scaled) else tuple(mark.prefix_tokens for mark in manifest.cache),
        counted=any(scaled),
        simulated=simulated,
        takes_marks=capabilities().row(manifest.model).cache_marks,
    )
