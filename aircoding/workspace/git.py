"""Run git for the orchestrator: an argument list, a scrubbed environment, and nothing of the repository's own programs.

A repository can name programs that git runs (hooks, fsmonitor, pager, external diff, textconv, ext transport, and the
same in a nested repository that a worker made), so every call switches them off; filters, merge drivers and helpers
that its own configuration names are replaced (`git_programs`). What stays are content filters and merge drivers of the
user's own git configuration: a clone does not bring them, and large file storage needs them.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from aircoding.errors import WorkspaceError
from aircoding.workspace.git_programs import replaced_programs

__all__ = ["NO_PROGRAMS", "OUR_MARK", "WORKTREES", "git", "git_bytes", "git_succeeds", "linked_git_dir"]

WORKTREES = ".air/local/worktrees"
"""Where the worktrees of attempts lie, below the project's root."""

OUR_MARK = "aircoding"
"""A file in git's own folder of a worktree: the worktree is ours, and whole (`placement`)."""

NO_PROGRAMS = ("--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty")
"""Options of every diff: no program of the repository, and no look into a nested one."""

_SETTINGS = (
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.pager=cat",
    "protocol.ext.allow=never",
    "diff.ignoreSubmodules=dirty",
    "submodule.recurse=false",
    "log.showSignature=false",
    "commit.gpgSign=false",
    "tag.gpgSign=false",
    "merge.verifySignatures=false",
    "merge.autoStash=false",
    "rerere.enabled=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "core.quotePath=false",
    "core.safecrlf=false",
    "trailer.separators=:",
    "i18n.commitEncoding=UTF-8",
    "i18n.logOutputEncoding=UTF-8",
    "advice.detachedHead=false",
)
_HARDENED = tuple(part for setting in _SETTINGS for part in ("-c", setting))
_KEPT_VARIABLES = ("HOME", "TMPDIR", "XDG_CONFIG_HOME")
_LOCK_WAIT_SECONDS = 3.0
_LOADED_AT = time.time()
"""When this process came up: an older lock file was made by a git that an earlier process started."""
_MESSAGE_CHARACTERS = 2_000
_LOCK = re.compile(r"Unable to create '(.+\.lock)': File exists")
_HINTS = (
    ("dubious ownership", "tell git that you trust the folder: git config --global --add safe.directory FOLDER"),
    ("'refs/heads/air' exists", "branches are named air/RUN/...: rename the branch `air`"),
    ("No space left on device", "free some space, then go on with `aircoding resume`"),
    ("Read-only file system", "the repository must be writable"),
    ("Permission denied", "check who owns the files of the repository"),
    ("is already checked out at", "leave that branch there, then go on"),
)


def git_bytes(
    root: str | Path,
    *arguments: str,
    env: Mapping[str, str] | None = None,
    stdin: bytes | None = None,
    accept: Sequence[int] = (0,),
    discover: bool = False,
) -> bytes:
    """Run `git ARGUMENTS` in `root` and return its output.

    A lock that another git holds is waited for; one that a killed git left behind in a worktree of
    ours is removed after that. The repository must begin at `root` itself: a worktree that lost its
    `.git` must never make git work on the project around it. `discover` lifts that.

    Raises:
        WorkspaceError: git is missing, or ended with a code that is not in `accept`.
    """
    deadline = time.monotonic() + _LOCK_WAIT_SECONDS
    while True:
        done = _run(root, arguments, env=env, stdin=stdin, discover=discover)
        if done.returncode in accept:
            return done.stdout
        message = done.stderr.decode("utf-8", "replace").strip()
        lock = _LOCK.search(message)
        if lock is None:
            raise WorkspaceError(_failure(root, arguments, message, done.returncode), hint=_hint(message))
        if time.monotonic() < deadline:
            time.sleep(0.05)
        elif not _remove_stale_lock(Path(lock[1])):
            raise WorkspaceError(
                _failure(root, arguments, message, done.returncode),
                hint=f"another git program works here; if none does, remove {lock[1]}",
                code="workspace.git_lock",
            )


def git(
    root: str | Path,
    *arguments: str,
    env: Mapping[str, str] | None = None,
    accept: Sequence[int] = (0,),
    discover: bool = False,
) -> str:
    """Run git and return its output as text without the last line end; bytes that are no UTF-8 stay as surrogates."""
    return os.fsdecode(git_bytes(root, *arguments, env=env, accept=accept, discover=discover)).rstrip("\n")


