"""The rule files of a project as one value, read once: what each tool makes of them is computed from it.

Paths are names: `docs/AGENTS.md` in the project, `~/.claude/CLAUDE.md` of the user, `/etc/claude-code/CLAUDE.md` of
the machine or above the project. A file that is only imported stands beside the others.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from aircoding.records.diagnostics import Diagnostic
from aircoding.records.printable import printable
from aircoding.rules.rule_names import RuleName

__all__ = ["RuleTree", "TreeFile", "chain", "folders_of", "import_target", "tree_uri"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeFile:
    """One file. `name` is what rule file it is, None for one that is only imported.

    `text` has line feeds and no byte order mark; `raw` are its bytes. `problem` says why it was not read, `identity` is
    its device and inode, `linked` that its name is a link. `size_bytes` is of the raw file.
    """

    path: str
    name: RuleName | None
    text: str = ""
    raw: bytes = field(default=b"", repr=False)
    size_bytes: int = 0
    lossy: bool = False
    problem: str | None = None
    identity: tuple[int, int] | None = None
    linked: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleTree:
    """All rule files by path, and all paths of the project (globs are tried on them).

    `is_repository`: the root holds a `.git`, file or folder. `is_home`: the root is the user's home or lies above
    it, where nested files are nobody's project.
    """

    files: Mapping[str, TreeFile]
    paths: frozenset[str] = frozenset()
    is_repository: bool = True
    is_home: bool = False
    diagnostics: tuple[Diagnostic, ...] = ()

    def find(self, path: str) -> TreeFile | None:
        """Return a file that is there, read or not; None when there is none of that name."""
        return self.files.get(path)

    def readable(self, path: str) -> TreeFile | None:
        """Return a file that could be read; None for a missing, refused or unreadable one."""
        file = self.files.get(path)
        return file if file is not None and file.problem is None else None

    def same_files(self) -> Mapping[tuple[int, int], tuple[str, ...]]:
        """Return the names of each file that has more than one, sorted."""
        names: dict[tuple[int, int], list[str]] = {}
        for path in sorted(self.files):
            identity = self.files[path].identity
            if identity is not None:
                names.setdefault(identity, []).append(path)
        return {identity: tuple(found) for identity, found in names.items() if len(found) > 1}


def tree_uri(path: str) -> str:
    """Return the uri under which manifests and findings name a file of a tree: `project:…`, `~/…` or `/…`."""
    shown = printable(path)
    return shown if path.startswith(("~/", "/")) else f"project:{shown}"


def chain(path: str) -> tuple[str, ...]:
    """Return the folders from the project root (``) down to the one that a project path lies in."""
    parts = path.split("/")[:-1]
    return tuple("/".join(parts[:depth]) for depth in range(len(parts) + 1))


def import_target(importer: str, target: str) -> str | None:
    """Return the name of the file that a mention in `importer` means: relative to the importing file (E25).

    None where a relative path leads out of the project: what lies there has no name of ours.
    """
    if target.startswith("~/"):
        return "~/" + posixpath.normpath(target[2:]).lstrip("/") if posixpath.normpath(target[2:]) != "." else None
    if target.startswith("/"):
        return posixpath.normpath("/" + target.lstrip("/"))
    base = posixpath.dirname(importer)
    joined = posixpath.normpath(posixpath.join(base, target))
    root = "~" if importer.startswith("~/") else "/" if importer.startswith("/") else ""
    if joined == ".." or joined.startswith("../") or (root == "~" and not joined.startswith("~/")):
        return None
    return joined if joined not in (".", "~", "/") else None


def folders_of(paths: Iterable[str]) -> frozenset[str]:
    """Return every folder of some paths, the root (``) included."""
    return frozenset({"", *(folder for path in paths for folder in chain(path))})
