"""What the audit asks of the record: who saw a segment, what became of a candidate, what was paid, what happened.

Segments and outcomes are answered where they **came in**: the turn that added them. They stand in every later
turn of that epoch. `heads.Index` lists the assemblies themselves.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select, or_, select
from sqlalchemy import text as sql

from aircoding.records.calls import CallRecord
from aircoding.records.events import Event
from aircoding.records.ids import Digest
from aircoding.records.manifest import OutcomeRecord, SegmentRecord
from aircoding.store.accounts import (
    ASSEMBLIES,
    OUTCOME_USES,
    OUTCOMES,
    SEGMENT_TEXTS,
    SEGMENT_USES,
    SEGMENTS,
    outcome_value,
    segment_value,
)
from aircoding.store.calls import CALLS, call_record_of
from aircoding.store.database import Database
from aircoding.store.decode import decode
from aircoding.store.events import EVENTS, event_of
from aircoding.store.statements import chunks
from aircoding.store.tables.assemblies import SHARED
from aircoding.store.texts import find_texts

__all__ = ["CostRow", "Queries", "SeenOutcome", "SeenSegment", "Within"]

PAGE = 1000
"""Rows of one page unless told."""
_TEXTS_AT_ONCE = 200
"""Texts that a search holds in memory at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Within:
    """Which assemblies or calls are asked about; None asks about all."""

    run_id: str | None = None
    task_id: str | None = None
    role: str | None = None
    session_id: str | None = None


EVERYWHERE = Within()


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenSegment:
    """A segment and the assembly that it came in with."""

    manifest_id: str
    run_id: str
    session_id: str
    task_id: str | None
    attempt: int | None
    role: str
    turn: int
    record: SegmentRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenOutcome:
    """An outcome and the assembly that it came in with."""

    manifest_id: str
    run_id: str
    session_id: str
    task_id: str | None
    attempt: int | None
    role: str
    turn: int
    record: OutcomeRecord


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

    def segments(
        self,
        within: Within = EVERYWHERE,
        *,
        uri: str | None = None,
        rule_id: str | None = None,
        segment_id: str | None = None,
        text_digest: Digest | None = None,
        limit: int | None = PAGE,
        offset: int = 0,
    ) -> tuple[SeenSegment, ...]:
        """Return segments by what they are.

        Args:
            within: the assemblies that are asked about.
            uri: where the text comes from.
            rule_id: the rule that it is.
            segment_id: the segment itself.
            text_digest: of its source text, or of a text as it stood in the request; what a session itself brought
                is found by the latter only.
            limit: rows at most.
            offset: rows to leave out first.
        """
        query = _within(_SEEN_SEGMENTS, ASSEMBLIES.c, within)
        for column, value in (
            (SEGMENTS.c.uri, uri),
            (SEGMENTS.c.rule_id, rule_id),
            (SEGMENTS.c.segment_id, segment_id),
        ):
            if value is not None:
                query = query.where(column == value)
        if not any(value is not None and "air:session/" in value for value in (uri, segment_id)):
            query = query.where(_IS_SHARED) if uri is not None or segment_id is not None else query
        if text_digest is not None:
            shown = select(SEGMENT_TEXTS.c.segment).where(SEGMENT_TEXTS.c.shown_digest == text_digest)
            named = select(SEGMENTS.c.segment).where(SEGMENTS.c.text_digest == text_digest, _IS_SHARED)
            query = query.where(or_(SEGMENTS.c.segment.in_(named), SEGMENTS.c.segment.in_(shown)))
        return self._seen_segments(query.limit(limit).offset(offset))

    def containing(
        self, needle: str, within: Within = EVERYWHERE, *, limit: int | None = PAGE
    ) -> tuple[SeenSegment, ...]:
        """Return the segments whose text, as it stood in a request, holds `needle`.

        Tool calls are searched as JSON. Texts that are no longer kept are not found; a needle that runs over the
        end of a segment is not either.
        """
        if not needle:
            return ()
        holding = self._texts_with(needle, within)
        found: list[SeenSegment] = []
        for some in chunks(sorted(holding)):
            shown = select(SEGMENT_TEXTS.c.segment).where(SEGMENT_TEXTS.c.shown_digest.in_(some))
            query = _within(_SEEN_SEGMENTS, ASSEMBLIES.c, within).where(SEGMENTS.c.segment.in_(shown))
            found += self._seen_segments(query)
        # A segment may show several such texts, in several chunks.
        unique = {(seen.manifest_id, seen.record.segment_id, seen.record.spans): seen for seen in found}
        return tuple(unique.values())[:limit]

    def _texts_with(self, needle: str, within: Within) -> set[Digest]:
        escaped = json.dumps(needle, ensure_ascii=False)[1:-1]
        named = (
            select(SEGMENT_TEXTS.c.shown_digest)
            .join(SEGMENT_USES, SEGMENT_USES.c.segment == SEGMENT_TEXTS.c.segment)
            .join(ASSEMBLIES, ASSEMBLIES.c.assembly == SEGMENT_USES.c.assembly)
            .distinct()
        )
        holding: set[Digest] = set()
        with self._database.read() as connection:
            digests = connection.execute(_within(named, ASSEMBLIES.c, within)).scalars().all()
            for some in chunks(digests, _TEXTS_AT_ONCE):
                texts = find_texts(connection, some)
                holding |= {digest for digest, text in texts.items() if needle in text or escaped in text}
        return holding

    def outcomes(
        self,
        within: Within = EVERYWHERE,
        *,
        uri: str | None = None,
        segment_id: str | None = None,
        omitted_only: bool = False,
        limit: int | None = PAGE,
        offset: int = 0,
    ) -> tuple[SeenOutcome, ...]:
        """Return what became of candidates; within one session the last one of a candidate holds."""
        query = _within(_SEEN_OUTCOMES, ASSEMBLIES.c, within)
        for column, value in ((OUTCOMES.c.uri, uri), (OUTCOMES.c.segment_id, segment_id)):
            if value is not None:
                query = query.where(column == value)
        if omitted_only:
            query = query.where(OUTCOMES.c.outcome != "included")
        with self._database.read() as connection:
            found = connection.execute(query.limit(limit).offset(offset)).all()
        records = decode(tuple[OutcomeRecord, ...], [outcome_value(each) for each in found], what="the outcomes")
        return tuple(SeenOutcome(**_place(each), record=record) for each, record in zip(found, records, strict=True))

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
        query = _within(select(CALLS), CALLS.c, within).order_by(*order).limit(limit).offset(offset)
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

    def _seen_segments(self, query: Select[Any]) -> tuple[SeenSegment, ...]:
        with self._database.read() as connection:
            found = connection.execute(query).all()
        records = decode(tuple[SegmentRecord, ...], [segment_value(each) for each in found], what="the segments")
        return tuple(SeenSegment(**_place(each), record=record) for each, record in zip(found, records, strict=True))


