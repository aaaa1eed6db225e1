"""Landlock with a system call filter: rules of the kernel that a program of ours (`confine`) takes on before a command.

Landlock only grants, by folder: a part of a granted folder cannot be taken out again. So a worktree is granted whole
when it may be written (`kept_parts` puts back what must not change), and entry by entry where it holds git's own folder
or our state.
"""

from __future__ import annotations

import ctypes
import json
import os
import platform
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from aircoding.errors import WorkspaceError
from aircoding.records.work import CommandRequest
from aircoding.workspace.backend import INPUT_FILE, Place, Prepared
from aircoding.workspace.git import git_bytes, linked_git_dir
from aircoding.workspace.git_view import SHOWN, alternates
from aircoding.workspace.listings import names
from aircoding.workspace.seccomp import ARCHITECTURES, Sockets, filter_program
from aircoding.workspace.toolchains import NETWORK_FILES, SYSTEM_PATHS, toolchain_paths

__all__ = ["LEAST_ABI", "SCOPE_ABI", "Landlock", "landlock_abi", "landlock_fault"]

LEAST_ABI = 3
"""Linux 6.2. Before it files outside could be emptied, and links and renames across folders could not be allowed."""

_CREATE_RULESET = 444
_ASK_VERSION = 1
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_MAKE_CHAR, _MAKE_BLOCK = 1 << 6, 1 << 11
_TRUNCATE, _IOCTL_DEVICE = 1 << 14, 1 << 15
_NETWORK_ABI, _IOCTL_ABI = 4, 5
SCOPE_ABI = 6
"""Linux 6.12: signals stay inside, and so do abstract Unix sockets."""
_ALL_NETWORK, _ALL_SCOPES = 0b11, 0b11
_LOOK = _EXECUTE | _READ_FILE | _READ_DIR
_CONFINE = str(Path(__file__).with_name("confine.py"))
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
_HARMLESS = re.compile(
    r"(branch|color|core|diff|extensions|filter|gc|index|init|lfs|merge|pull|push|remote|rerere|status|submodule|user)\."
)
_USER_IN_ADDRESS = re.compile(r"https?://[^/\s]*@")
_GAPS = (
    "modes and times of this user's own files outside can be changed (chmod, touch), not what is in them",
    "that a file outside exists, and its size, can be seen by who knows its path (stat)",
    "names and command lines of this machine's processes can be seen, not their memory or environment",
    "in a worktree `.git` and `.air` can be written while a command runs; they are put back when it ends",
    "no Unix socket is connected and no memory shared by name, also not between the command's own processes",
)
_OLD_GAPS = (
    (SCOPE_ABI, "other processes of this user can be signalled (Landlock before version 6, Linux 6.12)"),
    (_IOCTL_ABI, "calls on devices are refused by number only (Landlock before version 5, Linux 6.10)"),
)


def landlock_abi() -> int:
    """Return the version of Landlock that this kernel speaks; 0 where there is none."""
    if not sys.platform.startswith("linux"):
        return 0
    found = ctypes.CDLL(None).syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_ASK_VERSION))
    return max(0, int(found))


def landlock_fault() -> str:
    """Return why Landlock cannot be used here, before it is tried; or nothing."""
    machine, abi = platform.machine(), landlock_abi()
    if machine not in ARCHITECTURES:
        return f"Landlock is used on {' and '.join(ARCHITECTURES)} only, and this is {machine}"
    if abi == 0:
        return "the kernel has no Landlock, or a container forbids it"
    if abi < LEAST_ABI:
        return f"the kernel's Landlock is version {abi}, and {LEAST_ABI} is needed (Linux 6.2)"
    return ""


