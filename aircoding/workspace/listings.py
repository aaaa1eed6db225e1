"""What git lists of a work tree: names come apart by NUL, and bytes that are no UTF-8 stay as surrogates."""

from __future__ import annotations

import os

from aircoding.workspace.git import git_bytes

__all__ = ["names", "nested_repositories", "status_paths", "unmerged_paths"]


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


def nested_repositories(root: str) -> tuple[str, ...]:
    """Return untracked folders that are repositories of their own, sorted: git names them with a slash at the end."""
    entries = names(git_bytes(root, "ls-files", "--others", "--exclude-standard", "-z"))
    return tuple(sorted(entry.rstrip("/") for entry in entries if entry.endswith("/")))
