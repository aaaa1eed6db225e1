"""Which write areas meet: an index over globs, so that not all pairs have to be compared.

Globs sit in a tree by the folders that they name literally. Only globs on the way down, and those below where a glob
turns into wildcards, can meet it; within a folder those with different literal file names cannot.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from aircoding.records.ids import TaskId
from aircoding.rules.globs import Outline, could_meet, outlines, overlap

__all__ = ["AreaIndex", "Meeting"]


@dataclass(frozen=True, slots=True)
class Meeting:
    """Two tasks may write the same path: `area` of the one asked for meets `other_area` of `task`."""

    task: TaskId
    area: str
    other_area: str


@dataclass(slots=True)
class _Folder:
    folders: dict[str, _Folder] = field(default_factory=dict)
    globs: dict[str | None, list[tuple[Outline, str, TaskId]]] = field(default_factory=dict)
    """By literal file name; None: the name has wildcards."""


class AreaIndex:
    """Write areas of tasks; the areas of one task never meet each other's."""

    def __init__(self) -> None:
        self._root = _Folder()

    def add(self, task: TaskId, areas: Iterable[str]) -> None:
        """Put a task's areas in."""
        for area in areas:
            for outline in outlines(area):
                place = self._root
                for folder in outline.folders:
                    place = place.folders.setdefault(folder, _Folder())
                place.globs.setdefault(outline.name, []).append((outline, area, task))

    def first_meeting(self, task: TaskId, areas: Iterable[str]) -> Meeting | None:
        """Return one area of another task that meets one of these, or None."""
        for area in areas:
            for outline in outlines(area):
                for other_outline, other_area, other in self._candidates(outline.folders, outline.name):
                    if other != task and could_meet(outline, other_outline) and overlap(area, other_area):
                        return Meeting(other, area, other_area)
        return None

    def _candidates(self, folders: tuple[str, ...], name: str | None) -> Iterator[tuple[Outline, str, TaskId]]:
        place = self._root
        for folder in folders:
            yield from _named(place, name)
            below = place.folders.get(folder)
            if below is None:
                return
            place = below
        queue = [place]
        for one in queue:
            yield from _named(one, name)
            queue.extend(one.folders.values())


def _named(folder: _Folder, name: str | None) -> Iterator[tuple[Outline, str, TaskId]]:
    if name is None:
        for globs in folder.globs.values():
            yield from globs
        return
    yield from folder.globs.get(name, ())
    yield from folder.globs.get(None, ())
