"""Find recorded assemblies: by the start of an id, by run, the last of each session."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from aircoding.app.project import open_project
from aircoding.app.run_results import newest_run
from aircoding.errors import NotFoundError, UsageError
from aircoding.records.ids import ManifestId
from aircoding.records.manifest import AssembledContext, AssemblyHead, Manifest

if TYPE_CHECKING:
    from aircoding.store import Store

__all__ = ["full_id", "last_of_sessions", "list_contexts", "load_context", "require_task"]


def load_context(start: Path, manifest_id: str) -> AssembledContext:
    """Return a recorded assembly, byte for byte; the start of an id is enough when only one has it.

    Raises:
        NotFoundError: there is none.
    """
    with open_project(start).open_store() as store:
        return store.assemblies.get(ManifestId(full_id(store, manifest_id)))


def full_id(store: Store, given: str) -> str:
    """Return the id of the one assembly whose id begins so.

    Raises:
        NotFoundError: there is none.
        UsageError: there are several.
    """
    found = store.index.manifest_ids(prefix=given, limit=2)
    if len(found) == 1 or given in found:
        return given if given in found else found[0]
    if found:
        raise UsageError(f"{given} is the start of more than one id", hint="give more of it")
    raise NotFoundError(f"no assembly {given} is on record", hint="`aircoding context list` shows them")


def list_contexts(
    start: Path, *, run_id: str | None, task_id: str | None, role: str | None, limit: int, offset: int
) -> tuple[tuple[AssemblyHead, ...], int]:
    """Return a page of recorded assemblies, newest first, and how many there are in all.

    Without a run they are those of the newest one; `all` asks for those of every run.

    Raises:
        NotFoundError: there is no such run.
    """
    with open_project(start).open_store() as store:
        if run_id != "all":
            run_id = newest_run(store) if run_id is None else store.runs.get(run_id).run_id
        within = {"run_id": None if run_id == "all" else run_id, "task_id": task_id, "role": role}
        heads = store.index.heads(**within, limit=limit, offset=offset, newest_first=True)
        total = store.index.count(**within)
        return heads, total


def last_of_sessions(store: Store, run_id: str, task_id: str | None, role: str | None) -> Sequence[Manifest]:
    """The last assembly of a session tells of all its turns: within an epoch nothing that was sent goes away."""
    last = {head.session_id: head for head in store.index.heads(run_id=run_id, task_id=task_id, role=role)}
    return [store.assemblies.account(ManifestId(head.manifest_id)).manifest for head in last.values()]


def require_task(store: Store, run_id: str, task_id: str | None) -> None:
    """Refuse a task that the run has not: a typing error must not read as `never considered`."""
    known = [state.task_id for state in store.runs.task_states(run_id)]
    if task_id is not None and task_id not in known:
        names = ", ".join(known[:20])
        raise NotFoundError(f"run {run_id} has no task {task_id}", hint=f"it has {names or 'no tasks yet'}")
