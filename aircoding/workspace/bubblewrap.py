"""Bubblewrap: a command sees its own file system, processes and network (flags measured 2026-11).

The system call filter stands behind it for what namespaces do not part: keyrings, and much of the kernel's surface.
With a network, which is then the machine's, it also keeps the machine's abstract Unix sockets out of reach.
"""

from __future__ import annotations

import os
import platform
import subprocess
from dataclasses import dataclass

from aircoding.records.work import CommandRequest
from aircoding.workspace.backend import Place, Prepared
from aircoding.workspace.git_view import git_binds
from aircoding.workspace.seccomp import ARCHITECTURES, Sockets, filter_program
from aircoding.workspace.toolchains import NETWORK_FILES, SYSTEM_PATHS, toolchain_paths

__all__ = ["INNER_HOME", "Bubblewrap"]

INNER_HOME = "/tmp/air-home"  # noqa: S108 - inside the sandbox's own file system
"""The home of a confined command."""

_SETUP = (
    *("--unshare-user", "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"),
    *("--hostname", "worktree", "--proc", "/proc", "--dev", "/dev"),
    *("--tmpfs", "/tmp", "--dir", INNER_HOME),  # noqa: S108 - a file system of its own
)


_WITH_FILTER = ("/bin/sh", "-c", 'exec "$@" 9<"$0"')
"""Opens a file for the program that it becomes."""


@dataclass(frozen=True, slots=True)
class Bubblewrap:
    """Bubblewrap at `program`; `no_nested_users`: it can forbid user namespaces inside (0.8)."""

    program: str
    no_nested_users: bool

    name = "bubblewrap"
    holds_parts = True
    """`.git` and `.air` cannot be changed."""

    @classmethod
    def at(cls, program: str) -> Bubblewrap:
        """Ask a bubblewrap what it can."""
        done = subprocess.run([program, "--help"], capture_output=True, text=True, errors="replace", check=False)
        return cls(program, "--disable-userns" in done.stdout + done.stderr)

    def gaps(self) -> tuple[str, ...]:
        """Return what it does not hold."""
        gaps = [] if self.no_nested_users else ["bubblewrap before 0.8: user namespaces can be made inside"]
        if platform.machine() not in ARCHITECTURES:
            gaps.append(
                f"no system call filter on {platform.machine()}: keyrings and rare calls of the kernel are open"
            )
        return tuple(gaps)

    def prepare(self, request: CommandRequest, program: list[str], place: Place) -> Prepared:
        """Return the whole command line; what is not shown read-only, or is the worktree, is not there at all."""
        arguments = [self.program, *_SETUP, *(["--disable-userns"] if self.no_nested_users else [])]
        if request.network:
            arguments.append("--share-net")
        before: list[str] = []
        if platform.machine() in ARCHITECTURES:
            rules = place.scratch / "calls.bpf"
            sockets = Sockets.NETWORK if request.network else Sockets.OWN
            rules.write_bytes(filter_program(platform.machine(), sockets))
            before = [*_WITH_FILTER, str(rules)]
            arguments += ["--seccomp", "9"]
        shown = (*SYSTEM_PATHS, *toolchain_paths(place.path), *(NETWORK_FILES if request.network else ()))
        for path in shown:
            arguments += ["--ro-bind-try", path, path]
        arguments += ["--bind" if request.writable else "--ro-bind", place.root, place.root]
        for cache in map(os.path.expanduser, request.writable_paths):
            arguments += ["--bind-try", cache, cache]
        arguments += [*_own_state(place.root), *git_binds(place.root, place.scratch), "--remount-ro", "/"]
        return Prepared([*before, *arguments, "--chdir", place.workdir, "--", *program], home=INNER_HOME)


def _own_state(root: str) -> list[str]:
    """The policy's floor denies writing `.air`; a command that got past the parser cannot either."""
    own = os.path.join(root, ".air")
    state = os.path.join(own, "local")
    hidden = ["--tmpfs", state] if os.path.isdir(state) else []
    return ["--ro-bind", own, own, *hidden] if os.path.isdir(own) else []
