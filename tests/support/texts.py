"""Snapshots: readable files that a test compares with; `AIR_UPDATE=1` writes them anew."""

from __future__ import annotations

import os
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]


def assert_file_equals(path: Path, text: str) -> None:
    """`path` (below the repository) holds exactly `text`; with AIR_UPDATE=1 it is written first."""
    if os.environ.get("AIR_UPDATE") == "1":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert path.exists(), f"{path.relative_to(REPOSITORY)} is missing; run with AIR_UPDATE=1 and read the result"
    assert path.read_text(encoding="utf-8") == text
