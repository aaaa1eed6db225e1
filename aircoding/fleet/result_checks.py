"""Compare what a session says that it changed with what its commit holds. A difference is said; it fails nothing."""

from __future__ import annotations

import asyncio
import posixpath
from collections.abc import Iterable

from aircoding.fleet.phases import Attempt
from aircoding.records.sessions import SessionOutcome

__all__ = ["note_difference", "remark_on"]

_MOST_NAMED = 5


async def note_difference(attempt: Attempt, outcome: SessionOutcome) -> None:
    """Append `result.differs` when the result and the commit of the executor's work do not name the same files.

    `not_changed` were reported and are as they were, `not_reported` were changed in this attempt and not named.
    """
    if "changed_files" not in outcome.result:  # not every role reports files
        return
    reported, changed = _paths(outcome.result["changed_files"]), _changed(attempt)
    here = await _changed_here(attempt, changed)
    not_changed, not_reported = sorted(reported - changed), sorted(here - reported)
    if not_changed or not_reported:
        lists = {"reported": sorted(reported), "changed": sorted(changed)}
        payload = {**lists, "not_changed": not_changed, "not_reported": not_reported}
        attempt.note("result.differs", {**payload, "remark": _remark(not_changed, not_reported, changed)})


def remark_on(attempt: Attempt) -> str:
    """Return what is to be said of work that passes: reported and not changed, or nothing changed at all.

    A task without a write area has nothing to change, and gets no remark.
    """
    changed = _changed(attempt)
    found = attempt.found("result.differs", attempt.key)
    missing = sorted(set(found.payload["not_changed"]) - changed) if found is not None else []
    if missing:
        return _remark(missing, [], changed)
    return "nothing was changed" if attempt.task.write_area and not changed else ""


def _changed(attempt: Attempt) -> set[str]:
    """Return what the newest commit of this attempt changed since the task's first base."""
    state = attempt.state.task(attempt.task.id).attempt(attempt.number)
    return set(state.changed_files) if state is not None else set()


def _remark(not_changed: list[str], not_reported: list[str], changed: set[str]) -> str:
    parts = []
    if not_changed:
        which = ("it was" if len(not_changed) == 1 else "they were") + " not" if changed else "nothing was changed"
        parts.append(f"reported {_named(not_changed)} as changed, and {which}")
    if not_reported:
        parts.append(f"changed {_named(not_reported)}, which its result does not name")
    return "; ".join(parts)


def _named(paths: list[str]) -> str:
    more = len(paths) - _MOST_NAMED
    return ", ".join(paths[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _paths(given: Iterable[object]) -> set[str]:
    return {posixpath.normpath(str(path)) for path in given if str(path)}


async def _changed_here(attempt: Attempt, changed: set[str]) -> set[str]:
    """Return what this attempt changed: one that was sent back goes on from work that is no longer its own."""
    if attempt.base_commit == attempt.origin_commit:
        return changed
    files = attempt.deps.repository.open_worktree(attempt.root)
    return {change.path for change in await asyncio.to_thread(files.changes, attempt.base_commit)}
