"""What stands in the index of the record: heads of assemblies, totals of calls, rows by table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import ColumnElement, case, func, select

from aircoding.records.manifest import AssemblyHead
from aircoding.store.columns import table_of
from aircoding.store.database import Database
from aircoding.store.describe import row_counts
from aircoding.store.tables.assemblies import AssemblyRow
from aircoding.store.tables.calls import ModelCallRow

__all__ = ["Index", "Totals"]

ASSEMBLIES = table_of(AssemblyRow)
CALLS = table_of(ModelCallRow)


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """Sums over a run's calls. Prompt tokens hold cached ones; `calls` counts committed ones."""

    calls: int
    abandoned_calls: int
    failed_calls: int
    prompt_tokens: int
    cached_tokens: int
    output_tokens: int
    cost_usd: float
    unpriced_calls: int


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
    ) -> tuple[AssemblyHead, ...]:
        """Return heads in the order in which they were recorded."""
        names = [name for name in AssemblyHead.__slots__ if name != "tokens"]
        query = select(*(ASSEMBLIES.c[name] for name in names), ASSEMBLIES.c.tokens_expected.label("tokens"))
        query = query.where(*_within(run_id, task_id, role))
        query = query.order_by(ASSEMBLIES.c.assembly).limit(limit).offset(offset)
        with self._database.read() as connection:
            return tuple(AssemblyHead(**found._mapping) for found in connection.execute(query))

    def count(self, *, run_id: str | None = None, task_id: str | None = None, role: str | None = None) -> int:
        """Return how many assemblies there are."""
        query = select(func.count()).select_from(ASSEMBLIES).where(*_within(run_id, task_id, role))
        with self._database.read() as connection:
            return int(connection.execute(query).scalar_one())

    def totals(self, run_id: str) -> Totals:
        """Return the sums over a run's calls."""
        c = CALLS.c
        paid = c.state == "committed"
        cached = func.coalesce(c.cache_read_tokens, 0)
        written = func.coalesce(c.cache_write_5m_tokens, 0) + func.coalesce(c.cache_write_1h_tokens, 0)
        query = select(
            func.coalesce(func.sum(case((paid, 1), else_=0)), 0),
            func.coalesce(func.sum(case((c.state == "abandoned", 1), else_=0)), 0),
            func.coalesce(func.sum(case((c.state == "failed", 1), else_=0)), 0),
            func.coalesce(func.sum(case((paid, func.coalesce(c.input_tokens, 0) + cached + written), else_=0)), 0),
            func.coalesce(func.sum(case((paid, cached), else_=0)), 0),
            func.coalesce(func.sum(case((paid, func.coalesce(c.output_tokens, 0)), else_=0)), 0),
            func.coalesce(func.sum(case((paid, func.coalesce(c.cost_usd, 0.0)), else_=0.0)), 0.0),
            func.coalesce(func.sum(case((paid & c.cost_usd.is_(None), 1), else_=0)), 0),
        ).where(c.run_id == run_id)
        with self._database.read() as connection:
            values = connection.execute(query).one()
        calls, abandoned, failed, prompt, cached_, output, usd, unpriced = values
        return Totals(
            calls=int(calls),
            abandoned_calls=int(abandoned),
            failed_calls=int(failed),
            prompt_tokens=int(prompt),
            cached_tokens=int(cached_),
            output_tokens=int(output),
            cost_usd=float(usd),
            unpriced_calls=int(unpriced),
        )

    def row_counts(self) -> Mapping[str, int]:
        """Return how many rows each table holds."""
        with self._database.read() as connection:
            return row_counts(connection)
