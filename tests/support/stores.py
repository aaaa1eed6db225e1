"""Empty stores for tests that make many: the schema is made once, and its file copied."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp

from aircoding.store import Store, open_store

__all__ = ["empty_store"]


@cache
def _template() -> Path:
    path = Path(mkdtemp(prefix="air-template-")) / "air.db"
    open_store(path).close()
    return path


@contextmanager
def empty_store() -> Iterator[Store]:
    """Open an empty SQLite store that is gone afterwards."""
    with TemporaryDirectory() as folder:
        path = Path(shutil.copy(_template(), folder))
        with open_store(path) as store:
            yield store
