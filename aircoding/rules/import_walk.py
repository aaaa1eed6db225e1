"""Follow the imports of rule files: what is reached, for whom, and what is refused with the way out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from aircoding.records.layers import Reason
from aircoding.rules.imports import FileImport, FileImports, Following, cycles, followed_by, imports_of
from aircoding.rules.mentions import MAX_MENTIONS
from aircoding.rules.reach import Reach, joined_reach
from aircoding.rules.tree import Owner, RuleTree, Target, tree_uri

__all__ = ["MAX_STEPS", "ImportWalk", "Reached", "Refused", "walk_imports"]

MAX_STEPS = 200_000
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
    """`bare` are files that consist of another one's name, `uncommented` those whose block comments are left out.

    `unread` holds for each file with too many mentions the line from which on they are not read; `stopped_at` names the
    file at which the walk ended because it had taken too many steps.
    """

    reached: dict[str, Reached] = field(default_factory=dict)
    refused: dict[str, Refused] = field(default_factory=dict)
    bare: dict[str, str] = field(default_factory=dict)
    uncommented: set[str] = field(default_factory=set)
    unread: dict[str, int] = field(default_factory=dict)
    stopped_at: str | None = None
    rings: tuple[tuple[str, ...], ...] = ()


def walk_imports(
    tree: RuleTree, starts: Mapping[str, Reach], *, max_steps: int = MAX_STEPS, max_mentions: int = MAX_MENTIONS
) -> ImportWalk:
    """Follow the imports of the files that are used.

    Args:
        tree: what was read.
        starts: the files that are used, with their reach.
        max_steps: most imports that are followed.
        max_mentions: most mentions that are read of one file.
    """
    walker = _Walker(tree, max_steps, max_mentions)
    groups: dict[tuple[Reach, Following], list[str]] = {}
    for path in sorted(starts):
        groups.setdefault((starts[path], followed_by(tree.files[path])), []).append(path)
    for (reach, following), paths in groups.items():
        walker.follow(paths, reach, following)
    walker.walk.rings = cycles(walker.edges)
    return walker.walk


class _Walker:
    def __init__(self, tree: RuleTree, max_steps: int, max_mentions: int) -> None:
        self._tree, self._steps_left, self._max_mentions = tree, max_steps, max_mentions
        self._imports: dict[tuple[str, Following], FileImports] = {}
        self.edges: dict[str, set[str]] = {}
        self.walk = ImportWalk()

    def _named(self, path: str, following: Following) -> FileImports:
        known = self._imports.get((path, following))
        if known is None:
            known = imports_of(self._tree.files[path], following, most=self._max_mentions)
            self._imports[path, following] = known
            if known.unread_line is not None:
                self.walk.unread.setdefault(path, known.unread_line)
        return known

    def follow(self, starts: list[str], reach: Reach, following: Following) -> None:
        """Follow the imports of files with one reach, hop by hop; the hop after the last is only noted (E22)."""
        seen, now = set(starts), starts
        for hop in range(1, following.hops + 2):
            found: list[str] = []
            for path in now:
                for one, target in self._named(path, following).of(self._tree):
                    if self._steps_left == 0:
                        self.walk.stopped_at = self.walk.stopped_at or path
                        return
                    self._steps_left -= 1
                    if self._step(path, one, target, reach, hop, following) and target.name not in seen:
                        seen.add(target.name)
                        found.append(target.name)
            now = found

    def _step(
        self, importer: str, one: FileImport, target: Target, reach: Reach, hop: int, following: Following
    ) -> bool:
        """Take one import in, or note why not; whether it is in."""
        said = f"{tree_uri(importer)}, line {one.line}, imports it (`{one.written}`)"
        name = target.name
        if name in self._tree.files:
            self.edges.setdefault(importer, set()).add(name)
        why = self._refusal(importer, target, hop, following)
        if why is not None:
            refused = Refused(reason=why[0], detail=f"{said}{why[1]}", reach=reach)
            self.walk.refused.setdefault(name, refused)
            return False
        if following.uncommented:
            self.walk.uncommented.add(name)
        if one.bare:
            self.walk.bare[importer] = name
        known = self.walk.reached.get(name)
        self.walk.reached[name] = Reached(
            reach=reach if known is None else joined_reach(known.reach, reach),
            importers=(importer,) if known is None else tuple(sorted({*known.importers, importer})),
        )
        return True

    def _refusal(self, importer: str, target: Target, hop: int, following: Following) -> tuple[Reason, str] | None:
        if self._tree.files[importer].of_project and target.owner is Owner.ABOVE:
            return Reason.PERMISSION, "; it leaves the project: write it as ~/… or /…"
        if hop > following.hops:
            return Reason.BUDGET, f" at hop {hop}; {following.hops} hops are followed"
        file = self._tree.find(target.name)
        if file is not None:
            return (Reason.UNREADABLE, f"; {file.problem}") if file.problem is not None else None
        if target.name in self._tree.unread or target.owner is Owner.PROJECT:
            return Reason.BUDGET, "; more files are there than are read of one project"
        way = f"`aircoding rules approve {target.name}` lets it in"
        return Reason.PERMISSION, f"; it lies outside the project; {way}"
