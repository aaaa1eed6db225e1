"""Which workers saw a segment and what became of a candidate, over all runs: counted by numbers, read by the page.

Each distinct segment and outcome is stored once, so a question first finds those that a subject names, and counts
then where they came in: the turn that added them. They stand in every later turn of that epoch.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, func, or_, select

from aircoding.errors import NotFoundError
from aircoding.records.seen import SeenOutcome, SeenSegment, Worker
from aircoding.store.accounts import ASSEMBLIES, OUTCOME_USES, OUTCOMES, SEGMENT_USES, SEGMENTS, segment_names
from aircoding.store.columns import table_of
from aircoding.store.database import Database
from aircoding.store.naming import named_rows, one_of
from aircoding.store.outcome_groups import newest_of_groups, read_groups
from aircoding.store.seen_rows import SEEN_OUTCOMES, SEEN_SEGMENTS, seen_outcome, seen_segment
from aircoding.store.statements import chunks
from aircoding.store.tables.runs import TaskRow
from aircoding.store.uses import assemblies_with, segment_uses
from aircoding.store.verdicts import SubjectRows, WorkerKey, WorkerVerdict, worker_verdicts
from aircoding.store.within import EVERYWHERE, RUNS, Within, narrowed

__all__ = ["Named", "OutcomeGroup", "Sightings"]

TASKS = table_of(TaskRow)
_FIRST = (ASSEMBLIES.c.session_id, ASSEMBLIES.c.manifest_id)


class Named(NamedTuple):
    """A distinct segment or outcome: its row's number, and what it is of (the digests are empty for an outcome)."""

    number: int
    segment_id: str
    uri: str
    rule_id: str | None
    source_digest: str = ""
    text_digest: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeGroup:
    """Outcomes that are told as one (`audit.considerations.group_of`): the newest of them, and how many there are."""

    newest: SeenOutcome
    sessions: int
    runs: int
    variants: int


