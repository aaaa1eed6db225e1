"""The argument list of bubblewrap: what a command sees, and its limits (flags measured 2026-11, bubblewrap 0.8)."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from aircoding.records.work import CommandRequest

__all__ = ["bubblewrap_arguments"]

_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt")
_ETC = (
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/alternatives",
    "/etc/localtime",
    "/etc/passwd",
    "/etc/group",
    "/etc/ssl/certs",
    "/etc/ca-certificates.conf",
    "/etc/nsswitch.conf",
)
_NETWORK_ETC = ("/etc/resolv.conf", "/etc/hosts")
_MEMORY_BYTES = 8 * 1024**3
_FILE_BYTES = 4 * 1024**3


def bubblewrap_arguments(program: str, request: CommandRequest, *, root: str, path: str) -> list[str]:
    """Return the whole command: limits, bubblewrap with its mounts, then the shell command."""
    arguments = [
        *_limits(),
        program,
        "--unshare-user",
        "--unshare-ipc",
        "--unshare-pid",
        "--unshare-uts",
        "--unshare-cgroup-try",
        *([] if request.network else ["--unshare-net"]),
        "--disable-userns",
        "--die-with-parent",
        "--new-session",
        "--cap-drop",
        "ALL",
        "--hostname",
        "worktree",
        "--proc",
        "/proc",
        "--dev",
        "/dev",
        "--tmpfs",
        "/tmp",  # noqa: S108 - a file system of its own
        "--dir",
        "/tmp/air-home",  # noqa: S108
    ]
    for folder in (*_SYSTEM, *_ETC, *(_NETWORK_ETC if request.network else ())):
        arguments += ["--ro-bind-try", folder, folder]
    for folder in _toolchain(path):
        arguments += ["--ro-bind-try", folder, folder]
    arguments += ["--bind" if request.writable else "--ro-bind", root, root, *_git_binds(root)]
    for cache in request.writable_paths:
        arguments += ["--bind-try", os.path.expanduser(cache), os.path.expanduser(cache)]
    folder = os.path.normpath(os.path.join(root, request.cwd))
    return [*arguments, "--chdir", folder, "--", "/bin/sh", "-c", request.command]


def _limits() -> list[str]:
    if not os.path.exists("/usr/bin/prlimit"):
        return []
    return ["/usr/bin/prlimit", f"--as={_MEMORY_BYTES}", f"--fsize={_FILE_BYTES}", "--core=0", "--"]


def _toolchain(path: str) -> list[str]:
    """Return folders outside the system's own that commands need: where programs on PATH and this Python live."""
    homes = {Path(sys.prefix), Path(sys.base_prefix)}
    for part in path.split(os.pathsep):
        folder = Path(part)
        if folder.name in {"bin", "shims"} and not str(folder).startswith(_SYSTEM):
            homes.add(folder.parent)
    found = sorted({str(home) for home in homes if home.is_dir() and not str(home).startswith(_SYSTEM)})
    return [home for home in found if home not in {"/", str(Path.home())}]


def _git_binds(root: str) -> list[str]:
    """Show git's own folder read-only, so that status and diff work and no branch can be moved."""
    link = Path(root) / ".git"
    if link.is_dir():
        return ["--ro-bind", str(link), str(link)]
    if not link.is_file():
        return []
    folder = link.read_text(encoding="utf-8", errors="replace").removeprefix("gitdir:").strip()
    own = Path(folder)
    common_file = own / "commondir"
    common = own
    if common_file.is_file():
        common = Path(os.path.normpath(own / common_file.read_text(encoding="utf-8").strip()))
    return ["--ro-bind", str(link), str(link), "--ro-bind-try", str(common), str(common)]
