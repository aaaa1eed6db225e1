"""Open files beneath a folder, so that the path that was checked is the path that is used.

Linux resolves with openat2 (RESOLVE_BENEATH, no magic links); elsewhere each component is opened without following
links, which refuses links that openat2 would allow.
"""

from __future__ import annotations

import ctypes
import errno
import os
import stat
import struct
from functools import cache

from aircoding.errors import PathRefusedError, WorkspaceError

__all__ = ["open_beneath", "open_folder", "regular_size"]

_OPENAT2 = 437
_RESOLVE_NO_MAGICLINKS = 0x02
_RESOLVE_BENEATH = 0x08
_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


@cache
def _has_openat2() -> bool:
    descriptor = _openat2(os.open("/", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC), ".", _READ, close_folder=True)
    if descriptor >= 0:
        os.close(descriptor)
    return descriptor >= 0


def _openat2(folder: int, path: str, flags: int, *, close_folder: bool = False) -> int:
    """Return a descriptor, or minus the error number."""
    how = struct.pack("QQQ", flags, 0, _RESOLVE_BENEATH | _RESOLVE_NO_MAGICLINKS)
    try:
        found = _libc().syscall(_OPENAT2, folder, os.fsencode(path), how, len(how))
        return int(found) if found >= 0 else -ctypes.get_errno()
    finally:
        if close_folder:
            os.close(folder)


def open_beneath(root: str, path: str, flags: int = _READ) -> int:
    """Open `path` beneath `root` and return its descriptor.

    Raises:
        PathRefusedError: it leaves the folder, or goes through a link that does.
        WorkspaceError: it is missing or cannot be opened.
    """
    _check(path)
    base = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        if _has_openat2():
            found = _openat2(base, path, flags)
            if found >= 0:
                return found
            raise _refused(path, -found)
        return _walk(base, path, flags)
    finally:
        os.close(base)


def _check(path: str) -> None:
    if not path or path.startswith("/") or "\0" in path or ".." in path.split("/"):
        raise PathRefusedError(f"{path!r} is no path inside the worktree", hint="use a path relative to its root")
    if any(part.lower() == ".git" for part in path.split("/")):
        raise PathRefusedError(f"{path} belongs to git", hint="use git commands that the policy allows")


def _walk(base: int, path: str, flags: int) -> int:
    current = os.dup(base)
    *folders, name = path.split("/")
    try:
        for part in folders:
            step = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=current)
            os.close(current)
            current = step
        return os.open(name, flags | os.O_NOFOLLOW, dir_fd=current)
    except OSError as error:
        raise _refused(path, error.errno or 0) from error
    finally:
        os.close(current)


def _refused(path: str, number: int) -> WorkspaceError:
    if number in {errno.EXDEV, errno.ELOOP}:
        return PathRefusedError(f"{path} leads out of the worktree through a link")
    if number in {errno.ENOENT, errno.ENOTDIR}:
        return WorkspaceError(f"there is no {path}", code="workspace.missing")
    return WorkspaceError(f"{path} cannot be opened: {os.strerror(number)}")


def open_folder(root: str, path: str, *, create: bool) -> int:
    """Open the folder `path` beneath `root`, making it (and its parents) if asked; `` is the root itself.

    Raises:
        PathRefusedError: a part of it is a link that leaves, or no folder.
    """
    if path in {"", "."}:
        return os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
    if not create:
        return open_beneath(root, path, flags)
    parts = path.split("/")
    for depth in range(1, len(parts) + 1):
        here = "/".join(parts[:depth])
        try:
            descriptor = open_beneath(root, here, flags)
        except PathRefusedError:
            raise
        except WorkspaceError:
            parent = open_folder(root, "/".join(parts[: depth - 1]), create=False)
            try:
                os.mkdir(parts[depth - 1], dir_fd=parent)
            except FileExistsError:
                raise PathRefusedError(f"{here} is no folder") from None
            finally:
                os.close(parent)
            descriptor = open_beneath(root, here, flags)
        if depth < len(parts):
            os.close(descriptor)
    return descriptor


def regular_size(descriptor: int, path: str) -> int:
    """Return the size of a regular file in bytes.

    Raises:
        PathRefusedError: it is a folder, a pipe, a device.
    """
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode):
        raise PathRefusedError(f"{path} is no regular file")
    return found.st_size
