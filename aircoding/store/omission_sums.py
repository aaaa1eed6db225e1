"""What was left out of the last prompts of many sessions, summed up by source and reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, Select, select

from aircoding.records.accounting import LeftOut
from aircoding.records.layers import OutcomeKind
from aircoding.store.accounts import ASSEMBLIES, OUTCOME_USES, OUTCOMES
from aircoding.store.seen_rows import outcome_record
from aircoding.store.within import EVERYWHERE, Within, narrowed

__all__ = ["plain_rows", "sum_omissions"]

_A = ASSEMBLIES.c


def sum_omissions(connection: Connection, within: Within, *, layer: str | None, reason: str | None) -> list[LeftOut]:
    """Return what was left out of the last prompt of each session, in no order; None asks about all."""
    outcomes = _omitted(connection, layer, reason, within.run_id)
    group_of = _groups(outcomes.values())
    for session in _sessions(connection, within):
        for number in session.latest.values():
            if (group := group_of.get(number)) is not None:
                group.add(number, session)
    return [group.left_out(outcomes) for group in set(group_of.values()) if group.uses]


def plain_rows(connection: Connection, query: Select[Any]) -> Iterator[Any]:
    """Return rows as the driver gives them: of a million short ones the dressing costs more than the reading."""
    cursor: Any = connection.execute(query).cursor
    return iter(cursor)


@dataclass(slots=True)
class _Session:
    """A session with the newest outcome of each candidate, by the number of its place."""

    session_id: str
    task_id: str | None
    role: str
    manifest_id: str = ""
    latest: dict[str, int] = field(default_factory=dict)


def _sessions(connection: Connection, within: Within) -> Collection[_Session]:
    """Return all sessions with what became of each candidate in their last prompt."""
    names = _of_run(select(OUTCOMES.c.outcome_row, OUTCOMES.c.segment_id), within.run_id)
    named: dict[int, str] = {found[0]: found[1] for found in connection.execute(names)}
    columns = (_A.assembly, _A.manifest_id, _A.session_id, _A.task_id, _A.role, _A.outcomes_since == _A.turn)
    heads = narrowed(select(*columns), _A, within).order_by(_A.assembly)
    uses = select(OUTCOME_USES.c.assembly, OUTCOME_USES.c.outcome_row)
    if within != EVERYWHERE:
        uses = narrowed(uses.join(ASSEMBLIES, _A.assembly == OUTCOME_USES.c.assembly), _A, within)
    added = plain_rows(connection, uses.order_by(OUTCOME_USES.c.assembly, OUTCOME_USES.c.position))
    waiting = next(added, None)
    sessions: dict[str, _Session] = {}
    for assembly, manifest_id, session_id, task, role_, begins in connection.execute(heads).all():
        session = sessions.get(session_id)
        if session is None:
            session = sessions[session_id] = _Session(session_id, task, role_)
        if begins:
            session.latest = {}
        session.manifest_id = manifest_id
        latest = session.latest
        while waiting is not None and waiting[0] == assembly:
            latest[named[waiting[1]]] = waiting[1]
            waiting = next(added, None)
    return sessions.values()


def _of_run(query: Select[Any], run_id: str | None) -> Select[Any]:
    """Narrow a query over outcomes to those that a run met."""
    if run_id is None:
        return query
    met = select(OUTCOME_USES.c.outcome_row).join(ASSEMBLIES, _A.assembly == OUTCOME_USES.c.assembly)
    return query.where(OUTCOMES.c.outcome_row.in_(met.where(_A.run_id == run_id)))


def _omitted(connection: Connection, layer: str | None, reason: str | None, run_id: str | None) -> dict[int, Any]:
    query = _of_run(select(OUTCOMES).where(OUTCOMES.c.outcome != OutcomeKind.INCLUDED.value), run_id)
    for column, value in ((OUTCOMES.c.layer, layer), (OUTCOMES.c.reason, reason)):
        if value is not None:
            query = query.where(column == value)
    return {found.outcome_row: found for found in connection.execute(query)}


@dataclass(slots=True, eq=False)
class _Group:
    """What of one source was left out for one reason: how often by which outcome, and in which sessions."""

    uses: Counter[int] = field(default_factory=Counter)
    sessions: dict[str, _Session] = field(default_factory=dict)
    newest: int = 0

    def add(self, number: int, session: _Session) -> None:
        self.uses[number] += 1
        self.sessions[session.session_id] = session
        self.newest = number

    def left_out(self, outcomes: Mapping[int, Any]) -> LeftOut:
        sessions = self.sessions.values()
        found = [(outcomes[number], times) for number, times in self.uses.items()]
        return LeftOut(
            example=outcome_record(outcomes[self.newest]),
            manifest_id=next(reversed(sessions)).manifest_id,
            workers=len(sessions),
            candidates=len({one.segment_id.rpartition("@")[0] for one, _ in found}),
            details=len({one.detail for one, _ in found}),
            tokens=sum(one.tokens * times for one, times in found),
            roles=tuple(sorted({one.role for one in sessions})),
            tasks=tuple(sorted({one.task_id for one in sessions if one.task_id is not None})),
        )


def _groups(outcomes: Iterable[Any]) -> dict[int, _Group]:
    """Return for each outcome the group that it is counted in."""
    by_key: dict[tuple[Any, ...], _Group] = {}
    groups: dict[int, _Group] = {}
    for found in outcomes:
        key = (found.uri, found.layer, found.outcome, found.reason, found.decided_by)
        if (group := by_key.get(key)) is None:
            group = by_key[key] = _Group()
        groups[found.outcome_row] = group
    return groups
