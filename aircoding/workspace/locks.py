"""The lock of a run: one process drives it, and the system lets go when that process dies."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from types import TracebackType
from typing import Self

from aircoding.errors import UsageError, WorkspaceError

__all__ = ["RunLock"]


class RunLock:
    """An exclusive lock on a file, held until released or until the process ends, however it ends.

    The file stays: removing it would let two processes hold two files of one name.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None

    @property
    def is_free(self) -> bool:
        """Whether a process held it once and none does now; False also for a lock that nobody ever held."""
        return self._holder_is_there() is False

    @property
    def is_held(self) -> bool:
        """Whether a process holds it now."""
        return self._holder_is_there() is True

    def _holder_is_there(self) -> bool | None:
        """Return whether somebody holds it; None where nobody ever did, or the file cannot be read."""
        try:
            descriptor = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        except OSError:
            return None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            return True
        finally:
            os.close(descriptor)
        return False

    def __enter__(self) -> Self:
        """Take the lock, without waiting.

        Raises:
            UsageError: another process holds it (code `run.locked`; the message names it).
            WorkspaceError: the file cannot be made, or the file system knows no locks.
        """
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            raise WorkspaceError(
                f"{self._path} cannot be written: {error.strerror}", hint="the project's folder must be writable"
            ) from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()}\n".encode("ascii"), 0)
        except BlockingIOError as error:
            holder = os.pread(descriptor, 32, 0).decode("ascii", "replace").strip()
            os.close(descriptor)
            raise UsageError(
                f"run {self._path.stem} is driven by process {holder or 'unknown'} already",
                hint="wait for it, or stop that process; then resume",
                code="run.locked",
            ) from error
        except OSError as error:
            os.close(descriptor)
            raise WorkspaceError(f"{self._path} cannot be locked: {error.strerror}") from error
        self._descriptor = descriptor
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Release the lock."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
