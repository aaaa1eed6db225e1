"""Load a recorded assembly, and list them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from aircoding.app.questions.asking import Page, Paged, record_of
from aircoding.app.questions.selectors import selected_id
from aircoding.records.manifest import AssembledContext, AssemblyHead

__all__ = ["Assemblies", "list_contexts", "load_context"]


def load_context(start: Path, given: str) -> AssembledContext:
    """Return the recorded assembly that a selector names, byte for byte.

    Raises:
        NotFoundError: there is none, or its texts are not kept.
        UsageError: an id's start fits several.
    """
    with record_of(start) as (_, store):
        return store.assemblies.get(selected_id(store, given))


@dataclass(frozen=True, slots=True, kw_only=True)
class Assemblies(Paged):
    """A page of recorded assemblies."""

    assemblies: tuple[AssemblyHead, ...]

    @property
    def items(self) -> tuple[AssemblyHead, ...]:
        """The assemblies."""
        return self.assemblies


def list_contexts(
    start: Path, *, run_id: str | None, task_id: str | None = None, role: str | None = None, page: Page
) -> Assemblies:
    """Return a page of recorded assemblies, newest first.

    Without a run they are those of the newest one; `all` asks for those of every run.

    Raises:
        NotFoundError: there is no such run.
    """
    with record_of(start) as (_, store):
        if run_id != "all":
            run_id = store.sightings.newest_run() if run_id is None else store.runs.get(run_id).run_id
        run_id = None if run_id == "all" else run_id
        total = store.index.count(run_id=run_id, task_id=task_id, role=role)
        heads = store.index.heads(
            run_id=run_id, task_id=task_id, role=role, limit=page.limit, offset=page.offset, newest_first=True
        )
        return Assemblies(assemblies=heads, total=total, offset=page.offset)
