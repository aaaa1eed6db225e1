"""What a recorded source is now: whether the text that a worker holds is still that of the file."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from aircoding.audit.witnesses import SourceNow
from aircoding.errors import AirError
from aircoding.homes import air_home, user_home
from aircoding.sources.files import read_text_file
from aircoding.sources.resources import read_resource

if TYPE_CHECKING:
    from aircoding.store import Store
    from aircoding.store.sightings import Named

__all__ = ["foreign_runs", "sources_now"]


def sources_now(root: Path, store: Store, named: Iterable[Named]) -> dict[int, SourceNow]:
    """Return what the source of each segment is now, by the segment's number.

    Of a packaged text that is filled in, and of what is no file, nothing can be said.
    """
    read: dict[str, _File | None] = {}
    found: dict[int, SourceNow] = {}
    for one in named:
        if one.uri.startswith("resource:"):
            found[one.number] = _resource_now(store, one)
            continue
        if one.uri not in read:
            read[one.uri] = _file_now(root, one.uri)
        found[one.number] = _compared(store, one, read[one.uri])
    return found


def foreign_runs(root: Path, store: Store) -> frozenset[str]:
    """Return the runs that were taken in and began at no commit of this repository: its files say nothing of theirs."""
    from aircoding.workspace.git import git_succeeds

    taken_in = store.sightings.taken_in()
    is_repository = (root / ".git").exists()
    known = {
        commit
        for commit in set(taken_in.values())
        if is_repository and git_succeeds(root, "cat-file", "-e", f"{commit}^{{commit}}")
    }
    return frozenset(run_id for run_id, commit in taken_in.items() if commit not in known)


@dataclass(frozen=True, slots=True)
class _File:
    """A file as it is; an empty digest: it is gone."""

    digest: str
    text: str


def _file_now(root: Path, uri: str) -> _File | None:
    """Return a file; None where a uri names no file that can be read."""
    place = _place(root, uri)
    if place is None:
        return None
    folder, name, inside = place
    read = read_text_file(folder, name, inside=inside)
    if read.absent:
        return _File("", "")
    return None if read.problem is not None else _File(read.digest, read.text)


def _compared(store: Store, one: Named, file: _File | None) -> SourceNow:
    if file is None:
        return "unknown"
    if not file.digest:
        return "gone"
    if file.digest == one.source_digest:
        return "same"
    held = store.texts.get(one.text_digest)  # type: ignore[arg-type]  # a digest
    # A header or another part was changed: what this worker holds is in the file as it is.
    return "around" if held and held.strip() and held.strip() in file.text else "changed"


def _place(root: Path, uri: str) -> tuple[Path, str, bool] | None:
    places: dict[str, Callable[[], tuple[Path, str, bool]]] = {
        "project:": lambda: (root, uri.removeprefix("project:"), True),
        "user:": lambda: (air_home(root), uri.removeprefix("user:"), False),
        "~/": lambda: (user_home(), uri.removeprefix("~/"), False),
        "/": lambda: (Path("/"), uri.lstrip("/"), False),
    }
    for start, place in places.items():
        if uri.startswith(start):
            try:
                return place()
            except AirError:
                return None
    return None


def _resource_now(store: Store, one: Named) -> SourceNow:
    try:
        text = read_resource(one.uri.removeprefix("resource:"))
    except AirError:
        return "gone"
    held = store.texts.get(one.text_digest)  # type: ignore[arg-type]  # a digest
    is_prose = one.uri.endswith(".md") and "{" not in text
    if not is_prose or held is None:
        return "unknown"
    return "same" if held.strip() in text else "changed"
