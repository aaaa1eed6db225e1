"""Which paths every tool treats alike, from a tree alone: those in the same folders with rule files, by the same globs.

An account is computed for one path; a project has thousands. What decides on a path in any tool is which folders with
rule files lie above it, which of them are the nearest, and which globs of headers it matches.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from aircoding.rules.foreign_header import HeaderStyle, read_foreign_header
from aircoding.rules.globs import Dialect, Matcher, compile_globs
from aircoding.rules.tree import RuleTree, chain

__all__ = ["PathKey", "path_keys"]

PathKey = tuple[tuple[str, ...], tuple[str, ...], tuple[int, ...]]
_NEAR = 5
"""As far up as a tool looks that looks at the nearest folders only (Hermes)."""
_STYLES = tuple(style for style in HeaderStyle if style is not HeaderStyle.PLAIN)


@dataclass(frozen=True, slots=True)
class _Glob:
    """One glob of a header, from the root or from a folder (with `/` at its end)."""

    matcher: Matcher
    inside: str

    def matches(self, path: str) -> bool:
        inside = self.inside
        return path.startswith(inside) and self.matcher.matches(path[len(inside) :] if inside else path)


def path_keys(tree: RuleTree, paths: Iterable[str]) -> Mapping[str, PathKey]:
    """Return a key for each path: two with the same key have the same account in each tool, but for its words."""
    spoken_for = {file.folder for file in tree.files.values()}
    spoken_for |= {file.name.folder for file in tree.files.values() if file.name is not None}
    globs = _globs(tree)
    folders: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {}
    keys: dict[str, PathKey] = {}
    for path in paths:
        folder = path.rpartition("/")[0]
        if folder not in folders:
            above = chain(path)
            near = above[1:][-_NEAR:]
            folders[folder] = (
                tuple(one for one in above if one in spoken_for),
                tuple(one for one in near if one in spoken_for),
            )
        keys[path] = (*folders[folder], tuple(number for number, glob in enumerate(globs) if glob.matches(path)))
    return keys


def _globs(tree: RuleTree) -> tuple[_Glob, ...]:
    found: dict[tuple[str, str], None] = {}
    for file in tree.files.values():
        if file.problem is not None or not file.text.startswith("---"):
            continue
        inside = f"{file.name.folder}/" if file.name is not None and file.name.folder else ""
        for style in _STYLES:
            for pattern in read_foreign_header(file.text, style).patterns:
                # Tools differ in where the globs of a folder's file start.
                found[pattern, ""] = found[pattern, inside] = None
    return tuple(_Glob(compile_globs((pattern,), Dialect.ROOT_ANCHORED), inside) for pattern, inside in found)
