"""Open files beneath a folder, so that the path that was checked is the path that is used.

Reading follows links that stay inside: Linux resolves with openat2 (RESOLVE_BENEATH, no magic links) in one step;
elsewhere the path is resolved first, then walked without following any link, so that one swapped meanwhile is refused.
Writing follows no link at all.
"""

from __future__ import annotations

import ctypes
import errno
import os
import stat
import struct
import sys
from functools import cache

from aircoding.errors import PathRefusedError, WorkspaceError

__all__ = ["failure", "file_for_writing", "names_git", "open_folder", "open_to_read"]

_OPENAT2 = 437
"""The system call's number, the same on all architectures that openat2 was added to (Linux 5.6)."""
_RESOLVE_NO_MAGICLINKS = 0x02
_RESOLVE_BENEATH = 0x08
_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
_FOLDER = os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY
_TRIES = 8
_UNSEEN = dict.fromkeys([*range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2065), 0xFEFF])
"""Characters that some file systems leave out when they compare names (git's own `protectHFS` knows the same)."""


def open_to_read(root: str, path: str) -> tuple[int, os.stat_result]:
    """Open a regular file beneath `root`; return its descriptor and what it is. Pipes and devices never block.

    Raises:
        PathRefusedError: it leaves the folder, belongs to git, or is no regular file.
        WorkspaceError: it is missing (code `workspace.missing`) or cannot be opened.
    """
    _check(path)
    base = _opened_root(root)
    try:
        descriptor = _opened(base, path) if _has_openat2() else _walked(base, root, path)
    except OSError as error:
        raise failure(path, error) from error
    finally:
        os.close(base)
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise PathRefusedError(f"{path} is no regular file but {_kind(found.st_mode)}")
        _refuse_git(root, path, descriptor)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor, found


def open_folder(root: str, path: str) -> int:
    """Open the folder `path` beneath `root` for writing in it, making what is missing; an empty path is the root.

    Raises:
        PathRefusedError: a part of it is a link or no folder, or belongs to git.
        WorkspaceError: it cannot be made.
    """
    current = _opened_root(root)
    if not path:
        return current
    try:
        _check(path)
        for part in [part for part in path.split("/") if part not in {"", "."}]:
            step = _entered(current, part, path)
            os.close(current)
            current = step
    except BaseException:
        os.close(current)
        raise
    return current


def file_for_writing(folder: int, name: str, path: str) -> os.stat_result | None:
    """Return what a file that is about to be replaced is, None when it is new. `path` is its name in messages.

    Raises:
        PathRefusedError: it is a link, no regular file, has more than one name, or belongs to git.
    """
    _check(path)
    try:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise failure(path, error) from error
    if stat.S_ISLNK(found.st_mode):
        raise PathRefusedError(f"{path} is a link", hint="write the file that it names")
    if not stat.S_ISREG(found.st_mode):
        raise PathRefusedError(f"{path} is no regular file but {_kind(found.st_mode)}")
    if found.st_nlink > 1:
        raise PathRefusedError(
            f"{path} has {found.st_nlink} names (hard links): the others may lie outside", hint="copy it, then write"
        )
    return found


def names_git(path: str) -> bool:
    """Whether a part of a path is git's own folder, also as file systems that fold names see it."""
    return any(_folded(part) in {".git", "git~1"} for part in path.split("/"))


def failure(path: str, error: OSError) -> WorkspaceError:
    """Say what the system's refusal means, with a way out."""
    number = error.errno or 0
    if number in {errno.EXDEV, errno.ELOOP, errno.EAGAIN}:
        return PathRefusedError(f"{path} leads out of the worktree, or in a circle, through a link")
    if number in {errno.ENOENT, errno.ENOTDIR}:
        return WorkspaceError(f"there is no {path}", code="workspace.missing")
    hints = {
        errno.ENOSPC: "free some space, then go on",
        errno.EDQUOT: "free some space, then go on",
        errno.EROFS: "the disk must be writable",
        errno.EACCES: "check the rights of the file and its folder",
        errno.ENAMETOOLONG: "use a shorter name",
    }
    return WorkspaceError(f"{path}: {os.strerror(number)}", hint=hints.get(number, ""))


