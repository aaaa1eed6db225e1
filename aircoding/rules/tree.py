"""The rule files of a project as one value, read once: what each tool makes of them is computed from it.

Whose a file is was set by whoever read it, and is never told from its name: a repository chooses its own names. Names
are for people: `docs/AGENTS.md` in the project, `~/.claude/CLAUDE.md` of the user, `/etc/claude-code/CLAUDE.md` of the
machine or above the project. A file that is only imported stands beside the others.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from aircoding.records.diagnostics import Diagnostic
from aircoding.records.digests import sha256_bytes
from aircoding.records.ids import Digest
from aircoding.records.printable import printable
from aircoding.rules.rule_names import RuleName

__all__ = ["Owner", "RuleTree", "Target", "TreeFile", "beside", "chain", "folders_of", "import_target", "tree_name"]
__all__ += ["tree_uri"]


class Owner(StrEnum):
    """Whose a file is: the project's, its user's, the machine's, or of a folder above the project."""

    PROJECT = "project"
    USER = "user"
    MACHINE = "machine"
    ABOVE = "above"


_STARTS = {Owner.PROJECT: "", Owner.USER: "~/", Owner.MACHINE: "/", Owner.ABOVE: "/"}
_TAKEN = ("~/", "/", "./")
"""How no name of a project file begins: one that would has `./` before it, as a person would write it."""


def tree_name(owner: Owner, inner: str) -> str:
    """Return the name of a file in a tree; no two files of two owners have one name.

    Args:
        owner: whose it is.
        inner: its path below the project root, the user's home, or the root of the disk.
    """
    start = "./" if owner is Owner.PROJECT and inner.startswith(_TAKEN) else _STARTS[owner]
    return f"{start}{inner}"


def _inner(owner: Owner, name: str) -> str:
    return name.removeprefix("./" if owner is Owner.PROJECT else _STARTS[owner])


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What an import means: the name of a file that is or could be in a tree, and whose it would be."""

    name: str
    owner: Owner

    @property
    def inner(self) -> str:
        """Its path below the project root, the user's home, or the root of the disk."""
        return _inner(self.owner, self.name)


_EMPTY_DIGEST = sha256_bytes(b"")


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeFile:
    """One file. `name` is what rule file it is, None for one that is only imported.

    `owner` is set by the reader; the project's is what a file has least to say as. `text` has line feeds and no byte
    order mark; `raw` are its bytes, `digest` is of them. `problem` says why it was not read (`absent`: there is no such
    file), `identity` is its device and inode, `linked` that its name is a link. `size_bytes` is of the raw file.
    """

    path: str
    name: RuleName | None
    owner: Owner = Owner.PROJECT
    text: str = ""
    raw: bytes = field(default=b"", repr=False)
    digest: Digest = _EMPTY_DIGEST
    size_bytes: int = 0
    lossy: bool = False
    absent: bool = False
    problem: str | None = None
    identity: tuple[int, int] | None = None
    linked: bool = False

    @property
    def of_project(self) -> bool:
        """Whether the repository holds the file, so that whoever can write there chose its words."""
        return self.owner is Owner.PROJECT

    @property
    def inner(self) -> str:
        """Its path below the project root, the user's home, or the root of the disk."""
        return _inner(self.owner, self.path)

    @property
    def folder(self) -> str:
        """The folder that it lies in, below the same root."""
        return posixpath.dirname(self.inner)


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleTree:
    """All rule files by name, and all paths of the project (globs are tried on them).

    `present` are names of files that are there and were not read: they lie outside without the user's approval, or too
    deep among imports; `unread` those that were not read since too many are. `../x` leads out of the project.
    `is_repository`: the root holds a `.git`, file or folder. `is_home`: the root is the user's home or lies above
    it, where nested files are nobody's project.
    """

    files: Mapping[str, TreeFile]
    paths: frozenset[str] = frozenset()
    present: frozenset[str] = frozenset()
    unread: frozenset[str] = frozenset()
    is_repository: bool = True
    is_home: bool = False
    diagnostics: tuple[Diagnostic, ...] = ()

    def find(self, path: str) -> TreeFile | None:
        """Return a file that is there, read or not; None when there is none of that name."""
        return self.files.get(path)

    def is_there(self, path: str) -> bool:
        """Whether there is a file of that name, in the tree or known to the reader only."""
        return path in self.files or path in self.present or path in self.unread

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


def tree_uri(name: str) -> str:
    """Return the uri under which manifests and findings name a file of a tree: `project:…`, `~/…` or `/…`."""
    shown = printable(name)
    return shown if name.startswith((_STARTS[Owner.USER], _STARTS[Owner.MACHINE])) else f"project:{shown}"


def beside(folder: str, base: str) -> str:
    """Return the name of a project file in a folder of the project."""
    return tree_name(Owner.PROJECT, f"{folder}/{base}" if folder else base)


def chain(path: str) -> tuple[str, ...]:
    """Return the folders from the project root (``) down to the one that a project path lies in."""
    parts = path.split("/")[:-1]
    return tuple("/".join(parts[:depth]) for depth in range(len(parts) + 1))


def import_target(importer: TreeFile, written: str) -> Target | None:
    """Return the file that a mention in `importer` means: relative to the importing file (E25).

    A relative path stays with the importer's owner; None where it leads out of what is theirs: there it has no name.
    """
    owner, inner = importer.owner, posixpath.join(importer.folder, written)
    if written.startswith("~/"):
        owner, inner = Owner.USER, written[2:].lstrip("/")
    elif written.startswith("/"):
        owner, inner = Owner.MACHINE, written
    if owner in (Owner.MACHINE, Owner.ABOVE):
        inner = posixpath.normpath(f"/{inner.lstrip('/')}").lstrip("/")
    inner = posixpath.normpath(inner)
    if inner in (".", "..") or inner.startswith("../"):
        return None
    return Target(name=tree_name(owner, inner), owner=owner)


def folders_of(paths: Iterable[str]) -> frozenset[str]:
    """Return every folder of some paths, the root (``) included."""
    return frozenset({"", *(folder for path in paths for folder in chain(path))})
