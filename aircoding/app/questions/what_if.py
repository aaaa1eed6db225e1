"""What a worker would have seen: the stored inputs of a recorded request, changed and assembled by today's program."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import aircoding
from aircoding.app.estimators import estimators_of
from aircoding.app.models import capabilities, limits_for
from aircoding.app.project import Project, open_recorded
from aircoding.app.questions.selectors import selected_id
from aircoding.app.questions.tried_rules import TriedRule, read_tried_rule
from aircoding.audit.differences import Difference, compare
from aircoding.audit.what_if import (
    Change,
    Overflowed,
    assemble_epoch,
    change_snapshot,
    named_candidates,
    near_names,
)
from aircoding.errors import NotFoundError
from aircoding.records.ids import ManifestId, SegmentId
from aircoding.records.layers import Layer
from aircoding.records.manifest import AssembledContext, Versions
from aircoding.records.segments import Segment
from aircoding.records.snapshot import ModelLimits, Snapshot
from aircoding.sources.detail import at_detail
from aircoding.sources.gather import MANIFEST_SCHEMA
from aircoding.sources.resources import prompts_digest

if TYPE_CHECKING:
    from aircoding.store import Store

__all__ = ["TakenIn", "WhatIf", "WhatIfRequest", "what_if"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WhatIfRequest:
    """What is to be another. `without` are names of rules or sources, `with_files` rule files, as they were given."""

    start: Path
    manifest_id: str
    without: tuple[str, ...] = ()
    with_files: tuple[str, ...] = ()
    window_tokens: int | None = None
    max_output_tokens: int | None = None
    model: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenIn:
    """A rule file as it was taken in; `replaced` says whether the recorded request had one from that source."""

    file: str
    uri: str
    trust: str
    segment_ids: tuple[SegmentId, ...]
    replaced: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class WhatIf:
    """What the worker would have seen, beside what it saw.

    `first_turn` is the turn that opened the epoch: it and all after it were assembled again. `unchanged` is the request
    that today's program makes of the recorded inputs; `same_program` says that it has the recorded digest. `difference`
    goes from `unchanged` to `would_be`, so what a newer program makes another is not in it. Where something does not
    fit, `overflow` says at which turn, and `would_be` and `difference` are None.
    """

    recorded: AssembledContext
    unchanged: AssembledContext
    would_be: AssembledContext | None
    overflow: Overflowed | None
    difference: Difference | None
    first_turn: int
    same_program: bool
    now: Versions
    limits: ModelLimits
    removed: tuple[SegmentId, ...]
    taken_in: tuple[TakenIn, ...]
    remarks: tuple[str, ...]


def what_if(request: WhatIfRequest) -> WhatIf:
    """Return what a worker would have seen if something had been another.

    Raises:
        NotFoundError: there is no such assembly, its texts are not kept, or a name means none of its candidates.
        UsageError: a file cannot be taken in as a rule file.
    """
    project = open_recorded(request.start)
    with project.open_store() as store:
        recorded = store.assemblies.get(selected_id(store, request.manifest_id))
        if request.model == recorded.manifest.model:
            request = replace(request, model=None)
        epoch = _epoch(store, recorded.manifest_id)
        tried = _tried(project, request, epoch[-1])
        change = Change(
            without=request.without,
            added=tuple(part for one in tried for part in one.segments),
            limits=_limits(project, request, epoch[-1]),
            estimator=estimators_of(store)(request.model) if request.model is not None else None,
        )
    removed = tuple(part for name in request.without for part in _named(epoch, change, name))
    unchanged = assemble_epoch(epoch)
    changed = assemble_epoch([change_snapshot(one, change) for one in epoch])
    base = recorded if isinstance(unchanged, Overflowed) else unchanged
    would_be = None if isinstance(changed, Overflowed) else changed
    return WhatIf(
        recorded=recorded,
        unchanged=base,
        would_be=would_be,
        overflow=changed if isinstance(changed, Overflowed) else None,
        difference=None if would_be is None else compare(base.manifest, would_be.manifest),
        first_turn=epoch[0].request.turn,
        same_program=not isinstance(unchanged, Overflowed) and unchanged.digest == recorded.digest,
        now=Versions(aircoding=aircoding.__version__, prompts=prompts_digest(), schema=MANIFEST_SCHEMA),
        limits=change.limits or epoch[-1].limits,
        removed=tuple(dict.fromkeys(removed)),
        taken_in=tuple(_taken_in(one, epoch) for one in tried),
        remarks=_remarks(request, tried),
    )


def _epoch(store: Store, manifest_id: str) -> tuple[Snapshot, ...]:
    """Return the snapshots of an epoch up to one assembly, the turn that opened it first."""
    found: list[Snapshot] = []
    at: str | None = manifest_id
    while at is not None:
        snapshot = store.assemblies.snapshot(ManifestId(at))
        at = snapshot.frozen.context.manifest_id if snapshot.frozen is not None else None
        found.append(snapshot)
    return tuple(reversed(found))


def _tried(project: Project, request: WhatIfRequest, snapshot: Snapshot) -> list[TriedRule]:
    task = snapshot.task
    near = (*(task.reads if task else ()), *(task.write_area if task else ()), *snapshot.touched_paths)
    read = (read_tried_rule(project, request.start, given, near=near) for given in request.with_files)
    return [replace(one, segments=at_detail(snapshot.profile, Layer.L3, one.segments)) for one in read]


def _limits(project: Project, request: WhatIfRequest, snapshot: Snapshot) -> ModelLimits | None:
    if request.model is None and request.window_tokens is None and request.max_output_tokens is None:
        return None
    limits = snapshot.limits if request.model is None else limits_for(request.model, project.settings)
    return replace(
        limits,
        window_tokens=request.window_tokens or limits.window_tokens,
        max_output_tokens=request.max_output_tokens or limits.max_output_tokens,
    )


def _named(epoch: tuple[Snapshot, ...], change: Change, name: str) -> tuple[SegmentId, ...]:
    """Return the candidates that a name means, of those that were tried as well: a part of a file may be left out."""
    tried: tuple[Segment, ...] = change.added
    found = named_candidates([*epoch, replace(epoch[-1], segments=tried)], name)
    if found:
        return found
    near = near_names(epoch, name)
    raise NotFoundError(
        f"{name} means no candidate of this assembly",
        hint=f"near are {', '.join(near)}" if near else "`aircoding context show` lists what was considered",
    )


def _taken_in(tried: TriedRule, epoch: tuple[Snapshot, ...]) -> TakenIn:
    known = {one.source.uri for snapshot in epoch for one in snapshot.segments}
    return TakenIn(
        file=tried.file,
        uri=tried.uri,
        trust=tried.trust.value,
        segment_ids=tuple(one.segment_id for one in tried.segments),
        replaced=tried.uri in known,
    )


def _remarks(request: WhatIfRequest, tried: list[TriedRule]) -> tuple[str, ...]:
    of_model = capabilities().remarks(request.model) if request.model is not None else ()
    of_files = (one for rule in tried for one in rule.diagnostics)
    return tuple(f"{one.message}; {one.hint}" if one.hint else one.message for one in (*of_model, *of_files))
