"""What git lists of a work tree: names come apart by NUL, and bytes that are no UTF-8 stay as surrogates."""

from __future__ import annotations

import os

from aircoding.workspace.git import NO_PROGRAMS, git_bytes

__all__ = ["WORK", "names", "nested_repositories", "status_paths", "unmerged_paths", "work_paths"]

WORK = (".", ":(exclude).air/local", ":(exclude,glob)**/.air-*.partial")
"""The paths of a worktree that are work: all but our own state, and what a write that was killed left."""


def names(listing: bytes) -> list[str]:
    """Return the names of a `-z` listing in its order."""
    return [os.fsdecode(name) for name in listing.split(b"\0") if name]


def status_paths(root: str) -> tuple[str, ...]:
    """Return the paths that differ from HEAD, untracked ones included, sorted."""
    listing = git_bytes(
        root,
        "status",
        "--porcelain=v1",
        "-z",
        "--untracked-files=all",
        "--no-renames",
        "--ignore-submodules=dirty",
    )
    return tuple(sorted({entry[3:] for entry in names(listing)}))


def unmerged_paths(root: str) -> tuple[str, ...]:
    """Return the paths that a merge left in conflict, sorted."""
    entries = names(git_bytes(root, "ls-files", "--unmerged", "-z"))
    return tuple(sorted({entry.partition("\t")[2] for entry in entries}))


def work_paths(root: str) -> tuple[str, ...]:
    """Return the pathspecs that `git add` is given.

    Repositories inside are left out. To see whether a submodule is clean, `git add` would run git
    inside it, with the filters of a configuration that a worker may have written.
    """
    inside = (*_filled_submodules(root), *_untracked_repositories(root))
    return (*WORK, *(f":(exclude,literal){path}" for path in inside))


def nested_repositories(root: str) -> tuple[str, ...]:
    """Return folders that are repositories of their own and hold something that a commit would lose, sorted.

    Those are untracked ones, which git names with a slash at the end, and submodules at another commit.
    """
    submodules = _filled_submodules(root)
    moved = git_bytes(root, "diff", "--name-only", *NO_PROGRAMS, "-z", "--", *submodules) if submodules else b""
    return tuple(sorted([*_untracked_repositories(root), *names(moved)]))


def _untracked_repositories(root: str) -> list[str]:
    entries = names(git_bytes(root, "ls-files", "--others", "--exclude-standard", "-z"))
    return [entry.rstrip("/") for entry in entries if entry.endswith("/")]


def _filled_submodules(root: str) -> tuple[str, ...]:
    entries = names(git_bytes(root, "ls-files", "--stage", "-z"))
    paths = [entry.partition("\t")[2] for entry in entries if entry.startswith("160000 ")]
    return tuple(path for path in paths if os.path.lexists(os.path.join(root, path, ".git")))