class Sightings:
    """Reads over all of the record."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def newest_run(self) -> str:
        """Return the id of the run that was started last here; one that was imported only where there is no other.

        Raises:
            NotFoundError: there is none.
        """
        columns = (RUNS.c.run_id, RUNS.c.created_at, RUNS.c.imported_at)
        with self._database.read() as connection:
            found = connection.execute(select(*columns)).all()
        if not found:
            raise NotFoundError("no run is on record", hint="start with `aircoding run`")
        newest = max(found, key=lambda each: (each.imported_at is None, each.created_at, each.run_id))
        return str(newest.run_id)

    def runs_without_texts(self) -> int:
        """Return how many runs have let their texts go."""
        query = select(func.count()).select_from(RUNS).where(RUNS.c.texts_let_go_at.is_not(None))
        with self._database.read() as connection:
            return int(connection.execute(query).scalar_one())

    def has_run(self, run_id: str) -> bool:
        """Whether there is such a run."""
        with self._database.read() as connection:
            return connection.execute(select(RUNS.c.run_id).where(RUNS.c.run_id == run_id)).first() is not None

    def taken_in(self) -> dict[str, str]:
        """Return the runs that were imported, each with the commit that it began at."""
        query = select(RUNS.c.run_id, RUNS.c.base_commit).where(RUNS.c.imported_at.is_not(None))
        with self._database.read() as connection:
            return {each.run_id: each.base_commit for each in connection.execute(query)}

    def tasks(self, run_id: str) -> tuple[str, ...]:
        """Return the tasks of a run that an event named, sorted."""
        with self._database.read() as connection:
            return tuple(sorted(connection.execute(select(TASKS.c.task_id).where(TASKS.c.run_id == run_id)).scalars()))

    def roles(self, run_id: str | None) -> tuple[str, ...]:
        """Return the roles that have prompts in a run, or in any run, sorted."""
        return self._distinct("role", run_id)

    def sessions(self, run_id: str | None) -> tuple[str, ...]:
        """Return the sessions that have prompts in a run, or in any run, sorted."""
        return self._distinct("session_id", run_id)

    def _distinct(self, column: str, run_id: str | None) -> tuple[str, ...]:
        query = narrowed(select(ASSEMBLIES.c[column]).distinct(), ASSEMBLIES.c, Within(run_id=run_id))
        with self._database.read() as connection:
            return tuple(sorted(connection.execute(query).scalars()))

    def segments_named(self, subject: str) -> tuple[Named, ...]:
        """Return the distinct segments that a subject may mean (more than it means, never less)."""
        with self._database.read() as connection:
            return tuple(
                Named(each.segment, segment_id, each.uri, each.rule_id, source_digest, each.text_digest)
                for each in named_rows(connection, SEGMENTS, subject)
                for segment_id, source_digest in (segment_names(each),)
            )

    def outcomes_named(self, subject: str) -> tuple[Named, ...]:
        """Return the distinct outcomes of what a subject may mean."""
        with self._database.read() as connection:
            return tuple(
                Named(each.outcome_row, each.segment_id, each.uri, each.rule_id)
                for each in named_rows(connection, OUTCOMES, subject)
            )

    def names(self, within: Within = EVERYWHERE) -> frozenset[str]:
        """Return the names of all files and rules that were considered: paths as a person writes them, rule ids.

        Of one run those that its workers were offered; of many those of all runs.
        """
        query = select(OUTCOMES.c.uri, OUTCOMES.c.rule_id).distinct()
        if within.run_id is not None:
            query = query.join(OUTCOME_USES, OUTCOME_USES.c.outcome_row == OUTCOMES.c.outcome_row)
            query = query.join(ASSEMBLIES, ASSEMBLIES.c.assembly == OUTCOME_USES.c.assembly)
            query = query.where(ASSEMBLIES.c.run_id == within.run_id)
        with self._database.read() as connection:
            is_ordered = connection.dialect.name == "sqlite"
            files = or_(OUTCOMES.c.uri < "air:", OUTCOMES.c.uri >= "air;")
            found = connection.execute(query.where(files if is_ordered else OUTCOMES.c.uri.notlike("air:%"))).all()
        paths = {each.uri.removeprefix("project:") for each in found}
        return frozenset(paths | {each.rule_id for each in found if each.rule_id})

    def outcomes_of(self, segment_ids: Collection[str]) -> frozenset[int]:
        """Return the distinct outcomes of candidates."""
        numbers: set[int] = set()
        with self._database.read() as connection:
            for some in chunks(sorted(segment_ids)):
                query = select(OUTCOMES.c.outcome_row).where(OUTCOMES.c.segment_id.in_(some))
                numbers.update(connection.execute(query).scalars())
        return frozenset(numbers)

    def outcome_groups(
        self, numbers: Collection[int], within: Within = EVERYWHERE, *, limit: int | None = None, offset: int = 0
    ) -> tuple[tuple[OutcomeGroup, ...], int, int]:
        """Return what became of candidates, of each session the last, as groups; how many groups, how many sessions.

        The groups stand in the order of `audit.considerations.order_of`.
        """
        with self._database.read() as connection:
            groups = read_groups(connection, numbers, within)
            page = groups[offset : None if limit is None else offset + limit]
            newest = newest_of_groups(connection, numbers, page)
        told = tuple(
            OutcomeGroup(newest=seen, sessions=each.sessions, runs=len(each.runs), variants=len(each.rows))
            for each, seen in zip(page, newest, strict=True)
        )
        return told, len(groups), sum(each.sessions for each in groups)

    def verdicts(self, subject: SubjectRows, within: Within = EVERYWHERE) -> list[WorkerVerdict]:
        """Return of each worker whether it saw a subject, those of the newest run first, then by task and role."""
        with self._database.read() as connection:
            return worker_verdicts(connection, subject, within)

    def workers(self, keys: Sequence[WorkerKey], within: Within = EVERYWHERE) -> tuple[Worker, ...]:
        """Return workers by their keys, with those of their sessions that are within, in the order of their beginning.

        The same `within` as that of `verdicts`: else a worker would be told by what another of its sessions saw.
        """
        query: Select[Any] = select(ASSEMBLIES.c.run_id, ASSEMBLIES.c.task_id, ASSEMBLIES.c.role, *_FIRST)
        query = narrowed(query, ASSEMBLIES.c, within)
        found: dict[WorkerKey, dict[str, str]] = {key: {} for key in keys}
        with self._database.read() as connection:
            for runs in chunks(sorted({key[0] for key in keys})):
                theirs = query.where(ASSEMBLIES.c.run_id.in_(runs), ASSEMBLIES.c.role.in_({key[2] for key in keys}))
                for run, task, role, session, manifest in connection.execute(theirs.order_by(ASSEMBLIES.c.assembly)):
                    sessions = found.get((run, task or "", role))
                    if sessions is not None:
                        sessions.setdefault(session, manifest)
        return tuple(
            Worker(
                run_id=run_id,
                task_id=task or None,
                role=role,
                session_ids=tuple(sessions),
                manifest_id=next(iter(sessions.values())),
            )
            for (run_id, task, role), sessions in found.items()
        )

    def of_workers(
        self, workers: Sequence[Worker], segments: Collection[int], outcomes: Collection[int]
    ) -> tuple[tuple[SeenSegment, ...], tuple[SeenOutcome, ...]]:
        """Return which of these segments and outcomes came in with the assemblies of a page of workers."""
        sessions = sorted({session for worker in workers for session in worker.session_ids})
        if not sessions:
            return (), ()
        theirs = ASSEMBLIES.c.session_id.in_(sessions)
        with self._database.read() as connection:
            saw = connection.execute(
                SEEN_SEGMENTS.where(theirs, one_of(SEGMENT_USES.c.segment, segments, few_assemblies=True))
            )
            seen = tuple(seen_segment(each) for each in saw)
            told = connection.execute(
                SEEN_OUTCOMES.where(theirs, one_of(OUTCOME_USES.c.outcome_row, outcomes, few_assemblies=True))
            )
            return seen, tuple(seen_outcome(each) for each in told)

    def places(
        self, segments: Collection[int], within: Within = EVERYWHERE, *, limit: int | None = None, offset: int = 0
    ) -> tuple[tuple[SeenSegment, ...], int, int]:
        """Return where segments came in, the newest first; how many times in all, and with how many sessions."""
        with self._database.read() as connection:
            inside = assemblies_with(connection, [ASSEMBLIES.c.session_id], within, segments=segments)
            uses = [use[:2] for use in segment_uses(connection, segments, within) if use[0] in inside]
            uses.sort(key=lambda use: (-use[0], use[1]))
            page = uses[offset : None if limit is None else offset + limit]
            return _placed(connection, page), len(uses), len({inside[assembly] for assembly, _ in uses})

    def last_of_epochs(self, within: Within = EVERYWHERE) -> tuple[str, ...]:
        """Return the last assembly of each epoch of each session: together they hold all that was ever sent."""
        last = narrowed(
            select(func.max(ASSEMBLIES.c.assembly)).group_by(ASSEMBLIES.c.session_id, ASSEMBLIES.c.epoch),
            ASSEMBLIES.c,
            within,
        )
        query = select(ASSEMBLIES.c.manifest_id).where(ASSEMBLIES.c.assembly.in_(last)).order_by(ASSEMBLIES.c.assembly)
        with self._database.read() as connection:
            return tuple(connection.execute(query).scalars())


def _placed(connection: Connection, page: Sequence[tuple[int, int]]) -> tuple[SeenSegment, ...]:
    """Return the segments at places, an assembly and a position in its list, in the order given."""
    found: dict[tuple[int, int], SeenSegment] = {}
    wanted = frozenset(page)
    query = SEEN_SEGMENTS.add_columns(SEGMENT_USES.c.assembly, SEGMENT_USES.c.position)
    # By the assembly alone: SQLite looks up no pairs in an index, but reads the whole table for them.
    for some in chunks(sorted({assembly for assembly, _ in page})):
        for each in connection.execute(query.where(SEGMENT_USES.c.assembly.in_(some))):
            place = (each.assembly, each.position)
            if place in wanted:
                found[place] = seen_segment(each)
    return tuple(found[place] for place in page)
