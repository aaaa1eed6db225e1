"""Open the record for a question, and say which part of it the question is about; light, for it is asked often."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from aircoding.app.project import open_record, recorded_root
from aircoding.errors import NotFoundError, UsageError

if TYPE_CHECKING:
    from aircoding.store import Store
    from aircoding.store.within import Within

__all__ = ["PAGE", "Asked", "Page", "Paged", "asked_within", "on_page", "record_of"]

Item = TypeVar("Item")

PAGE = 50
"""Lines of an answer unless told."""
_AGO = re.compile(r"(\d+)([mhdw])")
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """How much of an answer is shown: at most `limit` lines (None: all) after `offset`."""

    limit: int | None = PAGE
    offset: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Paged(ABC):
    """A page of an answer: some of `total` items, after `offset` others. Its fields are its JSON form."""

    total: int
    offset: int = 0

    @property
    @abstractmethod
    def items(self) -> Sequence[object]:
        """The items of this page."""

    @property
    def item_count(self) -> int:
        """How many items there are on all pages."""
        return self.total


def on_page(every: Sequence[Item], page: Page) -> tuple[Item, ...]:
    """Return the items of a page."""
    return tuple(every[page.offset : None if page.limit is None else page.offset + page.limit])


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Which part of the record a question is about.

    `run_id` is a run, `all`, or None for the newest one. `since` is a time (RFC 3339, or its date), or a duration back
    from now (`12h`, `7d`); runs that were started earlier are left out, and without `run_id` all since then count.
    """

    run_id: str | None = None
    task_id: str | None = None
    role: str | None = None
    session_id: str | None = None
    since: str | None = None


@contextmanager
def record_of(start: Path) -> Iterator[tuple[Path, Store]]:
    """Open the record of the project around `start` for reading; yield the project's root with it.

    Raises:
        ProjectError: `start` is in no repository, and nothing is on record here.
        ConfigError: a settings file is wrong.
        NotFoundError: nothing was recorded yet.
    """
    from aircoding.settings import load_settings

    root = recorded_root(start)
    with open_record(root, load_settings(root)) as store:
        yield root, store


def asked_within(store: Store, asked: Asked) -> Within:
    """Return the part of the record that is asked about; the role `all` is every role.

    Raises:
        NotFoundError: there is no such run, or it has no such task, role or session: a typing error must not read as
            `never considered`.
        UsageError: `since` is neither a time nor a duration.
    """
    from aircoding.store.within import Within

    run_id = asked.run_id
    since = None if asked.since is None else _earliest(asked.since)
    if run_id == "all" or (run_id is None and since is not None):
        run_id = None
    elif run_id is None:
        run_id = store.sightings.newest_run()
    elif not store.sightings.has_run(run_id):
        raise NotFoundError(f"There is no run {run_id}.", hint="`aircoding status` lists the runs.")
    if run_id is not None and asked.task_id is not None:
        known = store.sightings.tasks(run_id)
        if asked.task_id not in known:
            names = ", ".join(known[:20])
            hint = f"it has {names or 'no tasks yet'}"
            raise NotFoundError(f"run {run_id} has no task {asked.task_id}", hint=hint)
    role = None if asked.role == "all" else asked.role
    _require_known(store, run_id, "role", role)
    _require_known(store, run_id, "session", asked.session_id)
    return Within(run_id=run_id, task_id=asked.task_id, role=role, session_id=asked.session_id, since=since)


def _require_known(store: Store, run_id: str | None, what: str, given: str | None) -> None:
    """Refuse a role or a session that no prompt has: a typing error must not read as an empty answer."""
    if given is None:
        return
    known = store.sightings.roles(run_id) if what == "role" else store.sightings.sessions(run_id)
    if known and given not in known:
        where = "no run" if run_id is None else f"run {run_id}"
        has = "has" if run_id is None else "has no prompt of"
        raise NotFoundError(
            f"{where} {has} {what} {given}", hint=f"there are {', '.join(known[:20])}{', …' if len(known) > 20 else ''}"
        )


def _earliest(since: str) -> str:
    """Return a time as runs have it, so that the record can compare the two as texts."""
    ago = _AGO.fullmatch(since)
    try:
        at = _time(since) if ago is None else datetime.now(UTC) - timedelta(**{_UNITS[ago[2]]: int(ago[1])})
        return at.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
    except (ValueError, OverflowError):
        hint = "give a duration (90m, 12h, 7d, 2w), a date or a time (2026-11-30T12:00:00Z)"
        raise UsageError(f"--since {since} is no time", hint=hint) from None


def _time(at: str) -> datetime:
    found = datetime.fromisoformat(at)
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)
