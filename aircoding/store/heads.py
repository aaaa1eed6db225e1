"""What stands in the index of the record: heads of assemblies, rows by table."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import ColumnElement, func, select

from aircoding.records.manifest import AssemblyHead
from aircoding.store.columns import table_of
from aircoding.store.database import Database
from aircoding.store.describe import row_counts
from aircoding.store.tables.assemblies import AssemblyRow

__all__ = ["Index"]

ASSEMBLIES = table_of(AssemblyRow)


def _within(run_id: str | None, task_id: str | None, role: str | None) -> list[ColumnElement[bool]]:
    wanted = (("run_id", run_id), ("task_id", task_id), ("role", role))
    return [ASSEMBLIES.c[name] == value for name, value in wanted if value is not None]


class Index:
    """Reads that need no texts."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def manifest_ids(self, *, prefix: str, limit: int) -> tuple[str, ...]:
        """Return the ids of assemblies that begin with `prefix`."""
        column = ASSEMBLIES.c.manifest_id
        query = select(column).where(column.startswith(prefix, autoescape=True)).order_by(column).limit(limit)
        with self._database.read() as connection:
            return tuple(connection.execute(query).scalars())

    def heads(
        self,
        *,
        run_id: str | None = None,
        task_id: str | None = None,
        role: str | None = None,
        limit: int | None = None,
        offset: int = 0,
        newest_first: bool = False,
    ) -> tuple[AssemblyHead, ...]:
        """Return heads in the order in which they were recorded, or the newest first."""
        names = [name for name in AssemblyHead.__slots__ if name != "tokens"]
        query = select(*(ASSEMBLIES.c[name] for name in names), ASSEMBLIES.c.tokens_expected.label("tokens"))
        query = query.where(*_within(run_id, task_id, role))
        order = ASSEMBLIES.c.assembly.desc() if newest_first else ASSEMBLIES.c.assembly
        query = query.order_by(order).limit(limit).offset(offset)
        with self._database.read() as connection:
            return tuple(AssemblyHead(**found._mapping) for found in connection.execute(query))

    def count(self, *, run_id: str | None = None, task_id: str | None = None, role: str | None = None) -> int:
        """Return how many assemblies there are."""
        query = select(func.count()).select_from(ASSEMBLIES).where(*_within(run_id, task_id, role))
        with self._database.read() as connection:
            return int(connection.execute(query).scalar_one())

    def row_counts(self) -> Mapping[str, int]:
        """Return how many rows each table holds."""
        with self._database.read() as connection:
            return row_counts(connection)
