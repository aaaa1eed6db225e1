"""What a recorded source is now: whether the text that a worker holds is still that of the file."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from aircoding.errors import AirError
from aircoding.homes import air_home, user_home
from aircoding.sources.files import read_text_file
from aircoding.sources.resources import read_resource

if TYPE_CHECKING:
    from aircoding.store import Store
    from aircoding.store.sightings import Named

__all__ = ["stale_segments"]


def stale_segments(root: Path, store: Store, named: Iterable[Named]) -> frozenset[int]:
    """Return those segments whose source is not what it was.

    A file is another one when its bytes are, or when it is gone. A packaged text is one when its words no longer stand
    in the file that it is taken from; of texts that are filled in, and of what is no file, nothing can be said.
    """
    now: dict[str, str | None] = {}
    stale = set()
    for one in named:
        if one.uri.startswith("resource:"):
            if _is_other_resource(store, one):
                stale.add(one.number)
            continue
        if one.uri not in now:
            now[one.uri] = _digest_now(root, one.uri)
        if now[one.uri] is not None and now[one.uri] != one.source_digest:
            stale.add(one.number)
    return frozenset(stale)


def _digest_now(root: Path, uri: str) -> str | None:
    """Return the digest of a file, empty where it is gone; None where a uri names no file that can be read."""
    place = _place(root, uri)
    if place is None:
        return None
    folder, name, inside = place
    read = read_text_file(folder, name, inside=inside)
    if read.absent:
        return ""
    return None if read.problem is not None else read.digest


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


def _is_other_resource(store: Store, one: Named) -> bool:
    try:
        text = read_resource(one.uri.removeprefix("resource:"))
    except AirError:
        return True
    held = store.texts.get(one.text_digest)  # type: ignore[arg-type]  # a digest
    is_prose = one.uri.endswith(".md") and "{" not in text
    return is_prose and held is not None and held.strip() not in text
