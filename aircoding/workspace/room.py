"""Whether a disk can take more."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["is_full"]

_LEAST_FREE_BYTES = 4_000_000
"""Less than this is no room: what failed to be written was taken back, and left that much free again."""


def is_full(folder: Path) -> bool:
    """Whether the disk of a folder has no room left, or can only be read; False where that cannot be told."""
    try:
        disk = os.statvfs(folder)
    except OSError:
        return False
    return bool(disk.f_flag & os.ST_RDONLY) or disk.f_bavail * disk.f_frsize < _LEAST_FREE_BYTES
