"""What stands in the index of the record: heads of assemblies, sessions and tool calls, rows by table."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import ColumnElement, Row, func, or_, select

from aircoding.records.calls import ToolHead
from aircoding.records.ids import OF_RUN, SessionId, ToolKey
from aircoding.records.manifest import AssemblyHead
from aircoding.records.policy import Effect
from aircoding.records.sessions import SessionHead
from aircoding.store.columns import table_of
from aircoding.store.database import Database
from aircoding.store.describe import row_counts
from aircoding.store.tables.assemblies import AssemblyRow
from aircoding.store.tables.calls import ToolRunRow
from aircoding.store.tables.sessions import SessionRow

__all__ = ["Index"]

ASSEMBLIES = table_of(AssemblyRow)
SESSIONS = table_of(SessionRow)
TOOLS = table_of(ToolRunRow)


def _within(**wanted: str | int | None) -> list[ColumnElement[bool]]:
    """Return conditions on columns; None asks about all."""
    found = [ASSEMBLIES.c[name] == value for name, value in wanted.items() if value not in (None, OF_RUN)]
    if wanted["task_id"] == OF_RUN:  # what others recorded may have no task at all
        found.append(or_(ASSEMBLIES.c.task_id == OF_RUN, ASSEMBLIES.c.task_id.is_(None)))
    return found


class Index:
    """Reads that need no texts."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def manifest_ids(self, *, prefix: str, limit: int) -> tuple[str, ...]:
        """Return the ids of assemblies that begin with `prefix`."""
        column = ASSEMBLIES.c.manifest_id
        query = select(column).where(column.startswith(prefix, autoescape=True)).order_by(column).limit(limit)
        with self._database.read() as connection:
            return tuple(connection.execute(query).scalars())

    def heads(
        self,
        *,
        run_id: str | None = None,
        task_id: str | None = None,
        role: str | None = None,
        session_id: str | None = None,
        turn: int | None = None,
        limit: int | None = None,
        offset: int = 0,
        newest_first: bool = False,
    ) -> tuple[AssemblyHead, ...]:
        """Return heads in the order in which they were recorded, or the newest first.

        The task `records.ids.OF_RUN` stands for the run itself: sessions that belong to no task.
        """
        names = [name for name in AssemblyHead.__slots__ if name != "tokens"]
        query = select(*(ASSEMBLIES.c[name] for name in names), ASSEMBLIES.c.tokens_expected.label("tokens"))
        query = query.where(*_within(run_id=run_id, task_id=task_id, role=role, session_id=session_id, turn=turn))
        order = ASSEMBLIES.c.assembly.desc() if newest_first else ASSEMBLIES.c.assembly
        query = query.order_by(order).limit(limit).offset(offset)
        with self._database.read() as connection:
            return tuple(AssemblyHead(**found._mapping) for found in connection.execute(query))

    def count(self, *, run_id: str | None = None, task_id: str | None = None, role: str | None = None) -> int:
        """Return how many assemblies there are."""
        query = select(func.count()).select_from(ASSEMBLIES).where(*_within(run_id=run_id, task_id=task_id, role=role))
        with self._database.read() as connection:
            return int(connection.execute(query).scalar_one())

    def sessions(self, run_id: str) -> tuple[SessionHead, ...]:
        """Return the run's sessions in the order in which they were opened."""
        query = select(*(SESSIONS.c[name] for name in SessionHead.__slots__)).where(SESSIONS.c.run_id == run_id)
        with self._database.read() as connection:
            heads = [SessionHead(**found._mapping) for found in connection.execute(query)]
        return tuple(sorted(heads, key=lambda head: (head.opened_at, head.session_id)))

    def tools(self, session_id: SessionId) -> tuple[ToolHead, ...]:
        """Return the session's tool calls in order."""
        query = select(*_TOOL_COLUMNS).where(TOOLS.c.session_id == session_id)
        with self._database.read() as connection:
            return tuple(
                _tool_of(found) for found in connection.execute(query.order_by(TOOLS.c.turn, TOOLS.c.position))
            )

    def row_counts(self) -> Mapping[str, int]:
        """Return how many rows each table holds."""
        with self._database.read() as connection:
            return row_counts(connection)


_TOOL_NAMES = ("tool_key", "session_id", "turn", "position", "tool_use_id", "name", "state", "decision", "is_error")
_TOOL_COLUMNS = tuple(TOOLS.c[name] for name in (*_TOOL_NAMES, "started_at", "finished_at"))


def _tool_of(found: Row[Any]) -> ToolHead:
    return ToolHead(
        key=ToolKey(found.tool_key),
        session_id=SessionId(found.session_id),
        turn=found.turn,
        index=found.position,
        tool_use_id=found.tool_use_id,
        name=found.name,
        state=found.state,
        effect=None if found.decision is None else Effect(json.loads(found.decision)["effect"]),
        is_error=found.is_error,
        started_at=found.started_at,
        finished_at=found.finished_at,
    )
