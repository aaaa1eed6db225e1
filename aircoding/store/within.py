"""Which part of the record a question is about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select

__all__ = ["EVERYWHERE", "Within", "narrowed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Within:
    """Which assemblies or calls are asked about; None asks about all. `run_ids` are the only runs, where given."""

    run_id: str | None = None
    task_id: str | None = None
    role: str | None = None
    session_id: str | None = None
    run_ids: tuple[str, ...] | None = None


EVERYWHERE = Within()


def narrowed(query: Select[Any], columns: Any, within: Within) -> Select[Any]:
    """Return a query over a table with these columns, for what is within only."""
    for name in ("run_id", "task_id", "role", "session_id"):
        value = getattr(within, name)
        if value is not None:
            query = query.where(columns[name] == value)
    if within.run_ids is not None:
        query = query.where(columns["run_id"].in_(within.run_ids))
    return query
