"""The few statements that every log needs: insert what is new, and number what is stored once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, TypeVar

from sqlalchemy import Connection, Table, bindparam, select
from sqlalchemy.dialects import sqlite

__all__ = ["chunks", "insert_if_new", "insert_new", "insert_rows", "number_rows"]

Item = TypeVar("Item")

CHUNK = 500
"""Bound variables per statement; SQLite refuses more than 999 where it was built with its old limit."""


def chunks(items: Iterable[Item], size: int = CHUNK) -> Iterator[list[Item]]:
    """Return items in lists of at most `size`."""
    some: list[Item] = []
    for item in items:
        some.append(item)
        if len(some) == size:
            yield some
            some = []
    if some:
        yield some


def insert_rows(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert rows in one batch."""
    if rows:
        connection.execute(table.insert(), list(rows))


def insert_new(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert rows in one batch, leaving alone those whose key is there.

    Rows go in the order given: give them sorted by key, so that two writers never wait for each other crosswise.
    """
    if rows:
        connection.execute(_insert_ignoring(connection.dialect.name, table), list(rows))


def insert_if_new(connection: Connection, table: Table, row: Mapping[str, Any]) -> bool:
    """Insert one row unless its key is there; return whether it was new."""
    # Asked for by RETURNING: drivers do not agree on the row count of an insert.
    key = next(iter(table.primary_key))
    insert = _insert_ignoring(connection.dialect.name, table).returning(key)
    return connection.execute(insert, dict(row)).first() is not None


@cache
def _insert_ignoring(dialect: str, table: Table) -> Any:
    if dialect == "postgresql":
        from sqlalchemy.dialects import postgresql  # with a SQLite file it is never needed

        return postgresql.insert(table).on_conflict_do_nothing()
    return sqlite.insert(table).on_conflict_do_nothing()


def number_rows(
    connection: Connection, table: Table, key: str, rows: Mapping[str, Mapping[str, Any]]
) -> dict[str, int]:
    """Store each of `rows` (by its `fingerprint` column) unless it is there, and return their numbers.

    Args:
        connection: a write transaction.
        table: a table with a `fingerprint` and an integer primary key.
        key: the name of that primary key.
        rows: the rows by their fingerprint.
    """
    numbers = _numbers(connection, table, key, rows)
    missing = sorted(rows.keys() - numbers.keys())
    if missing:
        new = [rows[fingerprint] for fingerprint in missing]
        insert = _returning(connection.dialect.name, table, key)
        numbers |= {each[0]: each[1] for each in connection.execute(insert, new)}
        # Those that another writer was first with are not returned.
        numbers |= _numbers(connection, table, key, [one for one in missing if one not in numbers])
    return numbers


@cache
def _returning(dialect: str, table: Table, key: str) -> Any:
    return _insert_ignoring(dialect, table).returning(table.c.fingerprint, table.c[key])


def _numbers(connection: Connection, table: Table, key: str, fingerprints: Iterable[str]) -> dict[str, int]:
    numbers: dict[str, int] = {}
    for some in chunks(fingerprints):
        numbers |= {each[0]: each[1] for each in connection.execute(_numbered(table, key), {"some": some})}
    return numbers


@cache
def _numbered(table: Table, key: str) -> Any:
    wanted = table.c.fingerprint.in_(bindparam("some", expanding=True))
    return select(table.c.fingerprint, table.c[key]).where(wanted)
