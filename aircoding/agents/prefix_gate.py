"""Leader first: one call per shared prefix goes ahead, the others start when its response begins (DESIGN section 9).

An entry of the provider's prompt cache can be read only after the response that writes it has begun (Anthropic prompt
caching, read 2026-08). Workers that start together would each pay for writing the prefix that they share.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from aircoding.records.manifest import AssembledContext

__all__ = ["LIFE_SECONDS", "PATIENCE_SECONDS", "Passage", "PrefixGate", "PrefixKey", "shared_prefix"]

LIFE_SECONDS = 300.0
"""How long an entry lives after the start of the request that wrote or read it last (as above)."""

PATIENCE_SECONDS = 60.0
"""How long one call waits for leaders in all; a guess: longer than a first token takes, shorter than a time-out."""

PrefixKey = tuple[str, str]
"""Model and digest of the prefix."""


def shared_prefix(context: AssembledContext) -> PrefixKey | None:
    """Return the prefix that a request shares with other workers: up to the last mark in `system`, or None."""
    marks = [mark for mark in context.manifest.cache if mark.mark.startswith("/system/")]
    return (context.manifest.model, marks[-1].prefix_digest) if marks else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """One call on its way: `began` is to be called when its response begins.

    `overdue_seconds` is set where the call waited that long for a leader's response, and went ahead without it.
    """

    began: Callable[[], None] = lambda: None
    overdue_seconds: float | None = None


class PrefixGate:
    """Which prefixes of this process are warm, and who leads where one is not. For one event loop.

    Args:
        seconds: returns the time in seconds, by a clock that never goes back.
        patience_seconds: how long a call waits for leaders in all.
    """

    def __init__(self, seconds: Callable[[], float], *, patience_seconds: float = PATIENCE_SECONDS) -> None:
        self._seconds = seconds
        self._patience_seconds = patience_seconds
        self._warm_until: dict[PrefixKey, float] = {}
        self._leaders: dict[PrefixKey, asyncio.Event] = {}

    @asynccontextmanager
    async def passing(self, key: PrefixKey | None) -> AsyncIterator[Passage]:
        """Wait for a turn to call, and hold it while the call is made inside.

        A leader whose call ends before its response began, by failure or cancellation, makes way for the next.
        """
        if key is None:
            yield Passage()
            return
        overdue = not await self._wait(key)
        own = None if self._is_warm(key) else asyncio.Event()
        if own is not None:
            self._leaders[key] = own
        started_at = self._seconds()

        def began() -> None:
            self._warm_until[key] = max(self._warm_until.get(key, 0.0), started_at + LIFE_SECONDS)
            for event in (own, self._leaders.pop(key, None)):
                if event is not None:
                    event.set()

        try:
            yield Passage(began=began, overdue_seconds=self._patience_seconds if overdue else None)
        finally:
            if own is not None:
                own.set()
                if self._leaders.get(key) is own:
                    del self._leaders[key]

    def _is_warm(self, key: PrefixKey) -> bool:
        return self._seconds() < self._warm_until.get(key, 0.0)

    async def _wait(self, key: PrefixKey) -> bool:
        """Wait while the prefix is cold and somebody leads; False where that took too long."""
        try:
            async with asyncio.timeout(self._patience_seconds):
                while not self._is_warm(key) and (leader := self._leaders.get(key)) is not None:
                    await leader.wait()
        except TimeoutError:
            return False
        return True