_IS_SHARED = sql(f"segments.{SHARED}")
"""Lets a query use the indexes over segments, which leave out what sessions brought themselves."""

_PLACE = ("manifest_id", "run_id", "session_id", "task_id", "attempt", "role", "turn")
_PLACE_COLUMNS = tuple(ASSEMBLIES.c[name].label(f"at_{name}") for name in _PLACE)

_SEEN_SEGMENTS = (
    select(SEGMENTS, SEGMENT_USES.c.spans, *_PLACE_COLUMNS)
    .join(SEGMENT_USES, SEGMENT_USES.c.segment == SEGMENTS.c.segment)
    .join(ASSEMBLIES, ASSEMBLIES.c.assembly == SEGMENT_USES.c.assembly)
    .order_by(ASSEMBLIES.c.assembly, SEGMENT_USES.c.position)
)
_SEEN_OUTCOMES = (
    select(OUTCOMES, *_PLACE_COLUMNS)
    .join(OUTCOME_USES, OUTCOME_USES.c.outcome_row == OUTCOMES.c.outcome_row)
    .join(ASSEMBLIES, ASSEMBLIES.c.assembly == OUTCOME_USES.c.assembly)
    .order_by(ASSEMBLIES.c.assembly, OUTCOME_USES.c.position)
)


def _place(found: Any) -> dict[str, Any]:
    return {name: getattr(found, f"at_{name}") for name in _PLACE}


def _within(query: Select[Any], columns: Any, within: Within) -> Select[Any]:
    for name in Within.__slots__:
        value = getattr(within, name)
        if value is not None:
            query = query.where(columns[name] == value)
    return query
