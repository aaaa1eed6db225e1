"""The index of words over all texts that stood in a prompt or were left out of one; SQLite's FTS5.

It holds no text and no positions (`content=''`, `detail=none`): it names the few texts that may hold a word, and
whoever asks reads these. One row stands for each distinct text, under the first that showed it: a segment's number
doubled, or, for a candidate that no prompt showed, its outcome's number doubled plus one. A word is a run of ASCII
letters, digits, `_` and all that is not ASCII; ASCII letters are folded. `text_words` has each word once: to list the
words of its index FTS5 walks through every use of each.

Where SQLite was built without FTS5, and on PostgreSQL, there is no index, and texts are searched themselves.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from weakref import WeakSet

from sqlalchemy import Connection, Engine
from sqlalchemy import text as sql

from aircoding.store.needles import words_of

__all__ = [
    "INDEX_TABLES",
    "clear_index",
    "count_rows",
    "has_fts5",
    "has_index",
    "index_rows",
    "match_rows",
    "words_with",
]

INDEX_TABLES = ("text_index", "text_words")
"""`text_index` is virtual and has shadow tables, whose names begin with its own."""
_WORD_BYTES = 32_768
"""FTS5 keeps no more of a word (FTS5_MAX_TOKEN_SIZE)."""

_INDEXED: WeakSet[Engine] = WeakSet()
"""Databases that have been seen to have an index: it is asked about for each turn, and no program takes it away."""
Row = tuple[int, str]


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
    connection.execute(sql("DELETE FROM text_words"))


def index_rows(connection: Connection, rows: Iterable[Row]) -> None:
    """Add rows of words, in the caller's transaction."""
    values = [{"number": number, "body": body} for number, body in rows if body]
    if values:
        connection.execute(sql("INSERT INTO text_index (rowid, body) VALUES (:number, :body)"), values)
        words = {word for each in values for word in _words(str(each["body"]))}
        new = sql("INSERT OR IGNORE INTO text_words SELECT value FROM json_each(:words)")
        connection.execute(new, {"words": json.dumps(sorted(words), ensure_ascii=False)})


def _words(text: str) -> Iterator[str]:
    for word in set(words_of(text)):
        yield word if len(word) < _WORD_BYTES // 4 else word.encode("utf-8")[:_WORD_BYTES].decode("utf-8", "ignore")


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


_HOLDING = sql("SELECT word FROM text_words WHERE instr(word, :part) > 0 ORDER BY length(word), word LIMIT :limit")
_ENDING = sql(
    "SELECT word FROM text_words WHERE substr(word, -length(:part)) = :part ORDER BY length(word), word LIMIT :limit"
)


def words_with(connection: Connection, part: str, *, at_end: bool, limit: int) -> list[str]:
    """Return words of the index that hold a part of a word, or end in it; the shortest first."""
    found = _ENDING if at_end else _HOLDING
    return list(connection.execute(found, {"part": part, "limit": limit}).scalars())