def git_succeeds(root: str | Path, *arguments: str) -> bool:
    """Whether a git command that only asks ends with 0.

    Raises:
        WorkspaceError: git could not be started.
    """
    return _run(root, arguments).returncode == 0


def linked_git_dir(root: str | Path) -> Path | None:
    """Return git's own folder of the linked worktree at `root`; None when it is none, or when its link was forged.

    The link must be answered: the folder that `.git` names must lie in `worktrees/` of a repository and name
    `root` in turn. A worker could else point git, or a sandbox's mounts, at any folder.
    """
    link = Path(root, ".git")
    with contextlib.suppress(OSError, UnicodeDecodeError):
        kind, _, target = link.read_text(encoding="utf-8", errors="surrogateescape").partition(":")
        folder = Path(root, target.strip())
        answer = (folder / "gitdir").read_text(encoding="utf-8", errors="surrogateescape").strip()
        if (
            kind == "gitdir"
            and folder.parent.name == "worktrees"
            and Path(answer) == Path(os.path.realpath(root), ".git")
        ):
            return folder
    return None


def _run(
    root: str | Path,
    arguments: Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    stdin: bytes | None = None,
    discover: bool = False,
) -> subprocess.CompletedProcess[bytes]:
    """Start git and wait. It inherits a shared lock on `root`, which tells a later process whether it still runs."""
    try:
        folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise WorkspaceError(f"{root} cannot be opened: {error.strerror}", code="workspace.missing") from error
    environment = _environment(root, env, discover=discover)
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(folder, fcntl.LOCK_SH | fcntl.LOCK_NB)
        environment |= replaced_programs(root, environment)
        return subprocess.run(
            ["git", *_HARDENED, *arguments],
            cwd=root,
            env=environment,
            input=stdin,
            stdin=None if stdin is not None else subprocess.DEVNULL,
            capture_output=True,
            check=False,
            pass_fds=(folder,),
            process_group=0,  # a Ctrl-C on the terminal is for us, not for a git in the middle of its work
        )
    except FileNotFoundError as error:
        raise WorkspaceError(
            "git is not installed", hint="install git 2.31 or newer", code="workspace.no_git"
        ) from error
    except OSError as error:
        raise WorkspaceError(f"git cannot be started in {root}: {error.strerror}") from error
    finally:
        os.close(folder)


def _environment(root: str | Path, extra: Mapping[str, str] | None, *, discover: bool) -> dict[str, str]:
    kept = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
    # A relative entry of PATH would be looked up in a folder that a worker writes.
    path = [entry for entry in os.environ.get("PATH", os.defpath).split(os.pathsep) if os.path.isabs(entry)]
    fixed = {
        "PATH": os.pathsep.join(path),
        "LC_ALL": "C",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_EDITOR": "true",
    }
    bounds = {} if discover else {"GIT_CEILING_DIRECTORIES": os.path.dirname(os.path.realpath(root))}
    return {**kept, **fixed, **bounds, **(extra or {})}


def _remove_stale_lock(lock: Path) -> bool:
    """Remove a lock file of ours that no living git holds; False when it is not ours, not old, or in use."""
    worktree: Path | None = None
    with contextlib.suppress(OSError):
        worktree = Path((lock.parent / "gitdir").read_text(encoding="utf-8", errors="surrogateescape").strip()).parent
    ours = (lock.parent / OUR_MARK).exists() or "/refs/heads/air/" in f"{lock}"
    try:
        if not ours or lock.stat().st_mtime >= _LOADED_AT or (worktree is not None and _in_use(worktree)):
            return False
        lock.unlink()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def _in_use(worktree: Path) -> bool:
    """Whether a git that some process of ours started still runs in a worktree."""
    try:
        folder = os.open(worktree, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(folder)
    return False


def _failure(root: str | Path, arguments: Sequence[str], message: str, code: int) -> str:
    said = message.partition("\nusage:")[0][:_MESSAGE_CHARACTERS] or (
        f"killed by signal {-code}" if code < 0 else f"exit code {code}"
    )
    return f"git {arguments[0]} failed in {root}: {said}"


def _hint(message: str) -> str:
    return next((hint for sign, hint in _HINTS if sign in message), "")
