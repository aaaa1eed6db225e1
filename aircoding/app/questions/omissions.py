"""What was left out of prompts and what would let it in; in whose prompts contradictions stood."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from aircoding.app.questions.asking import Asked, Page, Paged, asked_within, on_page, record_of
from aircoding.app.questions.selectors import selected_id
from aircoding.audit.left_out import left_out_of
from aircoding.audit.remedies import remedy
from aircoding.records.accounting import LeftOut, MetConflict

__all__ = ["MetConflicts", "Omission", "Omissions", "met_conflicts", "omissions"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Omission:
    """What of one source was left out for one reason, and what would let it in."""

    left_out: LeftOut
    remedy: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Omissions(Paged):
    """A page of omissions; `run_id` None: of all runs, or of one assembly. `total_tokens` are those of all pages."""

    omissions: tuple[Omission, ...]
    run_id: str | None
    total_tokens: int

    @property
    def items(self) -> tuple[Omission, ...]:
        """The omissions."""
        return self.omissions


@dataclass(frozen=True, slots=True, kw_only=True)
class MetConflicts(Paged):
    """A page of conflicts that stood in prompts; `run_id` None: of all runs."""

    conflicts: tuple[MetConflict, ...]
    run_id: str | None

    @property
    def items(self) -> tuple[MetConflict, ...]:
        """The conflicts."""
        return self.conflicts


def omissions(
    start: Path,
    asked: Asked,
    *,
    page: Page,
    layer: str | None = None,
    reason: str | None = None,
    manifest_id: str | None = None,
) -> Omissions:
    """Return what was left out of the last prompt of each session, or of one prompt; the most tokens first.

    Args:
        start: a folder of the project.
        asked: of which prompts; nothing of it counts where an assembly is named.
        page: how much of the answer.
        layer: only candidates of this layer.
        reason: only those that were left out for this reason.
        manifest_id: one assembly, by any selector.

    Raises:
        NotFoundError: there is no such run, task, role, session or assembly.
    """
    with record_of(start) as (_, store):
        run_id = None
        if manifest_id is not None:
            manifest = store.assemblies.account(selected_id(store, manifest_id)).manifest
            found = left_out_of(manifest, layer=layer, reason=reason)
        else:
            within = asked_within(store, asked)
            run_id = within.run_id
            found = store.accounting.left_out(within, layer=layer, reason=reason)
    return Omissions(
        run_id=run_id,
        omissions=tuple(Omission(left_out=one, remedy=remedy(one.example)) for one in on_page(found, page)),
        total=len(found),
        offset=page.offset,
        total_tokens=sum(one.tokens for one in found),
    )


def met_conflicts(start: Path, asked: Asked, *, page: Page) -> MetConflicts:
    """Return the conflicts that stood in prompts, those that were open in most sessions first.

    Raises:
        NotFoundError: there is no such run, task, role or session.
    """
    with record_of(start) as (_, store):
        within = asked_within(store, asked)
        found = store.accounting.met_conflicts(within)
    return MetConflicts(run_id=within.run_id, conflicts=on_page(found, page), total=len(found), offset=page.offset)
