"""Let go of old runs, or of their texts; what a run that stays needs is kept."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from aircoding.app.project import Project, open_recorded
from aircoding.app.run_results import lock_of
from aircoding.errors import UsageError
from aircoding.records.runs import Run
from aircoding.workspace.clock import SystemClock

if TYPE_CHECKING:
    from aircoding.store import Store

__all__ = ["PruneReport", "Wanted", "let_go_of_texts", "prune_record"]

_ENDED = frozenset({"done", "failed", "cancelled"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What may go: runs that ended longer ago than `older_than` and are not among the newest `keep_runs`.

    `bodies_only`: only their texts. `include_unfinished`: also runs that could be resumed.
    """

    older_than: timedelta | None
    keep_runs: int = 0
    bodies_only: bool = False
    include_unfinished: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PruneReport:
    """What went, or would go with `dry_run`: runs by id, how many texts, and their size as stored.

    `kept` says why a run of that age stays, `ended_at` when these and those ended, or when something last happened in
    them; `others` counts the runs that are too new to go. `size_before_bytes` and `size_bytes` are of the file; None
    for a server.
    """

    runs: tuple[str, ...]
    kept: Mapping[str, str]
    ended_at: Mapping[str, str]
    others: int
    at: str
    bodies_only: bool
    dry_run: bool
    texts: int
    stored_bytes: int
    size_before_bytes: int | None = None
    size_bytes: int | None = None
    remark: str = ""


@dataclass(slots=True)
class _Choice:
    """The runs that go, and why others of their age stay."""

    at: str
    go: list[Run] = field(default_factory=list)
    kept: dict[str, str] = field(default_factory=dict)
    ended_at: dict[str, str] = field(default_factory=dict)
    others: int = 0


def prune_record(start: Path, wanted: Wanted, *, dry_run: bool) -> PruneReport:
    """Remove runs from the project's record, or their texts.

    Raises:
        NotFoundError: nothing is on record.
        StoreError: the database cannot be written; every run that is there still is whole.
    """
    project = open_recorded(start)
    with project.open_store(write=not dry_run) as store, ExitStack() as locks:
        choice = _choose(store, wanted)
        before = None if "://" in project.database else Path(project.database).stat().st_size
        if not dry_run:
            _lock(project, choice, locks)
        ids = [run.run_id for run in choice.go]
        held = _held(project, store, without=() if wanted.bodies_only else ids)
        if dry_run:
            found = store.pruner.unneeded(without=ids, held=held)
            size, remark = None, ""
        else:
            if wanted.bodies_only:
                store.pruner.let_go(ids)
            else:
                for run_id in ids:
                    store.pruner.remove(run_id)
            found = store.pruner.sweep(
                held=held, ended_at=max((choice.ended_at[run_id] for run_id in ids), default=None)
            )
            remark = _shrunk(project, store, before, without=ids)
            size = None if before is None else Path(project.database).stat().st_size
    return PruneReport(
        runs=tuple(ids),
        kept=choice.kept,
        ended_at=choice.ended_at,
        others=choice.others,
        at=choice.at,
        bodies_only=wanted.bodies_only,
        dry_run=dry_run,
        texts=found.texts,
        stored_bytes=found.stored_bytes,
        size_before_bytes=None if dry_run else before,
        size_bytes=size,
        remark=remark,
    )


def let_go_of_texts(project: Project, store: Store) -> None:
    """Let the texts of own runs go that have ended and were started with `[store] bodies = "digests"`.

    Raises:
        StoreError: the database cannot be written.
    """
    runs = [
        run
        for run in store.runs.runs()
        if run.bodies == "digests" and run.texts_let_go_at is None and run.status in _ENDED and run.imported_at is None
    ]
    if not runs:
        return
    store.pruner.let_go([run.run_id for run in runs])
    store.pruner.sweep(held=_held(project, store), ended_at=max(run.finished_at or "" for run in runs))
    if not _goes_on(project, store):
        store.pruner.shrink()


def _choose(store: Store, wanted: Wanted) -> _Choice:
    choice = _Choice(at=SystemClock().now())
    limit = datetime.fromisoformat(choice.at) - (wanted.older_than or timedelta())
    runs = store.runs.runs()
    choice.others = min(wanted.keep_runs, len(runs))
    for run in runs[wanted.keep_runs :]:
        if wanted.bodies_only and run.texts_let_go_at is not None:
            continue
        ended_at = _end_of(store, run)
        if datetime.fromisoformat(ended_at).astimezone(UTC) > limit:
            choice.others += 1
            continue
        choice.ended_at[run.run_id] = ended_at
        if run.status not in _ENDED and run.imported_at is None and not wanted.include_unfinished:
            choice.kept[run.run_id] = "it could be resumed (--include-unfinished takes it too)"
            continue
        choice.go.append(run)
    return choice


def _end_of(store: Store, run: Run) -> str:
    """Return when a run ended; of one that never did: when its last event was."""
    if run.finished_at is not None:
        return run.finished_at
    events = store.events.read(run.run_id)
    return events[-1].at if events else run.created_at


def _lock(project: Project, choice: _Choice, locks: ExitStack) -> None:
    """Hold the locks of runs that are not over, so that none is resumed meanwhile; leave out those that go on."""
    for run in [run for run in choice.go if run.status not in _ENDED and run.imported_at is None]:
        try:
            locks.enter_context(lock_of(project, run.run_id))
        except UsageError:
            choice.go.remove(run)
            choice.kept[run.run_id] = "it goes on"


def _held(project: Project, store: Store, *, without: Sequence[str] = ()) -> Iterable[str]:
    """Return the digests that the engine holds for runs that may go on: steps hand texts on by digest."""
    from aircoding.fleet.engine_records import held_digests

    gone = set(without)
    runs = [run for run in store.runs.runs() if run.status not in _ENDED and run.run_id not in gone]
    own = [run.run_id for run in runs if run.imported_at is None]
    return held_digests(project.settings.store.url or str(project.local / "engine.db"), own)


def _shrunk(project: Project, store: Store, before: int | None, *, without: Sequence[str]) -> str:
    """Write the file anew; return why not. Nobody else can write meanwhile, so no run that goes on is made to wait."""
    if before is None:
        return ""
    if _goes_on(project, store, without=without):
        return "the file keeps its size, since a run goes on: its free pages are used again"
    if store.pruner.shrink():
        return ""
    return "the file could not be written anew (no room, or another process reads it): its free pages are used again"


def _goes_on(project: Project, store: Store, *, without: Sequence[str] = ()) -> bool:
    """Whether a process of this machine drives another run of this record."""
    return any(
        lock_of(project, run.run_id).is_held
        for run in store.runs.runs()
        if run.status not in _ENDED and run.imported_at is None and run.run_id not in without
    )
