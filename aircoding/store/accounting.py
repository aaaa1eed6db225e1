"""Sums over the whole record: what was paid for what, and what was left out of prompts how often.

The lists of a manifest are what the turns from `*_since` up to its own added. A sum over many sessions reads those
additions once, in the order in which they were recorded, and keeps for each session what holds so far.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, Literal

from sqlalchemy import ColumnElement, Connection, case, func, or_, select

from aircoding.records.accounting import LeftOut, MetConflict, PaidCall, Spent
from aircoding.records.calls import SIMULATED_REQUESTS
from aircoding.records.conflicts import Conflict
from aircoding.records.usage import UnitPrices, Usage
from aircoding.store.accounts import (
    ASSEMBLIES,
    CONFLICTS,
    SEGMENT_USES,
    SEGMENTS,
    conflict_value,
)
from aircoding.store.calls import CALLS
from aircoding.store.database import Database
from aircoding.store.decode import decode
from aircoding.store.omission_sums import plain_rows, sum_omissions
from aircoding.store.within import EVERYWHERE, Within, narrowed

__all__ = ["Accounting", "Grouping"]

Grouping = Literal["run_id", "task_id", "role", "model"]

_C, _A = CALLS.c, ASSEMBLIES.c
_USAGE = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_5m_tokens", "cache_write_1h_tokens")
_PRICES = ("input", "output", "cache_read", "cache_write_5m", "cache_write_1h")
_PAID = _C.input_tokens.is_not(None)
_SIMULATED = or_(*(_C.request_id.startswith(start, autoescape=True) for start in SIMULATED_REQUESTS))


class Accounting:
    """Sums over runs; `run_id` None means all of them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def spent(self, by: Collection[Grouping], *, run_id: str | None) -> tuple[Spent, ...]:
        """Return what was spent by some fields of the calls, what cost most first."""
        keys = [_C[name] for name in by]
        query = select(
            *keys,
            _count(_PAID).label("paid"),
            _count(~_PAID).label("unpaid"),
            *(func.coalesce(func.sum(_C[name]), 0).label(name) for name in _USAGE),
            func.sum(_C.cost_usd).label("cost_usd"),
            _count(_PAID & _C.cost_usd.is_(None)).label("unpriced"),
            _count(_PAID & _SIMULATED).label("simulated"),
        )
        if run_id is not None:
            query = query.where(_C.run_id == run_id)
        with self._database.read() as connection:
            found = [_spent(each, by) for each in connection.execute(query.group_by(*keys) if keys else query)]
        order = sorted(found, key=lambda one: (one.run_id or "", one.task_id or "", one.role or "", one.model or ""))
        return tuple(sorted(order, key=lambda one: -(one.cost_usd or 0.0)))

    def paid_calls(self, *, run_id: str | None) -> Iterator[PaidCall]:
        """Yield each try that was paid for with the layers of its prompt, as the prompts were recorded."""
        calls = select(_C.manifest_id, *(_C[name] for name in _USAGE), _C.cost_usd, _SIMULATED.label("simulated"))
        calls = calls.add_columns(*(_C[f"{name}_usd_per_mtok"] for name in _PRICES)).where(_PAID)
        if run_id is not None:
            calls = calls.where(_C.run_id == run_id)
        with self._database.read() as connection:
            waiting: dict[str, list[Any]] = {}
            prices: dict[Any, UnitPrices] = {}
            for found in plain_rows(connection, calls):
                waiting.setdefault(found[0], []).append(found)
            for manifest_id, parts in _layer_parts(connection, run_id):
                for found in waiting.pop(manifest_id, ()):
                    yield _paid_call(found, parts, prices)
        for calls_of_none in waiting.values():
            for found in calls_of_none:
                yield _paid_call(found, (), prices)

    def left_out(
        self, within: Within = EVERYWHERE, *, layer: str | None = None, reason: str | None = None
    ) -> tuple[LeftOut, ...]:
        """Return what was left out of the last prompt of each session, the most tokens first."""
        with self._database.read() as connection:
            made = sum_omissions(connection, within, layer=layer, reason=reason)
        return tuple(sorted(made, key=lambda one: (-one.tokens, -one.workers, one.example.uri, one.example.by)))

    def met_conflicts(self, within: Within = EVERYWHERE) -> tuple[MetConflict, ...]:
        """Return the conflicts that stood in prompts, those of most sessions first."""
        columns = (_A.manifest_id, _A.session_id, _A.task_id, _A.role)
        query = select(CONFLICTS, *columns).join(ASSEMBLIES, _A.assembly == CONFLICTS.c.assembly)
        query = narrowed(query, _A, within).order_by(_A.assembly, CONFLICTS.c.position)
        met: dict[str, dict[str, Any]] = {}
        with self._database.read() as connection:
            for found in connection.execute(query):
                met.setdefault(found.conflict_id, {})[found.session_id] = found  # the last one of a session holds
        made = [_met(list(sessions.values())) for sessions in met.values()]
        return tuple(sorted(made, key=lambda one: (-one.open_sessions, -one.sessions, one.conflict.conflict_id)))


