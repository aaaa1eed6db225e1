"""Conflicts as they stand on record, and what people ruled on them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Row, or_, select

from aircoding.records.conflicts import Conflict, JudgedConflict, Ruling
from aircoding.records.ids import OF_RUN
from aircoding.records.layers import OutcomeKind, Reason
from aircoding.records.runs import LeftOut
from aircoding.store.accounts import ASSEMBLIES, CONFLICTS, OUTCOME_USES, OUTCOMES, conflict_value
from aircoding.store.columns import row, table_of
from aircoding.store.database import Database
from aircoding.store.decode import decode
from aircoding.store.events import EVENTS
from aircoding.store.fences import RUNS
from aircoding.store.statements import insert_rows
from aircoding.store.tables.rulings import ConflictRulingRow

__all__ = ["RecordedConflict", "RulingStore"]

RULINGS = table_of(ConflictRulingRow)
_CUT = (OutcomeKind.OMITTED.value, OutcomeKind.EXCERPTED.value, OutcomeKind.REFERENCED.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedConflict:
    """A conflict of a run as it was recorded last, and the tasks and roles whose prompts had it."""

    run_id: str
    tasks: tuple[str, ...]
    roles: tuple[str, ...]
    conflict: Conflict


class RulingStore:
    """Reads recorded conflicts; reads and writes rulings, of which the newest of a conflict counts."""

    def __init__(self, database: Database, now: Callable[[], str]) -> None:
        self._database = database
        self._now = now

    def rule(self, conflict_id: str, *, run_id: str | None, ruling: str, winner: str | None, by: str) -> Ruling:
        """Record a ruling.

        Args:
            conflict_id: what is ruled on.
            run_id: the run that it counts for; None: every run from now on.
            ruling: why, in the words of whoever ruled.
            winner: the party that holds.
            by: who ruled.
        """
        at = self._now()
        values = row(
            ConflictRulingRow,
            conflict_id=conflict_id,
            run_id=run_id,
            ruling=ruling,
            winner=winner,
            ruled_by=by,
            ruled_at=at,
        )
        self._database.write(lambda connection: insert_rows(connection, RULINGS, [values]), durable=True)
        return Ruling(conflict_id=conflict_id, ruling=ruling, winner=winner, ruled_by=by, ruled_at=at)

    def rulings(self, run_id: str | None = None) -> tuple[Ruling, ...]:
        """Return the newest ruling of each conflict that counts for a run (None: for a run that is still to come)."""
        counts: ColumnElement[bool] = RULINGS.c.run_id.is_(None)
        if run_id is not None:
            counts = or_(counts, RULINGS.c.run_id == run_id)
        query = select(RULINGS).where(counts).order_by(RULINGS.c.ruling_row)
        with self._database.read() as connection:
            newest = {found.conflict_id: found for found in connection.execute(query)}
            began = connection.execute(select(RUNS.c.created_at).where(RUNS.c.run_id == run_id)).scalar()
        return tuple(_ruling(newest[name], began) for name in sorted(newest))

    def conflicts(self, run_id: str | None = None) -> tuple[RecordedConflict, ...]:
        """Return the conflicts of a run, or of all runs, each once per run, by run and id; rulings are not applied."""
        query = select(CONFLICTS, ASSEMBLIES.c.run_id, ASSEMBLIES.c.task_id, ASSEMBLIES.c.role).join(
            ASSEMBLIES, ASSEMBLIES.c.assembly == CONFLICTS.c.assembly
        )
        if run_id is not None:
            query = query.where(ASSEMBLIES.c.run_id == run_id)
        query = query.order_by(ASSEMBLIES.c.assembly, CONFLICTS.c.position)
        seen: dict[tuple[str, str], list[Row[Any]]] = {}
        with self._database.read() as connection:
            for found in connection.execute(query):
                seen.setdefault((found.run_id, found.conflict_id), []).append(found)
        keys = sorted(seen)
        values = [conflict_value(seen[key][-1]) for key in keys]
        conflicts = decode(tuple[Conflict, ...], values, what="the conflicts")
        met = [_recorded(seen[key], conflict) for key, conflict in zip(keys, conflicts, strict=True)]
        judged = (
            RecordedConflict(run_id=run, tasks=(), roles=(), conflict=one.conflict)
            for run, one in self._judged(run_id)
            if (run, one.conflict.conflict_id) not in seen
        )
        return tuple(sorted((*met, *judged), key=lambda one: (one.run_id, one.conflict.conflict_id)))

    def judged(self, run_id: str | None = None) -> tuple[JudgedConflict, ...]:
        """Return what models found among the rules of a run, or of all own runs from the oldest on."""
        return tuple(one for _, one in self._judged(run_id))

    def _judged(self, run_id: str | None) -> list[tuple[str, JudgedConflict]]:
        query = select(EVENTS.c.run_id, EVENTS.c.payload).where(EVENTS.c.type == "conflict.judged")
        # Run by run, so that the index on (run, type) serves: the log of a long-lived project is large.
        which = RUNS.c.run_id == run_id if run_id is not None else RUNS.c.imported_at.is_(None)
        query = query.where(EVENTS.c.run_id.in_(select(RUNS.c.run_id).where(which))).order_by(EVENTS.c.run_id)
        with self._database.read() as connection:
            rows_ = [(found.run_id, json.loads(found.payload)["found"]) for found in connection.execute(query)]
        what = "what a model found among the rules"
        return [(run, one) for run, found in rows_ for one in decode(tuple[JudgedConflict, ...], found, what=what)]

    def left_out(self, run_id: str) -> tuple[LeftOut, ...]:
        """Return what prompts of a run did not hold whole for want of space, the largest first, once per worker."""
        query = (
            select(ASSEMBLIES.c.task_id, ASSEMBLIES.c.role, OUTCOMES.c.uri, OUTCOMES.c.tokens)
            .join(OUTCOME_USES, OUTCOME_USES.c.assembly == ASSEMBLIES.c.assembly)
            .join(OUTCOMES, OUTCOMES.c.outcome_row == OUTCOME_USES.c.outcome_row)
            .where(ASSEMBLIES.c.run_id == run_id, OUTCOMES.c.reason == Reason.BUDGET.value)
            .where(OUTCOMES.c.outcome.in_(_CUT))
            .distinct()
        )
        with self._database.read() as connection:
            cut = [LeftOut(**found._mapping) for found in connection.execute(query)]
        return tuple(sorted(cut, key=lambda one: (-one.tokens, one.task_id or "", one.role, one.uri)))


def _ruling(found: Row[Any], began: str | None) -> Ruling:
    return Ruling(
        conflict_id=found.conflict_id,
        ruling=found.ruling,
        winner=found.winner,
        ruled_by=found.ruled_by,
        ruled_at=found.ruled_at,
        before_run=began is None or found.ruled_at < began,
    )


def _recorded(found: Sequence[Row[Any]], conflict: Conflict) -> RecordedConflict:
    return RecordedConflict(
        run_id=found[-1].run_id,
        tasks=tuple(sorted({each.task_id for each in found} - {None, OF_RUN})),
        roles=tuple(sorted({each.role for each in found})),
        conflict=conflict,
    )
