"""How much is on record and how much room it takes, for `doctor` and `db info`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, func, inspect, select
from sqlalchemy import text as sql
from sqlmodel import SQLModel

from aircoding.store.columns import table_of
from aircoding.store.database import Database
from aircoding.store.schema import SchemaState, read_schema_state
from aircoding.store.tables import every
from aircoding.store.tables.texts import Text

__all__ = ["StoreDescription", "TextsHeld", "describe_store", "row_counts"]

assert every.__all__  # noqa: S101 - imported so that the metadata is full

TEXTS = table_of(Text)


@dataclass(frozen=True, slots=True, kw_only=True)
class TextsHeld:
    """The texts: how many are named, how many of them are kept, their size as text and as stored."""

    named: int
    kept: int
    raw_bytes: int
    stored_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreDescription:
    """What is in a database. `where` carries no password; `size_bytes` is of the file with its log, or of
    the server's tables of this program. `rows` and `texts` are empty while the schema is not current.
    """

    where: str
    dialect: str
    schema: SchemaState
    size_bytes: int
    rows: Mapping[str, int]
    texts: TextsHeld


def describe_store(database: Database) -> StoreDescription:
    """Return what is in a database, whatever its schema.

    Raises:
        StoreError: it cannot be read.
    """
    schema = read_schema_state(database)
    rows: Mapping[str, int] = {}
    texts = TextsHeld(named=0, kept=0, raw_bytes=0, stored_bytes=0)
    with database.read() as connection:
        if schema.status == "current":
            rows, texts = row_counts(connection), _texts(connection)
        size_bytes = _server_bytes(connection) if database.path is None else _file_bytes(database.path)
    return StoreDescription(
        where=database.where,
        dialect=database.dialect,
        schema=schema,
        size_bytes=size_bytes,
        rows=rows,
        texts=texts,
    )


def row_counts(connection: Connection) -> dict[str, int]:
    """Return how many rows each table holds, by table name."""
    tables = sorted(SQLModel.metadata.tables.values(), key=lambda table: table.name)
    return {
        table.name: int(connection.execute(select(func.count()).select_from(table)).scalar_one()) for table in tables
    }


def _texts(connection: Connection) -> TextsHeld:
    kept = TEXTS.c.body.is_not(None)
    named, held, raw, stored = connection.execute(
        select(
            func.count(),
            func.count(TEXTS.c.body),
            func.coalesce(func.sum(TEXTS.c.size_bytes).filter(kept), 0),
            func.coalesce(func.sum(func.length(TEXTS.c.body)), 0),
        )
    ).one()
    return TextsHeld(named=int(named), kept=int(held), raw_bytes=int(raw), stored_bytes=int(stored))


def _file_bytes(path: Path) -> int:
    parts = (path, path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm"))
    return sum(part.stat().st_size for part in parts if part.exists())


def _server_bytes(connection: Connection) -> int:
    ours = [name for name in inspect(connection).get_table_names() if name in SQLModel.metadata.tables]
    size = sql("SELECT pg_total_relation_size(to_regclass(:name))")
    return sum(int(connection.execute(size, {"name": name}).scalar() or 0) for name in ours)