@dataclass(frozen=True, slots=True)
class Landlock:
    """Landlock of version `abi`, at least `LEAST_ABI`."""

    abi: int

    name = "landlock"
    holds_parts = False

    def gaps(self) -> tuple[str, ...]:
        """Return what Landlock with the filter does not hold."""
        return _GAPS + tuple(gap for least, gap in _OLD_GAPS if self.abi < least)

    def prepare(self, request: CommandRequest, program: list[str], place: Place) -> Prepared:
        """Write the order for `confine`, and return its command line; home and temporary files lie in the scratch."""
        home, temporary = place.scratch / "home", place.scratch / "tmp"
        home.mkdir()
        temporary.mkdir()
        order = place.scratch / "order.json"
        order.write_text(self._order(request, place, (str(home), str(temporary))), "utf-8", "surrogateescape")
        confined = [sys.executable, "-I", "-S", _CONFINE, str(order), *program]
        env = (("TMPDIR", str(temporary)), ("GIT_CONFIG_NOSYSTEM", "1"))  # git ends at a file that it may not read
        return Prepared(confined, home=str(home), env=env)

    def _order(self, request: CommandRequest, place: Place, own: tuple[str, ...]) -> str:
        everything = (1 << (16 if self.abi >= _IOCTL_ABI else 15)) - 1
        changing = everything & ~(_MAKE_CHAR | _MAKE_BLOCK)
        on_files = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | (_IOCTL_DEVICE & everything)
        granted = [
            *((path, changing if write else _LOOK) for path, write in _places(request, place, own)),
            *((device, _WRITE_FILE | _READ_FILE) for device in _DEVICES),
            *((folder, _READ_DIR) for folder in [place.root] if _by_entry(Path(place.root), request)),
        ]
        order = {
            "files": everything,
            "network": _ALL_NETWORK if self.abi >= _NETWORK_ABI and not request.network else 0,
            "scoped": _ALL_SCOPES if self.abi >= SCOPE_ABI else 0,
            "size": 8 if self.abi < _NETWORK_ABI else 16 if self.abi < SCOPE_ABI else 24,
            "paths": [(path, rights, rights & on_files) for path, rights in granted],
            "filter": filter_program(platform.machine(), Sockets.NETWORK if request.network else Sockets.PAIRS).hex(),
        }
        return json.dumps(order)


def _places(request: CommandRequest, place: Place, own: tuple[str, ...]) -> Iterator[tuple[str, bool]]:
    """Yield each path that is granted, and whether it may be written."""
    shown = (*SYSTEM_PATHS, *toolchain_paths(place.path), "/proc", *(NETWORK_FILES if request.network else ()))
    yield from ((path, False) for path in (*shown, str(place.scratch / INPUT_FILE)))
    yield from ((folder, True) for folder in own)
    yield from ((os.path.expanduser(cache), True) for cache in request.writable_paths)
    root = Path(place.root)
    if _by_entry(root, request):
        yield from _entries(root, writable=request.writable)
    else:
        yield place.root, request.writable
    yield from ((str(path), False) for path in _git_places(root))


def _by_entry(root: Path, request: CommandRequest) -> bool:
    """Whether a root is granted entry by entry: it may only be read, or it holds what must be hidden."""
    return not request.writable or (root / ".git").is_dir() or (root / ".air" / "local").is_dir()


def _entries(root: Path, *, writable: bool) -> Iterator[tuple[str, bool]]:
    # A rule for a link would be for the place that it leads to.
    for entry in (entry for entry in os.scandir(root) if not entry.is_symlink()):
        if entry.name == ".air":
            parts = os.scandir(entry)
            yield from ((part.path, False) for part in parts if part.name != "local" and not part.is_symlink())
        elif entry.name != ".git":
            yield entry.path, writable
        elif entry.is_file():
            yield entry.path, False


def _git_places(root: Path) -> Iterator[Path]:
    """Yield what of the repository may be read: as much as in bubblewrap; its configuration where it has no secret.

    A file cannot be shown in place of another here, so where the configuration may hold one git does not work.
    """
    link = root / ".git"
    if link.is_dir() and not link.is_symlink():
        common = link
        yield common / "index"
    else:
        own = linked_git_dir(root)
        if own is None:
            return
        common = own.parent.parent
        yield own
    yield from (common / name for name in SHOWN)
    yield from alternates(common / "objects")
    if _holds_no_secret(common / "config"):
        yield common / "config"


def _holds_no_secret(config: Path) -> bool:
    try:
        listed = names(git_bytes(config.parent, "config", "--file", str(config), "--no-includes", "--list", "-z"))
    except WorkspaceError:
        return False
    return all(_HARMLESS.match(entry) and not _USER_IN_ADDRESS.search(entry) for entry in listed)
