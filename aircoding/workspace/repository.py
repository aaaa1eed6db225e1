"""The project's git as the orchestrator uses it: worktrees, commits, merges, each safe to do again after a crash."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime
from pathlib import Path

from aircoding.errors import ProjectError, WorkspaceError
from aircoding.records.work import MergeOutcome
from aircoding.workspace.git import git, git_bytes, git_succeeds
from aircoding.workspace.worktree import GitWorktree

__all__ = ["GitRepository", "open_repository"]

_KEY = "Air-Key"


def open_repository(start: str | Path) -> GitRepository:
    """Find the repository around `start`.

    Raises:
        ProjectError: there is none, it is bare, or it has no commit yet.
    """
    path = Path(start)
    if not path.is_dir():
        raise ProjectError(f"{path} is no folder")
    try:
        root = git(path, "rev-parse", "--show-toplevel")
    except WorkspaceError as error:
        if "dubious ownership" in error.message:
            raise ProjectError(
                f"git does not trust the owner of {path}",
                hint=f"git config --global --add safe.directory {path}",
                code="project.owner",
            ) from error
        raise ProjectError(
            f"{path} is in no git repository",
            hint="run `git init` and commit, or go to a repository",
            code="project.none",
        ) from error
    if not git_succeeds(root, "rev-parse", "--verify", "HEAD^{commit}"):
        raise ProjectError(
            f"{root} has no commit yet",
            hint="commit something first: workers start from a commit",
            code="project.no_commit",
        )
    return GitRepository(root)


class GitRepository:
    """One repository; `root` is its main work tree."""

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
        seconds = int(git(self.root, "show", "--no-patch", "--format=%ct", commit))
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

    def dirty_paths(self) -> tuple[str, ...]:
        """Return paths with changes that are not committed; `.air/` does not count."""
        listing = git_bytes(self.root, "status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames")
        paths = [entry[3:].decode("utf-8", "surrogateescape") for entry in listing.split(b"\0") if len(entry) > 3]
        return tuple(sorted(path for path in paths if not path.startswith(".air/")))

    def read_at(self, commit: str, path: str) -> bytes | None:
        """Return a file's bytes at a commit, or None when it is not there."""
        if not git_succeeds(self.root, "cat-file", "-e", f"{commit}:{path}"):
            return None
        return git_bytes(self.root, "cat-file", "blob", f"{commit}:{path}")

    def add_worktree(self, name: str, *, branch: str, commit: str) -> str:
        """Make a worktree below `.air/local/worktrees`, or find it again; a half-made one is made anew."""
        folder = Path(self.root) / ".air" / "local" / "worktrees" / name
        if git_succeeds(folder, "rev-parse", "--verify", "HEAD") if folder.is_dir() else False:
            top = git(folder, "rev-parse", "--show-toplevel")
            if Path(top).resolve() == folder.resolve():
                return str(folder)
        if folder.exists():
            shutil.rmtree(folder)
        git(self.root, "worktree", "prune")
        folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if git_succeeds(self.root, "rev-parse", "--verify", f"refs/heads/{branch}"):
            git(self.root, "worktree", "add", "--force", str(folder), branch)
        else:
            git(self.root, "worktree", "add", "-b", branch, str(folder), commit)
        return str(folder)

    def open_worktree(self, root: str) -> GitWorktree:
        """Return the files of a worktree."""
        return GitWorktree(root)

    def commit_all(self, root: str, message: str, *, key: str) -> str | None:
        """Commit all changes of a worktree, a merge in progress included.

        The key stands as a trailer in the commit, so that doing it again finds it. None when there
        is nothing to commit.
        """
        if self._key_at(root, "HEAD") == key:
            return git(root, "rev-parse", "HEAD")
        git(root, "add", "--all", "--", ".", ":(exclude).air/local")
        merging = git_succeeds(root, "rev-parse", "--verify", "--quiet", "MERGE_HEAD")
        if not merging and git_succeeds(root, "diff", "--cached", "--quiet"):
            return None
        git(root, "commit", "--no-verify", "--quiet", "-m", f"{message}\n\n{_KEY}: {key}", env=self._identity(root))
        return git(root, "rev-parse", "HEAD")

    def merge(self, root: str, commit: str, message: str, *, key: str) -> MergeOutcome:
        """Merge a commit into the branch of the worktree at `root`; conflicts are left in its files."""
        found = self._commit_with_key(root, key)
        if found is not None:
            return MergeOutcome(commit=found)
        if git_succeeds(root, "rev-parse", "--verify", "--quiet", "MERGE_HEAD"):
            conflicts = self._unmerged(root)
            if conflicts:
                return MergeOutcome(commit=None, conflicts=conflicts)
            return MergeOutcome(commit=self.commit_all(root, message, key=key))
        git(root, "reset", "--hard", "--quiet", "HEAD")
        full = f"{message}\n\n{_KEY}: {key}"
        git(root, "merge", "--no-ff", "--no-verify", "-m", full, commit, env=self._identity(root), accept=(0, 1))
        conflicts = self._unmerged(root)
        if conflicts:
            return MergeOutcome(commit=None, conflicts=conflicts)
        return MergeOutcome(commit=git(root, "rev-parse", "HEAD"))

    def abort_merge(self, root: str) -> None:
        """Give up a merge and restore the branch's own files."""
        if git_succeeds(root, "rev-parse", "--verify", "--quiet", "MERGE_HEAD"):
            git(root, "merge", "--abort")
        git(root, "reset", "--hard", "--quiet", "HEAD")
        git(root, "clean", "-fdq")

    def reset(self, root: str, commit: str) -> None:
        """Put a worktree's branch and files back to a commit; files that git ignores stay."""
        self.abort_merge(root)
        git(root, "reset", "--hard", "--quiet", commit)

    def worktree_head(self, root: str) -> str:
        """Return the commit that a worktree is on."""
        return git(root, "rev-parse", "HEAD")

    def same_tree(self, left: str, right: str) -> bool:
        """Whether two commits hold the same files."""
        return git(self.root, "rev-parse", f"{left}^{{tree}}") == git(self.root, "rev-parse", f"{right}^{{tree}}")

    def remove_worktree(self, root: str) -> bool:
        """Remove a worktree that holds nothing of its own; False when it holds work (it stays)."""
        if not Path(root).is_dir():
            return True
        if git(root, "status", "--porcelain", "--untracked-files=all"):
            return False
        head = git(root, "rev-parse", "HEAD")
        holders = git(self.root, "branch", "--format=%(refname:short)", "--contains", head).splitlines()
        own = git(root, "symbolic-ref", "--quiet", "--short", "HEAD", accept=(0, 1))
        if not [branch for branch in holders if branch != own]:
            return False
        git(self.root, "worktree", "remove", "--force", root)
        if own:
            git(self.root, "branch", "-D", own)
        return True

    def fast_forward(self, commit: str, *, branch: str | None = None) -> str | None:
        """Move a branch (default: the one checked out) forward to `commit`; return why not, or None when done."""
        current = self.head_branch()
        target = branch or current
        if target is None:
            return "HEAD is detached, so there is no branch to move"
        tip = git(self.root, "rev-parse", "--verify", f"refs/heads/{target}")
        if tip == commit:
            return None
        if not git_succeeds(self.root, "merge-base", "--is-ancestor", tip, commit):
            return f"{target} has commits of its own since the run started"
        if target != current:
            git(self.root, "update-ref", f"refs/heads/{target}", commit, tip)
            return None
        dirty = self.dirty_paths()
        if dirty:
            return f"there are uncommitted changes ({', '.join(dirty[:3])})"
        try:
            git(self.root, "merge", "--ff-only", "--quiet", commit)
        except WorkspaceError as error:
            return error.message
        return None

    def _identity(self, root: str) -> dict[str, str]:
        """Return who commits: the user as git knows them, else the program."""
        name = git(root, "config", "--get", "user.name", accept=(0, 1)) or "AirCoding"
        email = git(root, "config", "--get", "user.email", accept=(0, 1)) or "aircoding@localhost"
        who = {"GIT_AUTHOR_NAME": name, "GIT_AUTHOR_EMAIL": email}
        return {**who, "GIT_COMMITTER_NAME": name, "GIT_COMMITTER_EMAIL": email}

    def _key_at(self, root: str, commit: str) -> str:
        return git(root, "show", "--no-patch", f"--format=%(trailers:key={_KEY},valueonly,separator=%x2C)", commit)

    def _commit_with_key(self, root: str, key: str) -> str | None:
        found = git(
            root,
            "log",
            "--first-parent",
            "--max-count=500",
            f"--format=%H %(trailers:key={_KEY},valueonly,separator=%x2C)",
        )
        for line in found.splitlines():
            commit, _, value = line.partition(" ")
            if value == key:
                return commit
        return None

    def _unmerged(self, root: str) -> tuple[str, ...]:
        listing = git_bytes(root, "diff", "--name-only", "--diff-filter=U", "-z", "--no-ext-diff", "--no-textconv")
        return tuple(sorted(path.decode("utf-8", "surrogateescape") for path in listing.split(b"\0") if path))
