"""Where the user's files lie; apart from the settings, whose library is heavy."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["air_home"]


def air_home() -> Path:
    """Return the user's folder: `AIR_HOME`, else `~/.air`."""
    return Path(os.environ.get("AIR_HOME") or Path.home() / ".air")
