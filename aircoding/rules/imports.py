"""Who imports whom among rule files, and how far: Claude Code follows four hops, Gemini CLI five (read 2026-08)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from aircoding.rules.mentions import bare_file_name, mentions
from aircoding.rules.rule_names import Dialect
from aircoding.rules.tree import RuleTree, TreeFile, import_target

__all__ = ["MAX_HOPS", "FileImport", "cycles", "imports_of"]

MAX_HOPS: Mapping[Dialect, int] = {Dialect.CLAUDE: 4, Dialect.CLAUDE_RULES: 4, Dialect.GEMINI: 5}
"""Whose files import others, and the last hop that is loaded (E22)."""
_REMEMBERED_CHARS = 16_384
_remembered = lru_cache(maxsize=4096)(mentions)
"""The files of a project are looked at on every request, and hardly ever change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileImport:
    """One file that another names. `target` is its name in a `RuleTree`; None: it lies outside and has no name of ours.

    `bare`: the whole importing file is this name, as a link looks in a clone without links (E20).
    """

    target: str | None
    written: str
    line: int
    bare: bool = False


def imports_of(file: TreeFile, tree: RuleTree, is_there: Callable[[str], bool]) -> tuple[FileImport, ...]:
    """Return what a file imports, in order; a mention of a file that is nowhere is plain text (E24).

    Args:
        file: the importing file.
        tree: what was read.
        is_there: whether a file that is not in the tree exists all the same.
    """
    name = bare_file_name(file.text)
    if name is not None:
        target = import_target(file.path, name)
        if target is not None and target != file.path and target in tree.files:
            return (FileImport(target=target, written=name, line=1, bare=True),)
    found: list[FileImport] = []
    for mention in (_remembered if len(file.text) <= _REMEMBERED_CHARS else mentions)(file.text):
        for written in mention.targets:
            target = import_target(file.path, written)
            if target is None and ".." in written.split("/") and is_there(_joined(file.path, written)):
                found.append(FileImport(target=None, written=mention.written, line=mention.line))
                break
            if target is not None and (target in tree.files or is_there(target)):
                found.append(FileImport(target=target, written=mention.written, line=mention.line))
                break
    return tuple(found)


def _joined(importer: str, written: str) -> str:
    folder = importer.rpartition("/")[0]
    return f"{folder}/{written}" if folder else written


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
