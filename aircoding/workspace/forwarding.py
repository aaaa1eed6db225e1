"""Move a branch of the user forward, and only forward, when nothing of theirs is touched."""

from __future__ import annotations

from aircoding.errors import WorkspaceError
from aircoding.workspace.git import git, git_succeeds
from aircoding.workspace.listings import status_paths

__all__ = ["fast_forward"]


def fast_forward(project: str, commit: str, *, branch: str | None = None) -> str | None:
    """Move `branch` (default: the one checked out) to `commit`, with the files where it is checked out.

    Returns:
        Why it was not moved, for the person; None when the branch holds the commit now.
    """
    target = branch or git(project, "symbolic-ref", "--quiet", "--short", "HEAD", accept=(0, 1))
    if not target:
        return "HEAD is detached, so there is no branch to move"
    ref = f"refs/heads/{target}"
    tip = git(project, "rev-parse", "--verify", "--quiet", ref, accept=(0, 1))
    if not tip:
        return f"there is no branch {target} any more"
    if _is_ancestor(project, commit, tip):
        return None
    if not _is_ancestor(project, tip, commit):
        return f"{target} has commits of its own since the run started"
    place = git(project, "for-each-ref", "--format=%(worktreepath)", ref)
    if not place:
        git(project, "update-ref", "-m", "aircoding: fast-forward", ref, commit, tip)
        return None
    return _forward_files(place, commit)


def _forward_files(place: str, commit: str) -> str | None:
    dirty = [path for path in status_paths(place) if not path.startswith(".air/")]
    if dirty:
        more = f" and {len(dirty) - 3} more" if len(dirty) > 3 else ""
        return f"there are uncommitted changes in {place} ({', '.join(dirty[:3])}{more})"
    try:
        git(place, "merge", "--ff-only", "--no-stat", "--quiet", "--no-overwrite-ignore", commit)
    except WorkspaceError as error:
        return error.message
    return None


def _is_ancestor(project: str, older: str, newer: str) -> bool:
    return git_succeeds(project, "merge-base", "--is-ancestor", older, newer)
