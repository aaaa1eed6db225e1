"""For what a rule file speaks: its level, and the paths to which it is scoped."""

from __future__ import annotations

from dataclasses import dataclass

from aircoding.rules.precedence import Level, directory_level
from aircoding.rules.rule_names import folder_glob, within

__all__ = ["Reach", "folder_reach", "joined_reach"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """`paths` are globs anchored at the project root; none: it holds everywhere. `folders` are what a title names.

    `of_user`: no file of the project is behind it, so that its words have the user's trust.
    """

    level: int
    paths: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    of_user: bool = False


def folder_reach(folder: str, patterns: tuple[str, ...] = (), *, level: int | None = None) -> Reach:
    """Return the reach of a project file that speaks for a folder, of its `patterns` below it where it has some."""
    depth = folder.count("/") + 1 if folder else 0
    own = level if level is not None else directory_level(depth) if depth else Level.PROJECT
    globs = tuple(within(folder, glob) for glob in patterns) or folder_glob(folder)
    return Reach(level=own, paths=globs, folders=(folder,) if folder else ())


def joined_reach(left: Reach, right: Reach) -> Reach:
    """Return the reach of one text that two files bring in: it holds wherever either of them says so."""
    everywhere = not left.paths or not right.paths
    return Reach(
        level=min(left.level, right.level),
        paths=() if everywhere else tuple(sorted({*left.paths, *right.paths})),
        folders=() if everywhere else tuple(sorted({*left.folders, *right.folders})),
        of_user=left.of_user and right.of_user,
    )
