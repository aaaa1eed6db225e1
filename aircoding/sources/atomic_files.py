"""Change a small file that several processes may change: one at a time, and in one step."""

from __future__ import annotations

import contextlib
import fcntl
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

__all__ = ["alone_in", "replace_text"]


@contextlib.contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder, waiting for it; it ends with the process, and leaves no file behind.

    Raises:
        OSError: the folder cannot be opened, or its file system knows no locks.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def replace_text(path: Path, text: str, *, new_mode: int = 0o600) -> None:
    """Put a new file in the place of the old one in one step; it is on disk before its name is.

    A link is followed, and the rights of the old file are kept; one that was not there gets `new_mode`.

    Raises:
        OSError: it cannot be written; the old file is then as it was.
    """
    target = Path(os.path.realpath(path))
    mode = new_mode
    with contextlib.suppress(FileNotFoundError):
        mode = target.stat().st_mode & 0o777
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
