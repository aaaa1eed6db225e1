"""Which part of the record a question is about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select, select

from aircoding.store.columns import table_of
from aircoding.store.tables.runs import RunRow

__all__ = ["EVERYWHERE", "Within", "narrowed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Within:
    """Which assemblies or calls are asked about; None asks about all.

    `since` leaves out runs that were started before it: a time as the clock writes it (`ports.Clock`). `with_texts`
    leaves out runs that let their texts go: that another run keeps the same text says nothing of them.
    """

    run_id: str | None = None
    task_id: str | None = None
    role: str | None = None
    session_id: str | None = None
    since: str | None = None
    with_texts: bool = False


EVERYWHERE = Within()
RUNS = table_of(RunRow)
_LET_GO = select(RUNS.c.run_id).where(RUNS.c.texts_let_go_at.is_not(None))


def narrowed(query: Select[Any], columns: Any, within: Within) -> Select[Any]:
    """Return a query over a table with these columns, for what is within only."""
    for name in ("run_id", "task_id", "role", "session_id"):
        value = getattr(within, name)
        if value is not None:
            query = query.where(columns[name] == value)
    if within.since is not None:
        query = query.where(columns["run_id"].in_(select(RUNS.c.run_id).where(RUNS.c.created_at >= within.since)))
    return query.where(columns["run_id"].not_in(_LET_GO)) if within.with_texts else query
