"""Sums over the ledger: what the calls of a run or a task used and cost."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, case, func, or_, select

from aircoding.records.calls import SIMULATED_REQUESTS
from aircoding.records.usage import Spending
from aircoding.store.columns import table_of
from aircoding.store.database import Database
from aircoding.store.tables.calls import ModelCallRow

__all__ = ["spending_of"]

CALLS = table_of(ModelCallRow)
_C = CALLS.c
_PAID = _C.input_tokens.is_not(None)
"""Usage came back: the try was paid for, whether or not its reply was used."""
_PROMPT = _C.input_tokens + _C.cache_read_tokens + _C.cache_write_5m_tokens + _C.cache_write_1h_tokens
_UNCACHED_USD = (_PROMPT * _C.input_usd_per_mtok + _C.output_tokens * _C.output_usd_per_mtok) / 1_000_000
_UNPRICED = _PAID & _C.cost_usd.is_(None)
_SIMULATED = or_(*(_C.request_id.startswith(start, autoescape=True) for start in SIMULATED_REQUESTS))


def spending_of(database: Database, run_id: str, task_id: str | None) -> Spending:
    """Return the sums over a run's calls, or over one task's."""
    within = _C.run_id == run_id
    if task_id is not None:
        within &= _C.task_id == task_id
    sums = select(
        _count(_C.state == "committed").label("calls"),
        _count(_C.state == "abandoned").label("abandoned"),
        _count(_C.state == "failed").label("failed"),
        _count(_UNPRICED).label("unpriced"),
        _count(_PAID & _UNCACHED_USD.is_(None)).label("incomparable"),
        _count(_PAID).label("paid"),
        _count(_PAID & _SIMULATED).label("simulated"),
        _total(_PROMPT).label("prompt"),
        _total(_C.cache_read_tokens).label("cached"),
        _total(_C.output_tokens).label("output"),
        _total(_C.cost_usd).label("usd"),
        _total(_UNCACHED_USD).label("uncached_usd"),
    ).where(within)
    models = select(_C.model).distinct().where(within, _UNPRICED).order_by(_C.model)
    with database.read() as connection:
        found = connection.execute(sums).one()
        unpriced = tuple(connection.execute(models).scalars()) if found.unpriced else ()
    nothing_known = found.unpriced > 0 and found.unpriced == found.paid
    return Spending(
        calls=int(found.calls),
        abandoned_calls=int(found.abandoned),
        failed_calls=int(found.failed),
        prompt_tokens=int(found.prompt),
        cached_tokens=int(found.cached),
        output_tokens=int(found.output),
        cost_usd=None if nothing_known else float(found.usd),
        cost_without_cache_usd=None if found.incomparable else float(found.uncached_usd),
        unpriced_calls=int(found.unpriced),
        unpriced_models=unpriced,
        simulated_calls=int(found.simulated),
    )


def _count(which: ColumnElement[bool]) -> ColumnElement[Any]:
    return func.coalesce(func.sum(case((which, 1), else_=0)), 0)


def _total(value: ColumnElement[Any]) -> ColumnElement[Any]:
    return func.coalesce(func.sum(value), 0)
