"""Runs and where their tasks stand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlalchemy import Connection, Row, select, update

from aircoding.errors import NotFoundError
from aircoding.records.ids import Digest, RunId
from aircoding.records.jsonable import jsonable
from aircoding.records.runs import Run, TaskState
from aircoding.store.columns import row
from aircoding.store.database import Database
from aircoding.store.events import TASKS, task_state_of
from aircoding.store.fences import RUNS, Fences
from aircoding.store.statements import insert_new
from aircoding.store.tables.runs import RunRow

__all__ = ["RunStore", "run_of"]

_UNFINISHED = frozenset({"running", "interrupted"})


class RunStore:
    """The run log (`ports.RunLog`)."""

    def __init__(self, database: Database, fences: Fences, now: Callable[[], str]) -> None:
        self._database = database
        self._fences = fences
        self._now = now

    def create(self, run: Run) -> None:
        """Record a run; the same run again changes nothing."""
        values = row(RunRow, **jsonable(run))
        self._database.write(lambda connection: insert_new(connection, RUNS, [values]), durable=True)

    def get(self, run_id: str) -> Run:
        """Return a run.

        Raises:
            NotFoundError: no such run.
        """
        with self._database.read() as connection:
            found = connection.execute(select(RUNS).where(RUNS.c.run_id == run_id)).first()
        if found is None:
            raise NotFoundError(f"There is no run {run_id}.", hint="`aircoding status` lists the runs.")
        return run_of(found)

    def runs(self) -> tuple[Run, ...]:
        """Return all runs, newest first."""
        with self._database.read() as connection:
            found = [run_of(each) for each in connection.execute(select(RUNS))]
        # Sorted here: PostgreSQL orders text by the collation of the database.
        return tuple(sorted(found, key=lambda run: (run.created_at, run.run_id), reverse=True))

    def finish(self, run_id: str, status: str) -> None:
        """Set the status of a run (and `finished_at`, unless it is interrupted or running).

        Raises:
            FencedError: another process owns the run.
            NotFoundError: no such run.
        """
        finished_at = None if status in _UNFINISHED else self._now()
        change = update(RUNS).where(RUNS.c.run_id == run_id).values(status=status, finished_at=finished_at)

        def body(connection: Connection) -> None:
            self._fences.lock(connection, run_id)
            connection.execute(change)

        self._database.write(body, durable=True)

    def set_limit(self, run_id: str, max_cost_usd: float) -> None:
        """Give a run another limit of money, which holds for every resume from now on.

        Raises:
            FencedError: another process owns the run.
        """
        change = update(RUNS).where(RUNS.c.run_id == run_id).values(max_cost_usd=max_cost_usd)

        def body(connection: Connection) -> None:
            self._fences.lock(connection, run_id)
            connection.execute(change)

        self._database.write(body, durable=True)

    def task_states(self, run_id: str) -> tuple[TaskState, ...]:
        """Return the state of each task that an event named, in task id order."""
        wanted = select(TASKS).where(TASKS.c.run_id == run_id)
        with self._database.read() as connection:
            states = [task_state_of(found) for found in connection.execute(wanted)]
        return tuple(sorted(states, key=lambda state: state.task_id))


def run_of(found: Row[Any]) -> Run:
    """Return the run of a row."""
    return Run(
        run_id=RunId(found.run_id),
        goal=found.goal,
        status=found.status,
        created_at=found.created_at,
        project_root=found.project_root,
        base_commit=found.base_commit,
        target_branch=found.target_branch,
        integration_branch=found.integration_branch,
        provider=found.provider,
        model=found.model,
        concurrency=found.concurrency,
        plan_digest=Digest(found.plan_digest),
        run_revision=found.run_revision,
        max_cost_usd=found.max_cost_usd,
        finished_at=found.finished_at,
        sandbox=found.sandbox,
        confined=found.confined,
        profile=found.profile,
        imported_at=found.imported_at,
        imported_from=None if found.imported_from is None else Digest(found.imported_from),
        bodies=found.bodies,
        texts_let_go_at=found.texts_let_go_at,
    )
