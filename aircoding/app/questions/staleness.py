"""What a recorded source is now: whether the text that a worker holds is still that of the file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from aircoding.audit.witnesses import SourceNow
from aircoding.errors import AirError
from aircoding.homes import air_home, user_home
from aircoding.records.digests import sha256_text
from aircoding.records.ids import Digest
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
    asked = tuple(named)
    files = {uri: _file_now(root, uri) for uri in {one.uri for one in asked}}
    others = [one for one in asked if _is_another(one, files[one.uri])]
    held = store.texts.kept(Digest(one.text_digest) for one in others)
    return {one.number: _now(one, files[one.uri], held) for one in asked}


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
    """A file as it is; an empty digest: it is gone. A packaged one may be filled in, so that its words are others."""

    digest: str
    text: str
    is_packaged: bool = False


def _file_now(root: Path, uri: str) -> _File | None:
    """Return a file; None where a uri names no file that can be read."""
    if uri.startswith("resource:"):
        return _packaged(uri.removeprefix("resource:"))
    place = _place(root, uri)
    if place is None:
        return None
    folder, name, inside = place
    read = read_text_file(folder, name, inside=inside)
    if read.absent:
        return _File("", "")
    return None if read.problem is not None else _File(read.digest, read.text)


def _packaged(name: str) -> _File | None:
    """Return a packaged text; None where it is data that is put into words."""
    try:
        text = read_resource(name)
    except AirError:
        return _File("", "")
    return _File(sha256_text(text), text, is_packaged=True) if name.endswith(".md") else None


def _is_another(one: Named, file: _File | None) -> bool:
    return file is not None and bool(file.digest) and file.digest != one.source_digest


def _now(one: Named, file: _File | None, held: Mapping[Digest, str]) -> SourceNow:
    if file is None:
        return "unknown"
    if not file.digest:
        return "gone"
    if not _is_another(one, file):
        return "same"
    text = held.get(Digest(one.text_digest), "").strip()
    # A header or another part was changed: what this worker holds is in the file as it is.
    if text and text in file.text:
        return "same" if file.is_packaged else "around"
    return "unknown" if file.is_packaged and (not text or "{" in file.text) else "changed"


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
