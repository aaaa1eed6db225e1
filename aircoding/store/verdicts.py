"""Which workers saw a subject, over all runs: the same verdicts as `audit.witnesses.who_saw` gives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import Connection, select

from aircoding.records.layers import OutcomeKind
from aircoding.records.segments import place_of
from aircoding.store.accounts import ASSEMBLIES, OUTCOMES, SEGMENTS, segment_names
from aircoding.store.naming import one_of
from aircoding.store.uses import Use, assemblies_with, newest_uses, outcome_uses, segment_uses
from aircoding.store.within import Within, narrowed

__all__ = ["SubjectRows", "WorkerCount", "WorkerKey", "WorkerVerdict", "count_verdicts", "worker_verdicts"]

_IN_A_PROMPT = (OutcomeKind.INCLUDED, OutcomeKind.EXCERPTED, OutcomeKind.REFERENCED)

WorkerKey = tuple[str, str, str]
"""Run, task (empty: none), role: `records.seen.Worker.key`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectRows:
    """The distinct segments and outcomes that a subject names, by the numbers of their rows.

    `version` are those of the segments that count as seen (None: all), `stale` those whose source is another one now.
    """

    segments: Collection[int]
    outcomes: Collection[int]
    version: Collection[int] | None = None
    stale: Collection[int] = ()


class WorkerVerdict(NamedTuple):
    """One worker, its verdict (`audit.witnesses.Verdict`), and why it missed the subject, if it saw none of it."""

    worker: WorkerKey
    verdict: str
    reason: str
    stale: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerCount:
    """How many workers have one verdict and, where they missed the subject, one reason."""

    verdict: str
    reason: str
    workers: int
    stale: int


def count_verdicts(verdicts: Iterable[WorkerVerdict]) -> tuple[WorkerCount, ...]:
    """Return how many workers saw a subject, by verdict and reason."""
    workers: Counter[tuple[str, str]] = Counter()
    stale: Counter[tuple[str, str]] = Counter()
    for one in verdicts:
        workers[one.verdict, one.reason] += 1
        stale[one.verdict, one.reason] += one.stale
    return tuple(
        WorkerCount(verdict=key[0], reason=key[1], workers=count, stale=stale[key]) for key, count in workers.items()
    )


def worker_verdicts(connection: Connection, subject: SubjectRows, within: Within) -> list[WorkerVerdict]:
    """Return each worker with its verdict, those of the newest run first, then by task and role."""
    columns = (ASSEMBLIES.c.run_id, ASSEMBLIES.c.task_id, ASSEMBLIES.c.role)
    found = assemblies_with(connection, columns, within, segments=subject.segments, outcomes=subject.outcomes)
    owners: dict[int, WorkerKey] = {number: (run, task or "", role) for number, run, task, role in found.values()}
    seen, stale = _saw(connection, subject, within, owners)
    reasons = _left_out(connection, subject, within, owners, seen)
    saw_some = {worker for worker, _ in seen}
    verdicts = []
    for worker in _everyone(connection, within):
        reason = reasons.get(worker)
        if worker in saw_some:
            verdict = "seen" if reason is None else "part"
        elif reason is not None:
            verdict = "missed"
        else:
            verdict = "other" if worker in stale else "never"
        told = reason if verdict == "missed" and reason is not None else ""
        verdicts.append(WorkerVerdict(worker, verdict, told, stale.get(worker, False)))
    verdicts.sort(key=lambda one: one.worker[1:])
    verdicts.sort(key=lambda one: one.worker[0], reverse=True)
    return verdicts


def _everyone(connection: Connection, within: Within) -> set[WorkerKey]:
    # By the columns of an index as they are: else the database sorts all assemblies.
    query = select(ASSEMBLIES.c.run_id, ASSEMBLIES.c.task_id, ASSEMBLIES.c.role).distinct()
    found = connection.execute(narrowed(query, ASSEMBLIES.c, within)).all()
    return {(run, task or "", role) for run, task, role in found}


def _saw(
    connection: Connection, subject: SubjectRows, within: Within, owners: dict[int, WorkerKey]
) -> tuple[set[tuple[WorkerKey, str]], dict[WorkerKey, bool]]:
    """Return which worker saw what, and of each that saw any version whether the newest of one source is stale."""
    names = ("segment", "segment_id", "layer", "uri", "text_digest", "source_digest")
    query = select(*(SEGMENTS.c[name] for name in names))
    rows = connection.execute(query.where(one_of(SEGMENTS.c.segment, subject.segments))).all()
    places = {each.segment: place_of(segment_names(each)[0]) for each in rows}
    uris = {each.segment: each.uri for each in rows}
    wanted = frozenset(subject.segments if subject.version is None else subject.version)
    uses = list(segment_uses(connection, subject.segments, within))
    seen = {
        (owners[assembly], places[number]) for assembly, _, number in uses if number in wanted and assembly in owners
    }
    stale: dict[WorkerKey, bool] = {}
    are_stale = frozenset(subject.stale)
    for (worker, _), use in newest_uses(uses, uris, owners).items():
        stale[worker] = stale.get(worker, False) or use[2] in are_stale
    return seen, stale


def _left_out(
    connection: Connection,
    subject: SubjectRows,
    within: Within,
    owners: dict[int, WorkerKey],
    seen: Collection[tuple[WorkerKey, str]],
) -> dict[WorkerKey, str]:
    """Return of each worker the reason why it was not shown something: of several the last."""
    query = select(OUTCOMES.c.outcome_row, OUTCOMES.c.segment_id, OUTCOMES.c.outcome, OUTCOMES.c.reason)
    rows = connection.execute(query.where(one_of(OUTCOMES.c.outcome_row, subject.outcomes))).all()
    places = {each.outcome_row: place_of(each.segment_id) for each in rows}
    reasons = {each.outcome_row: each.reason or each.outcome for each in rows if each.outcome not in _IN_A_PROMPT}
    last: dict[WorkerKey, Use] = {}
    for key, use in newest_uses(outcome_uses(connection, subject.outcomes, within), places, owners).items():
        worker = key[0]
        if use[2] in reasons and key not in seen and (worker not in last or last[worker][:2] < use[:2]):
            last[worker] = use
    return {worker: reasons[use[2]] for worker, use in last.items()}
