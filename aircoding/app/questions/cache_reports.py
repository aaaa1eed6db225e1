"""What a recorded call read from the provider's prompt cache, and what it should have read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aircoding.app.models import capabilities
from aircoding.app.questions.asking import record_of
from aircoding.app.questions.kept import whole_or_account
from aircoding.app.questions.selectors import selected_id
from aircoding.audit.prefixes import PrefixComparison, compare_prefixes
from aircoding.records.ids import ManifestId
from aircoding.records.manifest import AssembledContext, CacheMark, Manifest
from aircoding.records.usage import Usage
from aircoding.store.cache_marks import counted_prefixes

if TYPE_CHECKING:
    from aircoding.store import Store

__all__ = ["Against", "CacheReport", "cache_report"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheReport:
    """One call: its marks with what they did, its usage, and the event `cache.missed` where it read too little.

    `usage` is None while there is no answer. `prefix_tokens` is the length up to each mark: as the provider counts,
    scaled from the estimate by what was cached in all, where something was (`counted`), else the estimate itself.
    `simulated` says that no provider counted, `takes_marks` whether the model takes marks by the table of models.
    `against` is an earlier request whose bytes it should have shared; None: there is none.
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
    against: Against | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Against:
    """An earlier request that the one asked about is compared with, byte by byte.

    `idle_seconds` lie between the two assemblies. `readable_tokens` is the part that has the same bytes up to a mark of
    the earlier one, as the provider counts where there is a usage to scale by, else the estimate.
    """

    manifest_id: str
    session_id: str
    turn: int
    idle_seconds: float
    readable_tokens: int
    prefix: PrefixComparison


def cache_report(start: Path, given: str, *, against: str | None = None) -> CacheReport:
    """Return what the call of an assembly read, and how far it begins as an earlier one did.

    Args:
        start: a folder of the project.
        given: an assembly, by any selector.
        against: the earlier one; None: the turn before, else the last of another worker of the run, role and model.

    Raises:
        NotFoundError: there is no such assembly.
    """
    with record_of(start) as (_, store):
        context, is_whole = whole_or_account(store, selected_id(store, given))
        manifest, session = context.manifest, context.manifest.session_id
        other = selected_id(store, against) if against is not None else _earlier(store, manifest)
        earlier = store.assemblies.get(other) if other is not None and (is_whole or against is not None) else None
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
        against=_against(earlier, context, usage) if earlier is not None else None,
    )


def _earlier(store: Store, manifest: Manifest) -> ManifestId | None:
    """Return the assembly that should have left something to read: see `cache_report`."""
    own: ManifestId | None = None
    others: ManifestId | None = None
    for head in store.index.heads(run_id=manifest.run_id, role=manifest.role):
        if head.manifest_id == manifest.manifest_id:
            break
        if head.session_id == manifest.session_id:
            own = ManifestId(head.manifest_id)
        else:
            others = ManifestId(head.manifest_id)
    return own or others


def _against(earlier: AssembledContext, context: AssembledContext, usage: Usage | None) -> Against:
    prefix = compare_prefixes(earlier, context)
    estimated = sum(record.tokens for record in context.manifest.segments)
    scale = usage.prompt_tokens / estimated if usage is not None and estimated else 1.0
    before, now = (datetime.fromisoformat(one.manifest.created_at) for one in (earlier, context))
    return Against(
        manifest_id=earlier.manifest_id,
        session_id=earlier.manifest.session_id,
        turn=earlier.manifest.turn,
        idle_seconds=(now - before).total_seconds(),
        readable_tokens=round(prefix.readable.prefix_tokens * scale) if prefix.readable is not None else 0,
        prefix=prefix,
    )
