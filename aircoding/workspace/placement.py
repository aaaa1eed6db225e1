"""Where worktrees lie: made, found again with their work, made anew when half-made, removed when they hold nothing.

Git registers a worktree before its files are there, and deletes its files before it forgets it. A kill in between
leaves a tree with missing files, which a commit would take for deletions. So a mark is written in git's own folder of
the worktree after it is whole, and taken away before it is removed: without the mark it holds no work.
"""

from __future__ import annotations

import os
import secrets
import shutil
import stat
from collections.abc import Callable
from pathlib import Path

from aircoding.errors import WorkspaceError
from aircoding.workspace.git import OUR_MARK, WORKTREES, git, git_succeeds, linked_git_dir
from aircoding.workspace.listings import names, status_paths
from aircoding.workspace.worktree import PARTIAL_FILES

__all__ = ["add_worktree", "hide_local_state", "remove_worktree"]


def add_worktree(project: str, name: str, *, branch: str, commit: str) -> str:
    """Make the worktree `name` on a new branch at `commit`, or find it again; return its root.

    A branch that is there already keeps its commits: the files may be lost, the work is not.

    Raises:
        WorkspaceError: git cannot make it, or the branch or the folder is not as an earlier call left it.
    """
    folder = _folder(project, name)
    home = _registered(project, folder)
    if home is not None and (home / OUR_MARK).is_file() and folder.is_dir():
        _find_again(folder, home, branch)
        return str(folder)
    hide_local_state(project)
    _clear(project, folder, home)
    if not git_succeeds(project, "rev-parse", "--verify", "--quiet", f"refs/heads/{branch}"):
        git(project, "worktree", "add", "-b", branch, "--no-track", str(folder), commit)
    elif git_succeeds(project, "merge-base", "--is-ancestor", commit, f"refs/heads/{branch}"):
        git(project, "worktree", "add", str(folder), branch)
    else:
        raise WorkspaceError(
            f"the branch {branch} is there already and does not come from {commit[:12]}",
            hint="rename it, then go on",
            code="workspace.branch",
        )
    _mark(project, folder, commit)
    return str(folder)


def remove_worktree(project: str, root: str) -> bool:
    """Remove a worktree and its branch; False when it holds work or is none of ours (then it stays).

    Work is a change that is not committed, or a commit that no other branch holds.
    """
    folder = Path(root).resolve()
    if not folder.is_relative_to(_base(project)) or folder == _base(project):
        return False
    home = _registered(project, folder)
    if home is None:
        return not folder.exists()
    branch = ""
    if folder.is_dir() and (home / OUR_MARK).is_file():
        if linked_git_dir(folder) != home or _holds_work(project, str(folder)):
            return False
        branch = git(folder, "symbolic-ref", "--quiet", "HEAD", accept=(0, 1))
        tip = git(folder, "rev-parse", "HEAD")
    (home / OUR_MARK).unlink(missing_ok=True)
    _clear(project, folder, home)
    if branch.startswith("refs/heads/air/"):
        git(project, "update-ref", "-d", branch, tip)
    return True


def _base(project: str) -> Path:
    return Path(project, WORKTREES).resolve()


def _folder(project: str, name: str) -> Path:
    parts = name.split("/")
    if any(part in {"", ".", "..", ".git"} or "\0" in part for part in parts):
        raise WorkspaceError(f"{name!r} is no name for a worktree")
    return _base(project).joinpath(*parts)


def _registered(project: str, folder: Path) -> Path | None:
    """Return git's own folder of the worktree at `folder`, from git's side: its `.git` may be lost."""
    common = git(project, "rev-parse", "--path-format=absolute", "--git-common-dir")
    for answer in sorted(Path(common, "worktrees").glob("*/gitdir")):
        try:
            target = answer.read_text(encoding="utf-8", errors="surrogateescape").strip()
        except OSError:
            continue
        if Path(target) == folder / ".git":
            return answer.parent
    return None


def _find_again(folder: Path, home: Path, branch: str) -> None:
    """Check that a worktree is as it was left; a lost link to git is put back, unfinished writes are removed."""
    if linked_git_dir(folder) != home:
        link = folder / ".git"
        if link.is_dir() and not link.is_symlink():
            raise WorkspaceError(f"{folder} was made a repository of its own", hint=f"move {link} away, then go on")
        link.unlink(missing_ok=True)
        link.write_text(f"gitdir: {home}\n", encoding="utf-8", errors="surrogateescape")
    at = git(folder, "symbolic-ref", "--quiet", "HEAD", accept=(0, 1))
    if at != f"refs/heads/{branch}":
        on = at.removeprefix("refs/heads/") or "no branch"
        raise WorkspaceError(
            f"{folder} is on {on}, not on {branch}", hint=f"git -C {folder} switch {branch}", code="workspace.branch"
        )
    for partial in names(os.fsencode(git(folder, "ls-files", "--others", "-z", "--", PARTIAL_FILES))):
        (folder / partial).unlink(missing_ok=True)


def _clear(project: str, folder: Path, home: Path | None) -> None:
    """Make the place free: what a half-made worktree left goes, what is unknown is moved aside."""
    if home is not None:
        if folder.exists():
            shutil.rmtree(folder, onerror=_force)
        (home / "locked").unlink(missing_ok=True)  # git locks a worktree until it is whole
        shutil.rmtree(home, ignore_errors=True)
    elif folder.is_dir() and any(folder.iterdir()):
        folder.rename(folder.with_name(f"{folder.name}.aside-{secrets.token_hex(4)}"))
    git(project, "worktree", "prune")


def _force(_function: Callable[..., object], path: str, _error: object) -> None:
    """Try a deletion again with rights on its folder: some tools leave folders that cannot be written."""
    os.chmod(os.path.dirname(path), stat.S_IRWXU)
    if os.path.isdir(path) and not os.path.islink(path):
        os.chmod(path, stat.S_IRWXU)
        shutil.rmtree(path)
    else:
        os.unlink(path)


def _mark(project: str, folder: Path, commit: str) -> None:
    home = _registered(project, folder)
    if home is None:
        raise WorkspaceError(f"git made no worktree at {folder}")
    with (home / OUR_MARK).open("w", encoding="ascii") as file:
        file.write(f"{commit}\n")
        file.flush()
        os.fsync(file.fileno())


def hide_local_state(project: str) -> None:
    """Keep the user's `git status` clean, also in a project that was never initialised.

    Raises:
        WorkspaceError: the folder cannot be written.
    """
    local = _base(project).parent
    try:
        local.mkdir(parents=True, exist_ok=True, mode=0o700)
        with local.joinpath(".gitignore").open("x", encoding="ascii") as file:
            file.write("*\n")
    except FileExistsError:
        return
    except OSError as error:
        raise WorkspaceError(
            f"{local} cannot be written: {error.strerror}", hint="the project's folder must be writable"
        ) from error


def _holds_work(project: str, root: str) -> bool:
    if status_paths(root):
        return True
    own = git(root, "symbolic-ref", "--quiet", "HEAD", accept=(0, 1))
    head = git(root, "rev-parse", "HEAD")
    holders = git(project, "for-each-ref", f"--contains={head}", "--format=%(refname)", "refs/heads", "refs/remotes")
    return not [ref for ref in holders.splitlines() if ref != own]
