"""What one file imports, and how far whose files do: the same for the reader, workers, accounts of tools and lint.

Claude Code follows four hops and passes over comments that stand as blocks, Gemini CLI follows five (read 2026-08).
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from aircoding.rules.comments import without_block_comments
from aircoding.rules.mentions import MAX_MENTIONS, Mention, bare_file_name, mentions
from aircoding.rules.owner_rules import read_header
from aircoding.rules.rule_names import Dialect
from aircoding.rules.tree import Owner, RuleTree, Target, TreeFile, import_target

__all__ = ["FOLLOWED", "MAX_HOPS", "NAMES_ONLY", "FileImport", "FileImports", "Following", "cycles", "followed_by"]
__all__ += ["imports_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Following:
    """How the imports of a file and of what it imports are followed.

    `hops` is the last hop that is loaded (E22); `uncommented`: mentions in block comments are none (E29); without
    `mentions` a file imports another only by being its name and nothing else (E20).
    """

    hops: int
    uncommented: bool = False
    mentions: bool = True


FOLLOWED: Mapping[Dialect, Following] = {
    Dialect.CLAUDE: Following(hops=4, uncommented=True),
    Dialect.CLAUDE_RULES: Following(hops=4, uncommented=True),
    Dialect.GEMINI: Following(hops=5),
}
"""Whose files import others."""
NAMES_ONLY = Following(hops=4, mentions=False)
"""How all other rule files are followed: a link that a clone without links turned into text is a link to each tool."""
MAX_HOPS = max(one.hops for one in FOLLOWED.values())
"""As far as anybody follows."""
_REMEMBERED_CHARS = 16_384


@dataclass(frozen=True, slots=True, kw_only=True)
class FileImport:
    """One place where a file names another. `targets` are what may be meant, the likeliest first.

    A target of a project file whose owner is `ABOVE` is a relative path that leads out of the project.
    """

    written: str
    line: int
    targets: tuple[Target, ...]
    bare: bool = False

    def found_in(self, tree: RuleTree) -> Target | None:
        """Return the first target that is there; a mention of a file that is nowhere is plain text (E24)."""
        return next((one for one in self.targets if tree.is_there(one.name)), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class FileImports:
    """All that a file names: itself another's name (`bare`, E20), or by `@path` in its text.

    `unread_line` is where the first mention stands that is not read, since there are too many.
    """

    bare: FileImport | None = None
    mentions: tuple[FileImport, ...] = ()
    unread_line: int | None = None

    def of(self, tree: RuleTree) -> tuple[tuple[FileImport, Target], ...]:
        """Return what is there of it, in order; a file that is another's name imports nothing else."""
        named = (self.bare,) if self.bare is not None and self.bare.found_in(tree) is not None else self.mentions
        return tuple((one, target) for one in named if (target := one.found_in(tree)) is not None)


def followed_by(file: TreeFile) -> Following:
    """Return how the imports of a rule file are followed."""
    return FOLLOWED.get(file.name.dialect, NAMES_ONLY) if file.name is not None else NAMES_ONLY


def imports_of(file: TreeFile, following: Following, *, most: int = MAX_MENTIONS) -> FileImports:
    """Return what a file that could be read imports; where to is not looked at.

    Args:
        file: the importing file.
        following: how its imports are followed: by its own owner, or by the owner of who imports it.
        most: most mentions that are read.
    """
    name = bare_file_name(file.text)
    bare = _import(file, name, 1, (name,), bare=True) if name is not None else None
    if not following.mentions or "@" not in file.text:
        return FileImports(bare=bare)
    header = read_header(file)
    read = _remembered if len(header.body) <= _REMEMBERED_CHARS else _mentions
    found = read(header.body, following.uncommented, most + 1)
    above = header.body_start_line - 1
    return FileImports(
        bare=bare,
        mentions=tuple(_import(file, one.written, one.line + above, one.targets) for one in found[:most]),
        unread_line=found[most].line + above if len(found) > most else None,
    )


def _mentions(body: str, uncommented: bool, most: int) -> tuple[Mention, ...]:
    return mentions(without_block_comments(body).text if uncommented else body, most=most)


_remembered = lru_cache(maxsize=4096)(_mentions)
"""The files of a project are looked at on every request, and hardly ever change."""


def _import(file: TreeFile, written: str, line: int, names: Iterable[str], *, bare: bool = False) -> FileImport:
    found = (_target(file, name) for name in names)
    targets = tuple(one for one in found if one is not None and not (bare and one.name == file.path))
    return FileImport(written=written, line=line, targets=targets, bare=bare)


def _target(file: TreeFile, written: str) -> Target | None:
    found = import_target(file, written)
    if found is not None or not file.of_project or written.startswith(("~/", "/")):
        return found
    leaving = posixpath.normpath(posixpath.join(file.folder, written))
    return Target(name=leaving, owner=Owner.ABOVE) if leaving.startswith("../") else None


def cycles(edges: Mapping[str, Iterable[str]]) -> tuple[tuple[str, ...], ...]:
    """Return the rings among files, each from its first name on and back to it (E21)."""
    found: list[tuple[str, ...]] = []
    done: set[str] = set()
    for start in sorted(edges):
        trail: list[str] = []
        place: dict[str, int] = {}
        waiting: list[tuple[str, Iterator[str]]] = []

        def enter(name: str, trail: list[str], place: dict[str, int], waiting: list[tuple[str, Iterator[str]]]) -> None:
            place[name] = len(trail)
            trail.append(name)
            waiting.append((name, iter(sorted(edges.get(name, ())))))

        if start not in done:
            enter(start, trail, place, waiting)
        while waiting:
            name, rest = waiting[-1]
            following = next(rest, None)
            if following is None:
                waiting.pop()
                trail.pop()
                del place[name]
                done.add(name)
            elif following in place:
                found.append((*trail[place[following] :], following))
            elif following not in done:
                enter(following, trail, place, waiting)
    return tuple(found)
