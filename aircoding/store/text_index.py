"""The index of words over all texts that stood in a prompt or were left out of one; SQLite's FTS5.

It holds no text and no positions (`content=''`, `detail=none`): it names the few texts that may hold a word, and
whoever asks reads these. One row stands for each distinct text, under the first that showed it: a segment's number
doubled, or, for a candidate that no prompt showed, its outcome's number doubled plus one. A word is a run of ASCII
letters, digits, `_` and all that is not ASCII; ASCII letters are folded.

Where SQLite was built without FTS5, and on PostgreSQL, there is no index, and texts are searched themselves.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from weakref import WeakSet

from sqlalchemy import Connection, Engine
from sqlalchemy import text as sql

__all__ = [
    "INDEX_TABLES",
    "clear_index",
    "count_rows",
    "has_fts5",
    "has_index",
    "index_rows",
    "make_index",
    "match_rows",
    "terms_with",
]

INDEX_TABLES = ("text_index", "text_terms")
"""The virtual tables; `text_index` has shadow tables, whose names begin with its own."""

_INDEXED: WeakSet[Engine] = WeakSet()
"""Databases that have been seen to have an index: it is asked about for each turn, and no program takes it away."""
Row = tuple[int, str]


def make_index(connection: Connection) -> bool:
    """Make the empty index; return whether this database can have one."""
    if connection.dialect.name != "sqlite" or not _has_fts5(connection):
        return False
    options = "body, content='', detail=none, columnsize=0, tokenize=\"ascii tokenchars '_'\""
    connection.execute(sql(f"CREATE VIRTUAL TABLE text_index USING fts5({options})"))
    connection.execute(sql("CREATE VIRTUAL TABLE text_terms USING fts5vocab(text_index, row)"))
    return True


def has_index(connection: Connection) -> bool:
    """Whether there is an index that can be asked and written."""
    if connection.dialect.name != "sqlite":
        return False
    engine = connection.engine
    if engine not in _INDEXED and _has_fts5(connection):
        made = connection.execute(sql("SELECT 1 FROM sqlite_schema WHERE name = 'text_index'")).first()
        if made is not None:
            _INDEXED.add(engine)
    return engine in _INDEXED


def has_fts5() -> bool:
    """Whether the SQLite of this Python can have an index."""
    with closing(sqlite3.connect(":memory:")) as connection:
        return bool(connection.execute("SELECT 1 FROM pragma_module_list WHERE name = 'fts5'").fetchall())


def _has_fts5(connection: Connection) -> bool:
    found = sql("SELECT 1 FROM pragma_module_list WHERE name = 'fts5'")
    return connection.execute(found).first() is not None


def clear_index(connection: Connection) -> None:
    """Remove all rows, in the caller's transaction."""
    connection.execute(sql("INSERT INTO text_index (text_index) VALUES ('delete-all')"))


def index_rows(connection: Connection, rows: Iterable[Row]) -> None:
    """Add rows of words, in the caller's transaction."""
    values = [{"number": number, "body": body} for number, body in rows if body]
    if values:
        connection.execute(sql("INSERT INTO text_index (rowid, body) VALUES (:number, :body)"), values)


_MATCHING = "FROM text_index WHERE text_index MATCH :query AND (:left_out OR rowid % 2 = 0)"


def match_rows(connection: Connection, query: str, limit: int, *, left_out: bool) -> list[int]:
    """Return the numbers of rows that an FTS5 query finds, the newest first; without `left_out` those of segments."""
    found = sql(f"SELECT rowid {_MATCHING} ORDER BY rowid DESC LIMIT :limit")
    asked = {"query": query, "limit": limit, "left_out": int(left_out)}
    return list(connection.execute(found, asked).scalars())


def count_rows(connection: Connection, query: str, *, left_out: bool) -> int:
    """Return how many rows an FTS5 query finds; without `left_out` those of segments."""
    found = sql(f"SELECT count(*) {_MATCHING}")
    return int(connection.execute(found, {"query": query, "left_out": int(left_out)}).scalar_one())


def terms_with(connection: Connection, part: str, *, at_end: bool, limit: int) -> list[str]:
    """Return words of the index that hold a part of a word, or end in it; the shortest first."""
    escaped = part.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    pattern = f"%{escaped}" if at_end else f"%{escaped}%"
    found = sql("SELECT term FROM text_terms WHERE term LIKE :pattern ESCAPE '\\' ORDER BY length(term) LIMIT :limit")
    return list(connection.execute(found, {"pattern": pattern, "limit": limit}).scalars())
