"""What a commit holds, read from git's objects: nothing is checked out, no filter and no hook of anyone runs."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from aircoding.errors import UsageError, WorkspaceError
from aircoding.workspace.git import git, git_bytes, git_succeeds

__all__ = ["TreeEntry", "TreeObjects", "open_tree_objects"]

_NO_FETCH = {"GIT_NO_LAZY_FETCH": "1"}
"""A partial clone would fetch each missing object by itself, one connection a file."""
_LINK, _SUBMODULE = "120000", "160000"


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeEntry:
    """One name of a commit: its mode as git writes it, and its object."""

    mode: str
    object_id: str

    @property
    def is_link(self) -> bool:
        """Whether it is a symbolic link."""
        return self.mode == _LINK

    @property
    def is_submodule(self) -> bool:
        """Whether it is another repository at a commit: this one does not hold its files."""
        return self.mode == _SUBMODULE


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeObjects:
    """All names of one commit of the repository at `root`."""

    root: str
    revision: str
    commit: str
    entries: Mapping[str, TreeEntry]

    def read(self, paths: Collection[str]) -> Mapping[str, bytes]:
        """Return what some files hold; of a link the place that it names.

        Raises:
            WorkspaceError: the clone does not have one of the objects.
        """
        wanted = [path for path in sorted(set(paths)) if not self.entries[path].is_submodule]
        asked = "".join(f"{self.entries[path].object_id}\n" for path in wanted).encode("ascii")
        # In a partial clone git answers up to an object that is not there, and ends.
        answer = memoryview(self._ask(asked) if wanted else b"")
        found: dict[str, bytes] = {}
        at = 0
        for path in wanted:
            end = bytes(answer[at : at + 200]).find(b"\n") + at
            words = bytes(answer[at:end]).split()
            if len(words) != 3:
                raise self._missing(path)
            size = int(words[2])
            found[path] = bytes(answer[end + 1 : end + 1 + size])
            at = end + 2 + size
        return found

    def _ask(self, stdin: bytes) -> bytes:
        return git_bytes(self.root, "cat-file", "--batch", stdin=stdin, env=_NO_FETCH, accept=(0, 128))

    def _missing(self, path: str) -> WorkspaceError:
        return _missing(self.root, f"{path} as it is in {self.revision}")


def _missing(root: str, what: str) -> WorkspaceError:
    partial = git_succeeds(root, "config", "--get-regexp", r"^remote\..*\.promisor$")
    fetch = "it is a partial clone: fetch what is missing with `git fetch --refetch`, or clone without --filter"
    return WorkspaceError(
        f"{what} is not in this clone",
        hint=fetch if partial else "`git fsck` says what is lost; make a new clone",
        code="workspace.missing_object",
    )


def open_tree_objects(root: str, revision: str) -> TreeObjects:
    """List what a revision of the repository at `root` holds.

    Raises:
        UsageError: it names no commit of this clone.
        WorkspaceError: its trees are not in this clone.
    """
    if revision.startswith("-") or not git_succeeds(
        root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"
    ):
        shallow = git(root, "rev-parse", "--is-shallow-repository") == "true"
        deepen = "this clone is shallow: `git fetch --unshallow`, or `fetch-depth: 0` where CI checks out; else "
        raise UsageError(
            f"{revision} names no commit of this clone",
            hint=f"{deepen if shallow else ''}fetch it, and check its name with `git rev-parse {revision}`",
            code="workspace.no_commit",
        )
    commit = git(root, "rev-parse", "--verify", "--end-of-options", f"{revision}^{{commit}}")
    try:
        listing = git_bytes(root, "ls-tree", "-r", "-z", "--full-tree", commit, env=_NO_FETCH)
    except WorkspaceError as error:
        raise _missing(root, f"a folder of {revision}") from error
    entries: dict[str, TreeEntry] = {}
    for line in listing.split(b"\0"):
        facts, _, name = line.partition(b"\t")
        if facts:
            mode, _kind, object_id = facts.decode("ascii").split()
            entries[os.fsdecode(name)] = TreeEntry(mode=mode, object_id=object_id)
    return TreeObjects(root=root, revision=revision, commit=commit, entries=entries)