def _check(path: str) -> None:
    if not path or path.startswith("/") or "\0" in path or ".." in path.split("/"):
        raise PathRefusedError(f"{path!r} is no path inside the worktree", hint="use a path relative to its root")
    if names_git(path):
        raise PathRefusedError(f"{path} belongs to git", hint="use git commands that the policy allows")


def _folded(part: str) -> str:
    return part.translate(_UNSEEN).rstrip(" .").casefold()


def _opened_root(root: str) -> int:
    try:
        return os.open(root, _FOLDER)
    except OSError as error:
        raise WorkspaceError(f"the worktree {root} cannot be opened: {error.strerror}") from error


@cache
def _has_openat2() -> bool:
    """Try the system call once: old kernels lack it, some containers forbid it."""
    if not sys.platform.startswith("linux"):
        return False
    root = os.open("/", _FOLDER)
    try:
        os.close(_opened(root, "."))
    except OSError:
        return False
    finally:
        os.close(root)
    return True


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _opened(base: int, path: str) -> int:
    """Call openat2; a rename elsewhere may make it ask to try again."""
    how = struct.pack("QQQ", _READ, 0, _RESOLVE_BENEATH | _RESOLVE_NO_MAGICLINKS)
    for _ in range(_TRIES):
        found = _libc().syscall(_OPENAT2, base, os.fsencode(path), how, len(how))
        if found >= 0:
            return int(found)
        number = ctypes.get_errno()
        if number not in {errno.EAGAIN, errno.EINTR}:
            break
    raise OSError(number, os.strerror(number))


def _walked(base: int, root: str, path: str) -> int:
    """Resolve, then open part by part without following links."""
    real_root = os.path.realpath(root)
    real = os.path.realpath(os.path.join(real_root, path))
    if os.path.commonpath([real, real_root]) != real_root:
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
    *folders, name = os.path.relpath(real, real_root).split("/")
    current = os.dup(base)
    try:
        for part in folders:
            step = os.open(part, _FOLDER | os.O_NOFOLLOW, dir_fd=current)
            os.close(current)
            current = step
        return os.open(name, _READ | os.O_NOFOLLOW, dir_fd=current)
    finally:
        os.close(current)


def _entered(folder: int, part: str, path: str) -> int:
    """Open one folder below another, making it if it is missing. A single name cannot lead out but as a link."""
    for _ in range(_TRIES):
        try:
            return os.open(part, _FOLDER | os.O_NOFOLLOW, dir_fd=folder)
        except FileNotFoundError:
            try:
                os.mkdir(part, dir_fd=folder)
            except FileExistsError:
                continue
            except OSError as error:
                raise failure(path, error) from error
        except OSError as error:
            if error.errno in {errno.ELOOP, errno.ENOTDIR}:
                hint = "name the folder that it leads to" if os.path.islink(f"/proc/self/fd/{folder}/{part}") else ""
                raise PathRefusedError(f"{path}: {part} is a link or no folder", hint=hint) from error
            raise failure(path, error) from error
    raise PathRefusedError(f"{path}: {part} cannot be made a folder: it changes all the time")


def _refuse_git(root: str, path: str, descriptor: int) -> None:
    """Refuse a file that a link inside the worktree brought us to, in git's own folder."""
    try:
        real = os.readlink(f"/proc/self/fd/{descriptor}")
    except OSError:
        real = os.path.realpath(os.path.join(root, path))
    if names_git(os.path.relpath(real, os.path.realpath(root))):
        raise PathRefusedError(f"{path} leads to what belongs to git", hint="use git commands that the policy allows")


def _kind(mode: int) -> str:
    kinds = ((stat.S_ISDIR, "a folder"), (stat.S_ISFIFO, "a pipe"), (stat.S_ISSOCK, "a socket"))
    return next((name for test, name in kinds if test(mode)), "a device")
