"""Who owns a run: a number that grows with each owner, checked in the transaction of every write."""

from __future__ import annotations

from sqlalchemy import Connection, select, update

from aircoding.errors import FencedError, NotFoundError
from aircoding.store.columns import table_of
from aircoding.store.tables.runs import RunRow

__all__ = ["Fences"]

RUNS = table_of(RunRow)


class Fences:
    """The fences that one store holds.

    A store that never claimed a run writes beside its owner, unchecked: a person's approval, a request
    to cancel. One that did writes only while nobody claimed it later.
    """

    def __init__(self) -> None:
        self._held: dict[str, int] = {}

    def held(self, run_id: str) -> int:
        """Return the fence that this store holds (0: none)."""
        return self._held.get(run_id, 0)

    def hold(self, run_id: str, fence: int) -> None:
        """Write with this fence from now on."""
        self._held[run_id] = fence

    def advance(self, connection: Connection, run_id: str) -> int:
        """Raise the run's fence and return it; whoever held the one before writes no more.

        Raises:
            NotFoundError: no such run.
        """
        fence = connection.execute(
            update(RUNS).where(RUNS.c.run_id == run_id).values(fence=RUNS.c.fence + 1).returning(RUNS.c.fence)
        ).scalar()
        if fence is None:
            raise _no_such_run(run_id)
        return int(fence)

    def check(self, connection: Connection, run_id: str) -> None:
        """Let a write pass, and keep claims out until it is committed.

        Raises:
            FencedError: another process claimed the run after this store did.
        """
        if not self._held.get(run_id):
            return
        now = connection.execute(select(RUNS.c.fence).where(RUNS.c.run_id == run_id).with_for_update(read=True))
        self._compare(run_id, now.scalar())

    def lock(self, connection: Connection, run_id: str) -> int:
        """Let one appender at a time pass and return the number of the run's newest event.

        Raises:
            FencedError: another process claimed the run after this store did.
            NotFoundError: no such run.
        """
        found = connection.execute(
            select(RUNS.c.fence, RUNS.c.last_seq).where(RUNS.c.run_id == run_id).with_for_update(key_share=True)
        ).first()
        if found is None:
            raise _no_such_run(run_id)
        if self._held.get(run_id):
            self._compare(run_id, found.fence)
        return int(found.last_seq)

    def _compare(self, run_id: str, now: int | None) -> None:
        held = self._held[run_id]
        if now != held:
            raise FencedError(
                f"Another process took the run {run_id} over (its fence is {now}, this one holds {held}).",
                hint="Nothing more is written by this process; see `aircoding status`.",
            )


def _no_such_run(run_id: str) -> NotFoundError:
    return NotFoundError(f"There is no run {run_id}.", hint="`aircoding status` lists the runs.")