def _count(which: ColumnElement[bool]) -> ColumnElement[Any]:
    return func.coalesce(func.sum(case((which, 1), else_=0)), 0)


def _spent(found: Any, by: Collection[Grouping]) -> Spent:
    keys = {name: getattr(found, name) if name in by else None for name in ("run_id", "task_id", "role", "model")}
    return Spent(
        **keys,
        paid=int(found.paid),
        unpaid=int(found.unpaid),
        usage=Usage(**{name: int(getattr(found, name)) for name in _USAGE}),
        cost_usd=None if found.cost_usd is None else float(found.cost_usd),
        unpriced=int(found.unpriced),
        simulated=int(found.simulated),
    )


def _paid_call(found: Any, parts: Any, known: dict[Any, UnitPrices]) -> PaidCall:
    """Return a call from its row; `known` holds prices that were met before: there are few."""
    _, full, answered, read, written_5m, written_1h, cost_usd, simulated, *by_kind = found
    key = tuple(by_kind)
    if (prices := known.get(key)) is None:
        prices = known[key] = UnitPrices(**dict(zip(_PRICES, key, strict=True)))
    usage = Usage(
        input_tokens=full,
        output_tokens=answered or 0,
        cache_read_tokens=read or 0,
        cache_write_5m_tokens=written_5m or 0,
        cache_write_1h_tokens=written_1h or 0,
    )
    return PaidCall(parts, usage, prices, cost_usd, bool(simulated))


def _layer_parts(connection: Connection, run_id: str | None) -> Iterator[tuple[str, list[tuple[str, int]]]]:
    """Yield each assembly with layer and tokens of the stretches of its prompt; the list goes on growing after that."""
    columns = (_A.assembly, _A.manifest_id, _A.session_id, _A.segments_since == _A.turn)
    heads = narrowed(select(*columns), _A, Within(run_id=run_id))
    uses = select(SEGMENT_USES.c.assembly, SEGMENTS.c.layer, SEGMENTS.c.tokens).join(
        SEGMENTS, SEGMENTS.c.segment == SEGMENT_USES.c.segment
    )
    if run_id is not None:
        uses = uses.join(ASSEMBLIES, _A.assembly == SEGMENT_USES.c.assembly).where(_A.run_id == run_id)
    added = plain_rows(connection, uses.order_by(SEGMENT_USES.c.assembly, SEGMENT_USES.c.position))
    waiting = next(added, None)
    so_far: dict[str, list[tuple[str, int]]] = {}
    for assembly, manifest_id, session_id, begins in connection.execute(heads.order_by(_A.assembly)).all():
        parts = [] if begins else so_far.get(session_id, [])
        so_far[session_id] = parts
        while waiting is not None and waiting[0] == assembly:
            parts.append((waiting[1], waiting[2]))
            waiting = next(added, None)
        yield manifest_id, parts


def _met(last: list[Any]) -> MetConflict:
    return MetConflict(
        conflict=decode(Conflict, conflict_value(last[-1]), what="a conflict"),
        manifest_id=last[-1].manifest_id,
        sessions=len(last),
        open_sessions=sum(1 for one in last if one.state == "open"),
        roles=tuple(sorted({one.role for one in last})),
        tasks=tuple(sorted({one.task_id for one in last if one.task_id is not None})),
    )
