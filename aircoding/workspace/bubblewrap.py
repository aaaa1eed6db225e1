"""The argument list of bubblewrap: what a command sees, what it cannot reach (flags measured 2026-11)."""

from __future__ import annotations

import os
from pathlib import Path

from aircoding.records.work import CommandRequest
from aircoding.workspace.git_view import git_binds
from aircoding.workspace.toolchains import NETWORK_FILES, SYSTEM_PATHS, toolchain_paths

__all__ = ["INNER_HOME", "bubblewrap_arguments"]

INNER_HOME = "/tmp/air-home"  # noqa: S108 - inside the sandbox's own file system
"""The home of a confined command."""

_SETUP = (
    *("--unshare-user", "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"),
    *("--hostname", "worktree", "--proc", "/proc", "--dev", "/dev"),
    *("--tmpfs", "/tmp", "--dir", INNER_HOME),  # noqa: S108 - a file system of its own
)


def bubblewrap_arguments(
    program: str,
    request: CommandRequest,
    *,
    root: str,
    workdir: str,
    path: str,
    scratch: Path,
    no_nested_users: bool = True,
) -> list[str]:
    """Return the whole command line.

    Args:
        program: bubblewrap.
        request: the command; it is given to `/bin/sh`.
        root: the worktree, a real path; the only place that can be written, when the request says so.
        workdir: where the command starts, a real path.
        path: PATH inside: what its programs need is shown read-only.
        scratch: a folder for files that are shown in place of the real ones, until the command has ended.
        no_nested_users: forbid user namespaces inside (bubblewrap 0.8).
    """
    arguments = [program, *_SETUP, *(["--disable-userns"] if no_nested_users else [])]
    if request.network:
        arguments.append("--share-net")
    shown = (*SYSTEM_PATHS, *toolchain_paths(path), *(NETWORK_FILES if request.network else ()))
    for place in shown:
        arguments += ["--ro-bind-try", place, place]
    arguments += ["--bind" if request.writable else "--ro-bind", root, root]
    for cache in map(os.path.expanduser, request.writable_paths):
        arguments += ["--bind-try", cache, cache]
    # The policy's floor denies writing `.air`; a command that got past the parser cannot either.
    own = os.path.join(root, ".air")
    if os.path.isdir(own):
        arguments += ["--ro-bind", own, own]
    state = os.path.join(own, "local")
    if os.path.isdir(state):
        arguments += ["--tmpfs", state]
    arguments += [*git_binds(root, scratch), "--remount-ro", "/"]
    return [*arguments, "--chdir", workdir, "--", "/bin/sh", "-c", request.command]
