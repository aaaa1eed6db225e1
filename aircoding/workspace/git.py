"""Run git for the orchestrator: an argument list, a scrubbed environment, and nothing of the repository's own programs.

A repository can name programs that git runs (hooks, fsmonitor, pager, external diff, textconv, ext transport). A worker
may have written them, so every call switches them off (security facts read 2026-11).
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from aircoding.errors import WorkspaceError

__all__ = ["git", "git_bytes", "git_succeeds"]

_HARDENED = (
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.pager=cat",
    "-c",
    "core.untrackedCache=false",
    "-c",
    "protocol.ext.allow=never",
    "-c",
    "diff.external=",
    "-c",
    "commit.gpgsign=false",
    "-c",
    "tag.gpgsign=false",
    "-c",
    "gc.auto=0",
    "-c",
    "advice.detachedHead=false",
    "-c",
    "core.quotePath=false",
)
_LOCK_WAIT_SECONDS = 3.0


def _environment(extra: Mapping[str, str] | None) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
    fixed = {
        "LC_ALL": "C",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_EDITOR": "true",
        "GIT_ATTR_NOSYSTEM": "1",
    }
    return {**kept, **fixed, **(extra or {})}


def git_bytes(
    root: str | Path,
    *arguments: str,
    env: Mapping[str, str] | None = None,
    stdin: bytes | None = None,
    accept: Sequence[int] = (0,),
) -> bytes:
    """Run `git ARGUMENTS` in `root` and return its output.

    A lock that another git holds is waited for; one that a killed git left behind in a worktree's
    own folder is removed after that.

    Raises:
        WorkspaceError: git is missing, or ended with a code that is not in `accept`.
    """
    deadline = time.monotonic() + _LOCK_WAIT_SECONDS
    while True:
        try:
            done = subprocess.run(
                ["git", *_HARDENED, *arguments],
                cwd=root,
                env=_environment(env),
                input=stdin,
                stdin=None if stdin is not None else subprocess.DEVNULL,
                capture_output=True,
                check=False,
            )
        except FileNotFoundError as error:
            missing = "git" if Path(root).is_dir() else str(root)
            raise WorkspaceError(f"{missing} is not there", hint="install git 2.31 or newer") from error
        if done.returncode in accept:
            return done.stdout
        message = done.stderr.decode("utf-8", "replace").strip()
        if "index.lock" in message and time.monotonic() < deadline:
            time.sleep(0.1)
            continue
        if "index.lock" in message and _remove_stale_lock(message):
            continue
        raise WorkspaceError(f"git {arguments[0]} failed in {root}: {message or done.returncode}")


def _remove_stale_lock(message: str) -> bool:
    """Remove the lock that git names, when it lies in a linked worktree's folder: only our dead git made it."""
    path = next((Path(part) for part in message.split("'") if part.endswith("index.lock")), None)
    if path is None or "worktrees" not in path.parts:
        return False
    path.unlink(missing_ok=True)
    return True


def git(root: str | Path, *arguments: str, env: Mapping[str, str] | None = None, accept: Sequence[int] = (0,)) -> str:
    """Run git and return its output as text, without the last line end."""
    return git_bytes(root, *arguments, env=env, accept=accept).decode("utf-8", "replace").rstrip("\n")


def git_succeeds(root: str | Path, *arguments: str) -> bool:
    """Whether a git command ends with 0."""
    try:
        git_bytes(root, *arguments)
    except WorkspaceError:
        return False
    return True
