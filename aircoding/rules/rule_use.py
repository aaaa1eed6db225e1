"""What becomes of a rule file: it is used, and for what; or it is left out, and why."""

from __future__ import annotations

from dataclasses import dataclass, replace

from aircoding.records.diagnostics import Diagnostic
from aircoding.records.segments import Barred
from aircoding.rules.foreign_header import ForeignHeader, RuleMode
from aircoding.rules.reach import Reach
from aircoding.rules.rule_budget import Claimant, allotments
from aircoding.rules.tree import RuleTree

__all__ = ["LeftOut", "NeutralRules", "UsedFile", "funded"]


@dataclass(frozen=True, slots=True, kw_only=True)
class UsedFile:
    """A file that speaks to workers.

    `also` are its other names, `importers` the files that take it in where it is no rule file by itself. `uncommented`:
    block comments are left out. `last`: it stands behind the others of its level. `most_bytes` is what the budget
    leaves it, where that is not all.
    """

    path: str
    header: ForeignHeader
    reach: Reach
    native: bool = False
    also: tuple[str, ...] = ()
    importers: tuple[str, ...] = ()
    uncommented: bool = False
    last: bool = False
    most_bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A file that was considered and is not used, and why."""

    path: str
    why: Barred
    reach: Reach


@dataclass(frozen=True, slots=True, kw_only=True)
class NeutralRules:
    """All files by name: used or left out; and what is wrong with them."""

    used: tuple[UsedFile, ...]
    left_out: tuple[LeftOut, ...]
    diagnostics: tuple[Diagnostic, ...]


def funded(tree: RuleTree, used: list[UsedFile], max_bytes: int) -> tuple[UsedFile, ...]:
    """Set what is taken of each file that holds for a folder; what is scoped by patterns has its own cap only.

    A file that git ignores is there for some tasks only (its folder is one of theirs), so it takes nothing from others.
    """
    chained = [
        Claimant(
            path=one.path,
            folder=one.reach.folders[0] if one.reach.folders else "",
            size_bytes=len(one.header.body.strip().encode("utf-8", "surrogatepass")),
        )
        for one in sorted(used, key=lambda one: (not one.last, one.path.count("/"), one.path))
        if not one.native and not one.reach.of_user and one.header.mode is RuleMode.ALWAYS
        if one.reach.folders or not one.reach.paths
    ]
    listed = [one for one in chained if not one.folder or tree.files[one.path].inner in tree.paths]
    granted = {one.path: min(one.size_bytes, max_bytes) for one in chained} | dict(allotments(listed, max_bytes))
    short = {one.path: granted[one.path] for one in chained if granted[one.path] < one.size_bytes}
    return tuple(replace(one, most_bytes=short.get(one.path)) for one in used)
