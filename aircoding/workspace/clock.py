"""The system's clock."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

__all__ = ["SystemClock"]


class SystemClock:
    """Real time, in UTC."""

    def now(self) -> str:
        """Return the present time as RFC 3339 with microseconds."""
        return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)
