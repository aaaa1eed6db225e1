"""Close an assembly: set the marks, take the digests, write the manifest from what the stages noted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from aircoding.context.draft import Item, outcome, suspicion
from aircoding.context.layout import Layout
from aircoding.context.marks import Request, mark_places, mark_request
from aircoding.context.tokens import estimate_range
from aircoding.records.conflicts import Conflict
from aircoding.records.digests import canonical_json, sha256_bytes, sha256_text
from aircoding.records.ids import ManifestId
from aircoding.records.layers import Layer, OutcomeKind
from aircoding.records.manifest import (
    AssembledContext,
    Budget,
    LayerBudget,
    Manifest,
    OutcomeRecord,
    Ref,
    SegmentRecord,
)
from aircoding.records.snapshot import Snapshot

__all__ = ["included", "latest_outcomes", "seal"]


def included(items: Iterable[Item], noted: Iterable[OutcomeRecord]) -> tuple[OutcomeRecord, ...]:
    """Return the outcome of each item of which no stage has noted one: it is in, as it is.

    What screening found in it without blocking it is the detail.
    """
    others = {note.segment_id for note in noted}
    return tuple(
        outcome(
            item.segment,
            OutcomeKind.INCLUDED,
            None,
            suspicion(item.segment.findings),
            tokens=item.tokens,
            by=item.selected_by,
        )
        for item in items
        if item.segment.segment_id not in others
    )


def seal(
    snapshot: Snapshot,
    request: Request,
    layout: Layout,
    scope_ends: Sequence[str],
    *,
    outcomes: tuple[OutcomeRecord, ...],
    conflicts: tuple[Conflict, ...],
) -> AssembledContext:
    """Return the finished context. `scope_ends` are the last blocks of the shared scopes."""
    segments = tuple(layout.segments)
    places = mark_places(request, scope_ends, _newest_before(snapshot))
    marks = mark_request(request, places=places, segments=segments, limits=snapshot.limits)
    digest = sha256_bytes(canonical_json(request.value()))
    asked = snapshot.request
    manifest_id = ManifestId("m-" + sha256_text(f"{asked.session_id}\n{asked.turn}\n{digest}")[:20])
    current = latest_outcomes(outcomes)
    omissions = tuple(note for note in current if note.outcome is not OutcomeKind.INCLUDED)
    refs = _refs(segments, omissions)
    expected = sum(record.tokens for record in segments)
    manifest = Manifest(
        manifest_id=manifest_id,
        digest=digest,
        provenance="assembled",
        run_id=asked.run_id,
        run_revision=asked.run_revision,
        session_id=asked.session_id,
        task_id=asked.task_id,
        attempt=asked.attempt,
        role=asked.role,
        mode=asked.mode,
        model=asked.model,
        turn=asked.turn,
        epoch=asked.epoch,
        created_at=snapshot.created_at,
        estimator=snapshot.estimator.name,
        policy_digest=snapshot.policy.digest,
        versions=snapshot.versions,
        segments=segments,
        layout=tuple(layout.spans),
        outcomes=outcomes,
        conflicts=conflicts,
        cache=marks,
        budget=_budget(snapshot, segments, omissions),
        refs=refs,
    )
    return AssembledContext(
        tools=tuple(request.tools),
        system=tuple(request.system),
        messages=tuple(request.messages),
        token_estimate=estimate_range(expected, snapshot.estimator),
        omissions=omissions,
        conflicts=tuple({one.conflict_id: one for one in conflicts}.values()),
        refs=refs,
        manifest_id=manifest_id,
        digest=digest,
        manifest=manifest,
    )


def _newest_before(snapshot: Snapshot) -> str | None:
    """Return where the request before carried its newest mark."""
    cache = snapshot.frozen.context.manifest.cache if snapshot.frozen is not None else ()
    return cache[-1].mark if cache else None


def latest_outcomes(outcomes: Sequence[OutcomeRecord]) -> tuple[OutcomeRecord, ...]:
    """Return the last record of each candidate: outcomes are append-only within an epoch."""
    latest = {note.segment_id: note for note in outcomes}
    return tuple(latest.values())


def _refs(segments: Sequence[SegmentRecord], omissions: Sequence[OutcomeRecord]) -> tuple[Ref, ...]:
    """Return how to fetch what stands in the request as an excerpt or a reference only."""
    partial = {note.segment_id for note in omissions if note.outcome in {OutcomeKind.EXCERPTED, OutcomeKind.REFERENCED}}
    found = {
        (record.source.uri, record.source.digest): Ref(uri=record.source.uri, digest=record.source.digest)
        for record in segments
        if record.segment_id in partial
    }
    return tuple(found.values())


def _budget(snapshot: Snapshot, segments: Sequence[SegmentRecord], omissions: Sequence[OutcomeRecord]) -> Budget:
    used = dict.fromkeys(Layer, 0)
    omitted = dict.fromkeys(Layer, 0)
    for record in segments:
        used[record.layer] += record.tokens
    for note in omissions:
        omitted[note.layer] += note.tokens
    return Budget(
        window=snapshot.limits.window_tokens,
        reserved_output=snapshot.limits.max_output_tokens,
        per_layer={layer: LayerBudget(used=used[layer], omitted=omitted[layer]) for layer in Layer},
    )
