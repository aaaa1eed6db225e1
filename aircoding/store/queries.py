"""What was paid and what happened, by run, task, role and session.

Who saw what stands in `sightings`; `heads.Index` lists the assemblies themselves.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy import text as sql

from aircoding.records.calls import CallRecord
from aircoding.records.events import Event
from aircoding.store.calls import CALLS, call_record_of
from aircoding.store.database import Database
from aircoding.store.decode import decode
from aircoding.store.events import EVENTS, event_of
from aircoding.store.within import Within, narrowed

__all__ = ["CostRow", "Queries", "Within"]

PAGE = 1000
"""Rows of one page unless told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CostRow:
    """What one role spent on one task with one model. `tries` holds failed and abandoned ones; `unpriced`
    counts paid tries whose price is not known, which `cost_usd` holds as 0; `without_unit_prices` those that
    `cost_without_cache_usd` leaves out.
    """

    run_id: str
    task_id: str | None
    role: str
    model: str
    tries: int
    committed: int
    failed: int
    abandoned: int
    maybe_billed: int
    unpriced: int
    input_tokens: int
    cache_read_tokens: int
    cache_write_5m_tokens: int
    cache_write_1h_tokens: int
    output_tokens: int
    cost_usd: float
    without_unit_prices: int
    cost_without_cache_usd: float


class Queries:
    """Reads over all of the record; every list is in the order in which it was recorded."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def calls(
        self,
        *,
        run_id: str | None = None,
        task_id: str | None = None,
        role: str | None = None,
        session_id: str | None = None,
        limit: int | None = PAGE,
        offset: int = 0,
    ) -> tuple[CallRecord, ...]:
        """Return tries of model calls, oldest first."""
        within = Within(run_id=run_id, task_id=task_id, role=role, session_id=session_id)
        order = (CALLS.c.started_at, CALLS.c.call_key, CALLS.c.tries)
        query = narrowed(select(CALLS), CALLS.c, within).order_by(*order).limit(limit).offset(offset)
        with self._database.read() as connection:
            return tuple(call_record_of(each) for each in connection.execute(query))

    def costs(self, run_id: str) -> tuple[CostRow, ...]:
        """Return what each role spent on each task, by task, role and model."""
        with self._database.read() as connection:
            found = connection.execute(
                sql("SELECT * FROM v_costs WHERE run_id = :run_id"), {"run_id": run_id}
            ).mappings()
            rows = [dict(each) for each in found]
        costs = decode(tuple[CostRow, ...], rows, what=f"the costs of {run_id}")
        return tuple(sorted(costs, key=lambda cost: (cost.task_id or "", cost.role, cost.model)))

    def events(
        self,
        run_id: str,
        *,
        types: Collection[str] = (),
        task_id: str | None = None,
        session_id: str | None = None,
        after: int = 0,
        limit: int | None = PAGE,
    ) -> tuple[Event, ...]:
        """Return a run's events of some types (none given: all), in order, with a number above `after`."""
        query = select(EVENTS).where(EVENTS.c.run_id == run_id, EVENTS.c.seq > after)
        if types:
            query = query.where(EVENTS.c.type.in_(sorted(types)))
        for column, value in ((EVENTS.c.task_id, task_id), (EVENTS.c.session_id, session_id)):
            if value is not None:
                query = query.where(column == value)
        with self._database.read() as connection:
            return tuple(event_of(each) for each in connection.execute(query.order_by(EVENTS.c.seq).limit(limit)))
