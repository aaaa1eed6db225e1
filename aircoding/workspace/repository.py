"""The project's git as the orchestrator uses it: commits, merges and branches, each safe to do again after a crash.

A commit or merge carries the key of the step that made it as a trailer; a step that is done again finds its commit.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path

from aircoding.errors import ProjectError, WorkspaceError
from aircoding.records.work import MergeOutcome
from aircoding.workspace.forwarding import fast_forward
from aircoding.workspace.git import NO_PROGRAMS, WORKTREES, git, git_bytes, git_succeeds
from aircoding.workspace.listings import nested_repositories, status_paths, unmerged_paths, work_paths
from aircoding.workspace.placement import add_worktree, remove_worktree
from aircoding.workspace.worktree import GitWorktree

__all__ = ["GitRepository", "main_root", "open_repository"]

_KEY = "Air-Key"
_KEY_FORMAT = f"%(trailers:key={_KEY},valueonly,separator=%x2C)"
_SEARCHED_COMMITS = 2_000
"""How far back a merge looks for the commit that it made before; a run that is resumed made it lately."""
_LISTED = 100


def open_repository(start: str | Path) -> GitRepository:
    """Find the repository around `start`.

    Raises:
        ProjectError: there is none, it is bare, it has no commit yet, or it is the worktree of an attempt.
        WorkspaceError: git is not installed.
    """
    path = Path(start)
    if not path.is_dir():
        raise ProjectError(f"{path} is no folder", hint="name the folder of a git repository", code="project.none")
    try:
        root = git(path, "rev-parse", "--show-toplevel", discover=True)
    except WorkspaceError as error:
        raise _no_work_tree(path, error) from error
    if f"/{WORKTREES}/" in f"{root}/":
        main = root.partition(f"/{WORKTREES}/")[0]
        raise ProjectError(f"{root} is the worktree of an attempt", hint=f"go to {main}", code="project.attempt")
    if not git_succeeds(root, "rev-parse", "--verify", "--quiet", "HEAD^{commit}"):
        raise ProjectError(
            f"{root} has no commit yet",
            hint="commit something first: workers start from a commit",
            code="project.no_commit",
        )
    return GitRepository(root)


def main_root(root: str | Path) -> str:
    """Return the root of the main worktree of the repository at `root`: its own, unless it is a linked one.

    A folder that is no repository is its own root, also where its `.git` names one that is gone.

    Raises:
        WorkspaceError: git fails.
    """
    if not os.path.lexists(os.path.join(root, ".git")):
        return str(root)
    try:
        common = git(root, "rev-parse", "--path-format=absolute", "--git-common-dir")
    except WorkspaceError as error:
        if "not a git repository" in error.message:
            return str(root)
        raise
    return str(Path(common).parent) if Path(common).name == ".git" else str(root)


def _no_work_tree(path: Path, error: WorkspaceError) -> ProjectError | WorkspaceError:
    """Say why there is no work tree at a path: git gives one message for several reasons."""
    if "not a git repository" in error.message:
        return ProjectError(
            f"{path} is in no git repository",
            hint="run `git init` and commit, or go to a repository",
            code="project.none",
        )
    if "dubious ownership" in error.message:
        return ProjectError(
            f"git does not trust the owner of {path}",
            hint=f"git config --global --add safe.directory {path.absolute()}",
            code="project.owner",
        )
    if "must be run in a work tree" not in error.message:
        return error
    bare = git(path, "rev-parse", "--is-bare-repository", discover=True) == "true"
    what = "a bare repository: it has no files to work on" if bare else "git's own folder"
    hint = "clone it, and work in the clone" if bare else "go to the folder above it"
    return ProjectError(f"{path} is {what}", hint=hint, code="project.bare" if bare else "project.none")


class GitRepository:
    """One repository; `root` is the work tree that it was opened in."""

    def __init__(self, root: str) -> None:
        self.root = root

    def head(self) -> str:
        """Return the commit of HEAD."""
        return git(self.root, "rev-parse", "HEAD")

    def head_branch(self) -> str | None:
        """Return the branch that is checked out, or None when HEAD is detached."""
        return git(self.root, "symbolic-ref", "--quiet", "--short", "HEAD", accept=(0, 1)) or None

    def commit_at(self, commit: str = "HEAD") -> str:
        """Return the time of a commit, RFC 3339 in UTC."""
        seconds = int(git(self.root, "show", "--no-patch", "--format=%ct", commit, "--"))
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

    def dirty_paths(self) -> tuple[str, ...]:
        """Return paths with changes that are not committed, sorted; `.air/` does not count."""
        return tuple(path for path in status_paths(self.root) if not path.startswith(".air/"))

    def read_at(self, commit: str, path: str) -> bytes | None:
        """Return a file's bytes at a commit, or None when it is not there."""
        found = self.objects_at(commit, [path]).get(path)
        return None if found is None else git_bytes(self.root, "cat-file", "blob", found)

    def objects_at(self, commit: str, paths: Iterable[str] = ()) -> Mapping[str, str]:
        """Return the object id of each file of a commit, or of those of `paths` that it has.

        Links are files here; nested repositories are not.
        """
        wanted = sorted(set(paths))
        listings = [
            git_bytes(self.root, "ls-tree", "-r", "-z", "--full-tree", commit, "--", *wanted[start : start + _LISTED])
            for start in range(0, len(wanted) or 1, _LISTED)
        ]
        found: dict[str, str] = {}
        for entry in b"".join(listings).split(b"\0"):
            facts, _, name = entry.partition(b"\t")
            if facts and facts.split()[1] == b"blob":
                found[name.decode("utf-8", "surrogateescape")] = facts.split()[2].decode("ascii")
        return found

    def add_worktree(self, name: str, *, branch: str, commit: str) -> str:
        """Make a worktree below `.air/local/worktrees`, or find it again with its work; a half-made one is made anew.

        Raises:
            WorkspaceError: git cannot make it, or the branch has another history.
        """
        return add_worktree(self.root, name, branch=branch, commit=commit)

    def open_worktree(self, root: str) -> GitWorktree:
        """Return the files of a worktree."""
        return GitWorktree(root)

    def commit_all(self, root: str, message: str, *, key: str) -> str | None:
        """Commit all changes of a worktree, a merge in progress included; None when there is nothing to commit.

        Raises:
            WorkspaceError: a repository lies inside the worktree: its files would not be in the commit.
        """
        if self._key_at(root, "HEAD") == key:
            return git(root, "rev-parse", "HEAD")
        if nested := nested_repositories(root):
            raise WorkspaceError(
                f"{', '.join(nested[:3])}: a git repository of its own lies inside the worktree",
                hint="what it holds would not be committed: remove its `.git`, or let the project ignore it",
                code="workspace.nested_repository",
            )
        git(root, "add", "--all", "--", *work_paths(root))
        if not self._merging(root) and git_succeeds(root, "diff", "--cached", "--quiet", *NO_PROGRAMS):
            return None
        self._commit(root, message, key)
        return git(root, "rev-parse", "HEAD")

    def merge(self, root: str, commit: str, message: str, *, key: str) -> MergeOutcome:
        """Merge a commit into the branch of the worktree at `root`; conflicts are left in its files.

        What is not committed there is dropped first (what a verify command wrote, what a merge that
        was killed left): work is committed before it is merged.
        """
        found = self._commit_with_key(root, key)
        if found is not None:
            return MergeOutcome(commit=found)
        if self._merging(root) == git(root, "rev-parse", f"{commit}^{{commit}}"):
            conflicts = unmerged_paths(root)
            return MergeOutcome(
                commit=None if conflicts else self.commit_all(root, message, key=key), conflicts=conflicts
            )
        self.abort_merge(root)
        try:
            git(root, "merge", "--no-commit", "--no-ff", "--no-stat", "--quiet", commit, env=_identity(root))
        except WorkspaceError:
            if conflicts := unmerged_paths(root):
                return MergeOutcome(commit=None, conflicts=conflicts)
            raise
        if not self._merging(root):
            return MergeOutcome(commit=git(root, "rev-parse", "HEAD"))  # it holds the commit already
        self._commit(root, message, key)
        return MergeOutcome(commit=git(root, "rev-parse", "HEAD"))

    def abort_merge(self, root: str) -> None:
        """Give up a merge and restore the branch's own files; files that git ignores stay."""
        # Not `merge --abort`: it refuses after a merge that was killed between its files and its index.
        git(root, "reset", "--hard", "--quiet", "HEAD")
        git(root, "clean", "-fdq", "--exclude=/.air/local/")

    def reset(self, root: str, commit: str, *, ignored: bool = False) -> None:
        """Put a worktree's branch and files back to a commit; files that git ignores go only with `ignored`."""
        self.abort_merge(root)
        git(root, "reset", "--hard", "--quiet", commit)
        if ignored:
            git(root, "clean", "-ffdxq", "--exclude=/.air/local/")

    def worktree_head(self, root: str) -> str:
        """Return the commit that a worktree is on."""
        return git(root, "rev-parse", "HEAD")

    def remove_worktree(self, root: str) -> bool:
        """Remove a worktree that holds nothing of its own; False when it holds work, or is none of ours (it stays)."""
        return remove_worktree(self.root, root)

    def fast_forward(self, commit: str, *, branch: str | None = None) -> str | None:
        """Move a branch (default: the one checked out) forward to `commit`; return why not, or None when done."""
        return fast_forward(self.root, commit, branch=branch)

    def _commit(self, root: str, message: str, key: str) -> None:
        text = f"{message}\n\n{_KEY}: {key}\n".replace("\0", "\N{REPLACEMENT CHARACTER}")
        git_bytes(
            root,
            "commit",
            "--no-verify",
            "--quiet",
            "--allow-empty",
            "--cleanup=whitespace",
            "--file=-",
            stdin=text.encode("utf-8", "surrogateescape"),
            env=_identity(root),
        )

    def _merging(self, root: str) -> str:
        """Return the commit that a merge in progress takes in, or nothing."""
        return git(root, "rev-parse", "--verify", "--quiet", "MERGE_HEAD", accept=(0, 1))

    def _key_at(self, root: str, commit: str) -> str:
        return git(root, "show", "--no-patch", f"--format={_KEY_FORMAT}", commit, "--")

    def _commit_with_key(self, root: str, key: str) -> str | None:
        found = git(root, "log", "--first-parent", f"--max-count={_SEARCHED_COMMITS}", f"--format=%H {_KEY_FORMAT}")
        for line in found.splitlines():
            commit, _, value = line.partition(" ")
            if value == key:
                return commit
        return None


def _identity(root: str) -> dict[str, str]:
    """Return who commits: the user as git knows them, else the program."""
    name = git(root, "config", "--get", "user.name", accept=(0, 1)) or "AirCoding"
    email = git(root, "config", "--get", "user.email", accept=(0, 1)) or "aircoding@localhost"
    who = {"GIT_AUTHOR_NAME": name, "GIT_AUTHOR_EMAIL": email}
    return {**who, "GIT_COMMITTER_NAME": name, "GIT_COMMITTER_EMAIL": email}
