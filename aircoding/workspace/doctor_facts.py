"""Facts of this machine for `doctor`: found out by trying, not by asking for version numbers alone."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from aircoding.errors import WorkspaceError
from aircoding.records.work import SandboxReport
from aircoding.workspace.git import git, git_succeeds
from aircoding.workspace.sandbox import choose_sandbox

__all__ = ["LEAST_GIT", "MachineFacts", "machine_facts", "unwritable", "worktree_fault"]

LEAST_GIT = (2, 31)
"""`rev-parse --path-format` came with it; the worktree commands that we use are older."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineFacts:
    """What does not depend on a project. `git` is None when it is not installed."""

    git: str | None
    git_suffices: bool
    sandbox: SandboxReport
    free_bytes: int


def machine_facts(place: Path, *, backend: str = "auto") -> MachineFacts:
    """Look at git, the sandbox, and the free space of the disk that `place` is on.

    Raises:
        ConfigError: the sandbox was named and does not hold here.
    """
    version = _git_version(place)
    numbers = tuple(int(part) for part in re.findall(r"\d+", version or "")[:2])
    return MachineFacts(
        git=version,
        git_suffices=numbers >= LEAST_GIT,
        sandbox=choose_sandbox(backend).report,
        free_bytes=shutil.disk_usage(_nearest(place)).free,
    )


def worktree_fault(project: str | Path) -> str:
    """Make a worktree of the project and remove it; return what git says against it, or nothing.

    No branch is made, and nothing is checked out.
    """
    with tempfile.TemporaryDirectory(prefix="air-doctor-") as scratch:
        folder = os.path.join(scratch, "worktree")
        try:
            git(project, "worktree", "add", "--detach", "--no-checkout", folder, "HEAD")
        except WorkspaceError as error:
            return error.message
        finally:
            git_succeeds(project, "worktree", "remove", "--force", folder)
    return ""


def unwritable(folder: Path) -> str:
    """Return why no file can be made in `folder` (or, while it is missing, where it would be made), or nothing."""
    try:
        with tempfile.NamedTemporaryFile(dir=_nearest(folder), prefix=".air-doctor-"):
            return ""
    except OSError as error:
        return error.strerror or str(error)


def _git_version(place: Path) -> str | None:
    try:
        return git(_nearest(place), "version").removeprefix("git version ")
    except WorkspaceError:
        return None


def _nearest(folder: Path) -> Path:
    absolute = folder.absolute()
    return next(one for one in (absolute, *absolute.parents) if one.is_dir())
