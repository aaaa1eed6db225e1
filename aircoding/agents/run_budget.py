"""The money of a run, as its sessions meet it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from aircoding.records.ids import SessionId

__all__ = ["RunBudget"]


class RunBudget:
    """The money of a run: holds sessions back, each before its next call, once the limit is reached.

    A session that is held has not ended. Whoever drives the run waits until all are held, suspends them there, and
    they go on at the next resume. Calls that were under way when the limit was reached are still paid for: the run
    may go beyond its limit by one call of each session.

    Args:
        limit_usd: what the run may spend; None: no limit.
        spent_usd: returns what it has spent.
    """

    def __init__(self, limit_usd: float | None, spent_usd: Callable[[], float]) -> None:
        self._limit_usd = limit_usd
        self._spent_usd = spent_usd
        self._held: set[SessionId] = set()
        self._changed = asyncio.Event()

    @property
    def reached(self) -> bool:
        """Whether no call may be begun any more."""
        return self._limit_usd is not None and self._spent_usd() >= self._limit_usd

    async def admit(self, session: SessionId) -> None:
        """Return at once while money is left; else never, until the session is cancelled."""
        if not self.reached:
            return
        self._held.add(session)
        self._changed.set()
        try:
            await asyncio.Event().wait()
        finally:
            self._held.discard(session)

    async def held(self, count: int) -> None:
        """Wait until `count` sessions are held."""
        while len(self._held) < count:
            self._changed.clear()
            await self._changed.wait()
