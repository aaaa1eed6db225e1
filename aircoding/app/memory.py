"""What `aircoding memory` does: show the stores, change one entry of one."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from aircoding.app.project import open_project
from aircoding.app.screener import user_screener
from aircoding.errors import ConfigError, NotFoundError, ProjectError
from aircoding.homes import air_home
from aircoding.records.layers import Trust
from aircoding.records.printable import shown_path
from aircoding.rules.memory_entries import MemoryKind, add_entry, edit_entry, remove_entry, used_chars
from aircoding.settings import load_settings
from aircoding.sources.installation import installation_key
from aircoding.sources.memory_files import MemoryStore, memory_stores
from aircoding.sources.profile_files import require_profile
from aircoding.workspace.repository import main_root

__all__ = ["MemoryChange", "MemoryView", "add_memory", "edit_memory", "remove_memory", "show_memory"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryView:
    """One store: where it lies, how full it is, what it holds. `by_agents` numbers the entries that agents wrote."""

    kind: MemoryKind
    path: str
    used_chars: int
    limit_chars: int
    entries: tuple[str, ...]
    by_agents: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryChange:
    """A store after a change, and whether anything in it is another now."""

    memory: MemoryView
    changed: bool


def show_memory(start: Path, *, profile: str | None) -> tuple[MemoryView, ...]:
    """Return all stores that reach agents here; outside a project those of the profile.

    Raises:
        ConfigError: a store cannot be read, or the profile's name is none.
        NotFoundError: there is no such profile.
    """
    if profile is not None:
        require_profile(air_home(), profile)
    return tuple(_view(store, store.entries()) for store in _stores(start, profile))


def add_memory(start: Path, text: str, *, kind: MemoryKind, profile: str | None) -> MemoryChange:
    """Remember `text`; what is remembered already is not added again.

    Raises:
        ConfigError: the store would be over its limit, or the text may not be remembered.
        NotFoundError: the project's store was meant, and there is no project.
    """
    store = _store(start, kind, profile)
    _check(store, text)
    return _change(store, lambda entries: add_entry(kind, entries, text))


def edit_memory(start: Path, which: str, text: str, *, kind: MemoryKind, profile: str | None) -> MemoryChange:
    """Put `text` in the place of the entry that `which` finds; raises as `add_memory`, and where it finds none."""
    store = _store(start, kind, profile)
    _check(store, text)
    return _change(store, lambda entries: edit_entry(kind, entries, which, text))


def remove_memory(start: Path, which: str, *, kind: MemoryKind, profile: str | None) -> MemoryChange:
    """Forget the entry that `which` finds.

    Raises:
        NotFoundError: no entry, or more than one, holds `which`.
    """
    return _change(_store(start, kind, profile), lambda entries: remove_entry(entries, which))


def _change(store: MemoryStore, edit: Callable[[tuple[str, ...]], tuple[str, ...]]) -> MemoryChange:
    seen: list[tuple[str, ...]] = []

    def noted(entries: tuple[str, ...]) -> tuple[str, ...]:
        seen.append(entries)
        return edit(entries)

    after = store.change(noted)
    return MemoryChange(memory=_view(store, after), changed=after != seen[0])


def _stores(start: Path, profile: str | None) -> tuple[MemoryStore, ...]:
    try:
        project = open_project(start)
    except ProjectError as error:
        if error.code != "project.none":
            raise
        settings = load_settings(None)
        return memory_stores(None, air_home(), profile or settings.identity.profile)
    root = Path(main_root(project.root))  # a linked worktree has the project's memory, not one of its own
    return memory_stores(root, project.home, profile or project.settings.identity.profile)


def _store(start: Path, kind: MemoryKind, profile: str | None) -> MemoryStore:
    found = next((store for store in _stores(start, profile) if store.kind is kind), None)
    if found is None:
        raise NotFoundError(
            "the project's memory was meant, and this is no project",
            hint="go to a git repository, or leave out --project",
            code="memory.no_project",
        )
    return found


def _view(store: MemoryStore, entries: tuple[str, ...]) -> MemoryView:
    agents = store.written_by_agents()
    return MemoryView(
        kind=store.kind,
        path=os.path.relpath(store.base / store.name)
        if store.kind is MemoryKind.PROJECT
        else shown_path(f"user:{store.name}"),
        used_chars=used_chars(entries),
        limit_chars=store.kind.limit_chars,
        entries=entries,
        by_agents=tuple(number for number, entry in enumerate(entries, 1) if agents.wrote(entry)),
    )


def _check(store: MemoryStore, text: str) -> None:
    """Refuse what would be masked or blocked on its way to a model: better said now than found missing later."""
    screener = user_screener(installation_key(air_home()))
    if screener.mask(text) != text:
        raise ConfigError(
            "the text holds a secret, and a memory is sent to models",
            hint="name the variable or the file in which it is kept, not its value",
            code="memory.secret",
        )
    blocking = [found for found in screener.findings(text, uri=store.uri, trust=Trust.USER) if found.blocks]
    if blocking:
        raise ConfigError(
            f"the text would be blocked in a prompt: {blocking[0].detail or blocking[0].code}",
            hint="say it in other words",
            code="memory.blocked",
        )
