"""What was left out of prompts and what would let it in; in whose prompts contradictions stood."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from aircoding.app.questions import asking
from aircoding.app.questions.selectors import selected_id
from aircoding.audit.left_out import left_out_of
from aircoding.audit.remedies import remedy
from aircoding.records.accounting import LeftOut, MetConflict

if TYPE_CHECKING:
    from aircoding.store import Store
    from aircoding.store.within import Within

__all__ = ["Asked", "MetConflicts", "Omission", "Omissions", "met_conflicts", "omissions"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Of which prompts: `run_id` None is the newest run, `all` every run. `layer` and `reason` narrow omissions."""

    start: Path
    run_id: str | None = None
    task_id: str | None = None
    role: str | None = None
    layer: str | None = None
    reason: str | None = None
    manifest_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Omission:
    """What of one source was left out for one reason, and what would let it in."""

    left_out: LeftOut
    remedy: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Omissions:
    """A page of omissions; `run_id` None: of all runs, or of one assembly. Totals are of all pages."""

    run_id: str | None
    page: tuple[Omission, ...]
    total: int
    total_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MetConflicts:
    """A page of conflicts that stood in prompts, of `total`; `run_id` None: of all runs."""

    run_id: str | None
    page: tuple[MetConflict, ...]
    total: int


def omissions(asked: Asked, *, limit: int, offset: int) -> Omissions:
    """Return what was left out of the last prompt of each session, or of one prompt; the most tokens first.

    Raises:
        NotFoundError: there is no such run, task or assembly.
    """
    with asking.record_of(asked.start) as (_, store):
        run_id = None
        if asked.manifest_id is not None:
            manifest = store.assemblies.account(selected_id(store, asked.manifest_id)).manifest
            found = left_out_of(manifest, layer=asked.layer, reason=asked.reason)
        else:
            within = _within(store, asked)
            run_id = within.run_id
            found = store.accounting.left_out(within, layer=asked.layer, reason=asked.reason)
    page = found[offset : offset + limit]
    return Omissions(
        run_id=run_id,
        page=tuple(Omission(left_out=one, remedy=remedy(one.example)) for one in page),
        total=len(found),
        total_tokens=sum(one.tokens for one in found),
    )


def met_conflicts(asked: Asked, *, limit: int, offset: int) -> MetConflicts:
    """Return the conflicts that stood in prompts, those that were open in most sessions first.

    Raises:
        NotFoundError: there is no such run or task.
    """
    with asking.record_of(asked.start) as (_, store):
        within = _within(store, asked)
        found = store.accounting.met_conflicts(within)
    return MetConflicts(run_id=within.run_id, page=found[offset : offset + limit], total=len(found))


def _within(store: Store, asked: Asked) -> Within:
    return asking.asked_within(store, asking.Asked(run_id=asked.run_id, task_id=asked.task_id, role=asked.role))
