"""Everything that a record holds, value by value, as bytes that can be searched."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from aircoding.errors import StoreError
from aircoding.store.dictionary import inflate

__all__ = ["recorded_values", "unpacked"]


def recorded_values(database: Path) -> Iterator[tuple[str, object]]:
    """Yield each value of a database with its table; the text index has no rows to read."""
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        tables = "select name from sqlite_master where type = 'table' and name <> 'text_index'"
        for (table,) in connection.execute(tables).fetchall():
            for row in connection.execute(f'select * from "{table}"'):
                yield from ((table, value) for value in row)


def unpacked(value: object) -> bytes:
    """Return a value as it is and, where it is a packed text, as it reads."""
    data = value if isinstance(value, bytes) else str(value).encode("utf-8", "replace")
    try:
        return data + inflate(data)
    except (StoreError, IndexError):
        return data
