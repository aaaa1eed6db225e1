"""Seatbelt of macOS: the profile in the words of `sandbox-exec`. It was not tried on macOS yet."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass

from aircoding.records.work import CommandRequest
from aircoding.workspace.backend import INPUT_FILE, Place, Prepared
from aircoding.workspace.toolchains import toolchain_paths

__all__ = ["UNTRIED", "Seatbelt", "seatbelt_profile"]

UNTRIED = 'Seatbelt is written and was not tried on macOS yet; backend = "seatbelt" in ~/.air/config.toml uses it'

_SYSTEM = (
    *(
        "/Applications/Xcode.app",
        "/Library/Developer",
        "/Library/Frameworks",
        "/System",
        "/bin",
        "/opt",
        "/private/etc",
    ),
    *("/private/var/db/timezone", "/private/var/select", "/sbin", "/usr"),
)
_DEVICES = ("/dev/null", "/dev/random", "/dev/urandom", "/dev/zero")
_GAPS = (
    UNTRIED,
    "names and command lines of this machine's processes can be seen",
    "what a command leaves running is ended by its process group only: macOS has no keeper of orphans",
)


@dataclass(frozen=True, slots=True)
class Seatbelt:
    """`sandbox-exec` at `program`."""

    program: str

    name = "seatbelt"
    holds_parts = True

    def gaps(self) -> tuple[str, ...]:
        """Return what it does not hold."""
        return _GAPS

    def prepare(self, request: CommandRequest, program: list[str], place: Place) -> Prepared:
        """Return the command line with its profile; home and temporary files lie in the scratch folder."""
        home, temporary = (os.path.realpath(place.scratch / name) for name in ("home", "tmp"))
        for folder in (home, temporary):
            os.mkdir(folder)
        profile = seatbelt_profile(
            root=place.root,
            writable=request.writable,
            network=request.network,
            own=(home, temporary),
            shown=(*toolchain_paths(place.path), os.path.realpath(place.scratch / INPUT_FILE)),
            caches=[os.path.realpath(os.path.expanduser(path)) for path in request.writable_paths],
        )
        return Prepared([self.program, "-p", profile, *program], home=home, env=(("TMPDIR", temporary),))


def seatbelt_profile(
    *, root: str, writable: bool, network: bool, own: Sequence[str], shown: Sequence[str], caches: Sequence[str]
) -> str:
    """Return the profile: nothing is allowed but what it names, and what comes later beats what came before.

    Args:
        root: the worktree, a real path.
        writable: whether it may be written; `.git` and `.air` never.
        network: whether internet addresses may be reached; no Unix socket outside of `own` ever.
        own: folders of the command's own.
        shown: more places that may be read.
        caches: places outside that may be written.
    """
    changed = [*own, *caches, *([root] if writable else [])]
    lines = [
        "(version 1)",
        "(deny default)",
        "(allow process-exec process-fork)",
        "(allow signal process-info* (target same-sandbox))",
        "(allow sysctl-read)",
        "(allow file-read-metadata)",
        f"(allow file-read* {_subpaths([*_SYSTEM, *shown, root, *own, *caches])} {_literals(_DEVICES)})",
        f"(allow file-write* {_subpaths(changed)})",
        f"(allow file-write-data {_literals(_DEVICES)})",
        f"(deny file-write* {_subpaths([f'{root}/.git', f'{root}/.air'])})",
        f"(deny file-read* file-write* {_subpaths([f'{root}/.air/local'])})",
        f"(allow network* (local unix-socket) (remote unix-socket {_subpaths(own)}))",
    ]
    if network:
        lines += [
            "(allow network* (local ip) (remote ip))",
            '(allow mach-lookup (global-name "com.apple.dnssd.service"))',
        ]
    return "\n".join([*lines, ""])


def _subpaths(paths: Sequence[str]) -> str:
    return " ".join(f"(subpath {json.dumps(path, ensure_ascii=False)})" for path in paths)


def _literals(paths: Sequence[str]) -> str:
    return " ".join(f"(literal {json.dumps(path)})" for path in paths)
