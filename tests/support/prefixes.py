"""Whether the requests of a session extend one another: what keeps the prompt cache warm and thinking blocks valid."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from aircoding.context.marks import without_marks
from aircoding.records.ids import ManifestId
from aircoding.records.manifest import AssembledContext
from aircoding.store import open_store

__all__ = ["PrefixWatch", "assert_prefixes_extend", "first_difference"]


class PrefixWatch:
    """Looks at each request as it is recorded, and remembers where one did not extend the one before it."""

    def __init__(self) -> None:
        self.moves: list[str] = []
        self._last: dict[tuple[int, str], AssembledContext] = {}

    def see(self, store: object, context: AssembledContext) -> None:
        """Take in a request that `store` is about to record."""
        session, turn = context.manifest.session_id, context.manifest.turn
        before = self._last.get((id(store), session))
        if before is not None and turn <= before.manifest.turn:
            return  # the same request again, or one that the record refuses
        self._last[id(store), session] = context
        where = first_difference(before.request, context.request) if before is not None else None
        if where is not None:
            self.moves.append(f"{session}, turn {turn}: {where}")


def first_difference(before: Mapping[str, Any], now: Mapping[str, Any]) -> str | None:
    """Return where `now` does not go on as `before` did, marks removed; None when it extends it.

    A later request may add messages; nothing else.
    """
    for part in ("tools", "system"):
        if without_marks(before[part]) != without_marks(now[part]):
            return f"/{part} changed"
    old, new = without_marks(before["messages"]), without_marks(now["messages"])
    for number, message in enumerate(old):
        if number >= len(new):
            return f"/messages/{number} is gone"
        if message != new[number]:
            return f"/messages/{number} changed"
    return None


def assert_prefixes_extend(database: Path) -> int:
    """Check every session of a record; return how many pairs of requests were compared."""
    connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    rows = connection.execute("SELECT session_id, manifest_id, epoch FROM assemblies ORDER BY assembly").fetchall()
    connection.close()
    pairs = 0
    with open_store(database, read_only=True) as store:
        last: dict[tuple[str, int], Mapping[str, Any]] = {}
        for session, manifest_id, epoch in rows:
            request = store.assemblies.get(ManifestId(manifest_id)).request
            before = last.get((session, epoch))
            last[session, epoch] = request
            if before is not None:
                pairs += 1
                assert first_difference(before, request) is None, (session, first_difference(before, request))
    return pairs
