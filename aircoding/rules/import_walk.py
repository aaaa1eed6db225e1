"""Follow the imports of rule files: what is reached, for whom, and what is refused with the way out."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from aircoding.records.layers import Reason
from aircoding.rules.imports import MAX_HOPS, FileImport, cycles, imports_of
from aircoding.rules.reach import Reach, joined_reach
from aircoding.rules.rule_names import Dialect
from aircoding.rules.tree import RuleTree, tree_uri

__all__ = ["ImportWalk", "Reached", "Refused", "walk_imports"]

_MAX_STEPS = 200_000
"""Most imports that are followed for one project; more are a mistake or an attack."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """A file that others import: where it holds, and who names it."""

    reach: Reach
    importers: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """An import that was not followed, and why."""

    reason: Reason
    detail: str
    reach: Reach


@dataclass(slots=True)
class ImportWalk:
    """`bare` are files that consist of another one's name, `uncommented` those whose block comments are left out."""

    reached: dict[str, Reached] = field(default_factory=dict)
    refused: dict[str, Refused] = field(default_factory=dict)
    bare: dict[str, str] = field(default_factory=dict)
    uncommented: set[str] = field(default_factory=set)
    rings: tuple[tuple[str, ...], ...] = ()


def walk_imports(tree: RuleTree, starts: Mapping[str, Reach], is_there: Callable[[str], bool]) -> ImportWalk:
    """Follow the imports of the files that are used.

    Args:
        tree: what was read.
        starts: the files that are used, with their reach.
        is_there: whether a file that is not in the tree exists all the same.
    """
    walker = _Walker(tree, is_there)
    groups: dict[tuple[Reach, int, bool], list[str]] = {}
    for path in sorted(starts):
        name = tree.files[path].name
        dialect = name.dialect if name is not None else None
        if dialect is not None and dialect in MAX_HOPS:
            groups.setdefault((starts[path], MAX_HOPS[dialect], dialect is not Dialect.GEMINI), []).append(path)
        elif any(one.bare for one in walker.imports(path)):
            groups.setdefault((starts[path], MAX_HOPS[Dialect.CLAUDE], False), []).append(path)
    for (reach, hops, uncommented), paths in groups.items():
        walker.follow(paths, reach, hops, uncommented=uncommented)
    walker.walk.rings = cycles(walker.edges())
    return walker.walk


class _Walker:
    def __init__(self, tree: RuleTree, is_there: Callable[[str], bool]) -> None:
        self._tree, self._is_there = tree, is_there
        self._imports: dict[str, tuple[FileImport, ...]] = {}
        self._steps = 0
        self.walk = ImportWalk()

    def imports(self, path: str) -> tuple[FileImport, ...]:
        if path not in self._imports:
            self._imports[path] = imports_of(self._tree.files[path], self._tree, self._is_there)
        return self._imports[path]

    def edges(self) -> Mapping[str, Iterable[str]]:
        return {
            path: {one.target for one in found if one.target is not None and one.target in self._imports}
            for path, found in self._imports.items()
        }

    def follow(self, starts: list[str], reach: Reach, hops: int, *, uncommented: bool) -> None:
        """Follow the imports of files with one reach, hop by hop; the hop after the last is only noted (E22)."""
        seen, now = set(starts), starts
        for hop in range(1, hops + 2):
            found: list[str] = []
            for path in now:
                for one in self.imports(path):
                    self._steps += 1
                    if self._steps > _MAX_STEPS:
                        return
                    target = self._step(path, one, reach, hop, hops)
                    if target is not None:
                        if uncommented:
                            self.walk.uncommented.add(target)
                        if target not in seen:
                            seen.add(target)
                            found.append(target)
            now = found

    def _step(self, importer: str, one: FileImport, reach: Reach, hop: int, hops: int) -> str | None:
        """Take one import in, or note why not; return the file to go on from."""
        said = f"{tree_uri(importer)}, line {one.line}, imports it (`{one.written}`)"
        if one.target is None:
            outside = posixpath.normpath(
                posixpath.join(posixpath.dirname(importer), one.written.lstrip('@"').rstrip('"'))
            )
            self._refuse(outside, Reason.PERMISSION, f"{said}; it leaves the project: write it as ~/… or /…", reach)
            return None
        if hop > hops:
            self._refuse(one.target, Reason.BUDGET, f"{said} at hop {hop}; {hops} hops are followed", reach)
            return None
        file = self._tree.find(one.target)
        if file is None:
            way = f"`aircoding rules approve {one.target}` lets it in"
            self._refuse(one.target, Reason.PERMISSION, f"{said}; it lies outside the project; {way}", reach)
            return None
        if file.problem is not None:
            self._refuse(one.target, Reason.UNREADABLE, f"{said}; {file.problem}", reach)
            return None
        if one.bare:
            self.walk.bare[importer] = one.target
        known = self.walk.reached.get(one.target)
        self.walk.reached[one.target] = Reached(
            reach=reach if known is None else joined_reach(known.reach, reach),
            importers=(importer,) if known is None else tuple(sorted({*known.importers, importer})),
        )
        return one.target

    def _refuse(self, target: str, reason: Reason, detail: str, reach: Reach) -> None:
        self.walk.refused.setdefault(target, Refused(reason=reason, detail=detail, reach=reach))
