"""The event log: append-only, numbered without gaps per run, with the task states projected beside it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Row, select, update

from aircoding.records.digests import canonical_json
from aircoding.records.events import Event
from aircoding.records.ids import RunId
from aircoding.records.jsonable import jsonable
from aircoding.records.runs import TaskState
from aircoding.store.columns import rows, table_of
from aircoding.store.database import Database
from aircoding.store.fences import RUNS, Fences
from aircoding.store.projection import command_of, moved, planned
from aircoding.store.statements import chunks, insert_rows
from aircoding.store.tables.calls import CommandRow
from aircoding.store.tables.runs import EventRow, TaskRow

__all__ = ["EventStore", "event_of", "task_state_of"]

EVENTS = table_of(EventRow)
TASKS = table_of(TaskRow)
COMMANDS = table_of(CommandRow)


class EventStore:
    """The event log (`ports.EventLog`)."""

    def __init__(self, database: Database, fences: Fences) -> None:
        self._database = database
        self._fences = fences

    def append(self, *events: Event) -> tuple[int, ...]:
        """Store events in one transaction and return their sequence numbers (that of the first where
        an event with the same run and key is there already).

        Raises:
            FencedError: another process owns the run.
            NotFoundError: the run was never recorded.
        """
        return self._database.write(lambda connection: self._append(connection, events))

    def _append(self, connection: Connection, events: Sequence[Event]) -> tuple[int, ...]:
        numbers: dict[int, int] = {}
        # Runs in one order, so that two appenders never wait for each other crosswise.
        for run_id in sorted({event.run_id for event in events}):
            own = [(place, event) for place, event in enumerate(events) if event.run_id == run_id]
            numbers |= self._append_to_run(connection, run_id, own)
        return tuple(numbers[place] for place in range(len(events)))

    def _append_to_run(
        self, connection: Connection, run_id: RunId, events: Sequence[tuple[int, Event]]
    ) -> dict[int, int]:
        last = self._fences.lock(connection, run_id)
        known = _known_keys(connection, run_id, [event.key for _, event in events if event.key is not None])
        numbers: dict[int, int] = {}
        new: list[tuple[int, Event]] = []
        for place, event in events:
            if event.key is not None and event.key in known:
                numbers[place] = known[event.key]
                continue
            last += 1
            numbers[place] = last
            new.append((last, event))
            if event.key is not None:
                known[event.key] = last
        if new:
            insert_rows(connection, EVENTS, rows(EventRow, [_values(seq, event) for seq, event in new]))
            connection.execute(update(RUNS).where(RUNS.c.run_id == run_id).values(last_seq=last))
            _project(connection, run_id, new)
        return numbers

    def read(self, run_id: str, *, after: int = 0, limit: int | None = None) -> tuple[Event, ...]:
        """Return the run's events with a sequence number above `after`, in order."""
        wanted = select(EVENTS).where(EVENTS.c.run_id == run_id, EVENTS.c.seq > after).order_by(EVENTS.c.seq)
        with self._database.read() as connection:
            return tuple(event_of(row) for row in connection.execute(wanted.limit(limit)))


def _known_keys(connection: Connection, run_id: str, keys: Sequence[str]) -> dict[str, int]:
    known: dict[str, int] = {}
    for some in chunks(keys):
        there = select(EVENTS.c.key, EVENTS.c.seq).where(EVENTS.c.run_id == run_id, EVENTS.c.key.in_(some))
        known |= {found[0]: found[1] for found in connection.execute(there)}
    return known


def _values(seq: int, event: Event) -> dict[str, Any]:
    return {
        "run_id": event.run_id,
        "seq": seq,
        "type": event.type,
        "at": event.at,
        "task_id": event.task_id,
        "attempt": event.attempt,
        "session_id": event.session_id,
        "payload": canonical_json(jsonable(event.payload)).decode("utf-8"),
        "key": event.key,
    }


def event_of(row: Row[Any]) -> Event:
    """Return the event of a row."""
    return Event(
        run_id=RunId(row.run_id),
        type=row.type,
        at=row.at,
        task_id=row.task_id,
        attempt=row.attempt,
        session_id=row.session_id,
        payload=json.loads(row.payload),
        key=row.key,
        seq=row.seq,
    )


def _project(connection: Connection, run_id: str, events: Sequence[tuple[int, Event]]) -> None:
    """Bring task states and command runs to where these events put them."""
    named = {event.task_id for _, event in events if event.task_id is not None}
    named |= {task.task_id for _, event in events for task in planned(event)}
    before: dict[str, TaskState] = {}
    for some in chunks(sorted(named)):
        found = connection.execute(select(TASKS).where(TASKS.c.run_id == run_id, TASKS.c.task_id.in_(some)))
        before |= {row.task_id: task_state_of(row) for row in found}
    after = dict(before)
    changed_at: dict[str, str] = {}
    for _, event in events:
        for task in planned(event):
            if task.task_id not in after:
                after[task.task_id], changed_at[task.task_id] = task, event.at
        state = moved(after.get(event.task_id or ""), event)
        if state is not None and state != after.get(state.task_id):
            after[state.task_id], changed_at[state.task_id] = state, event.at
    _write_states(connection, run_id, before, {task_id: (after[task_id], at) for task_id, at in changed_at.items()})
    commands = [command | {"seq": seq} for seq, event in events if (command := command_of(event)) is not None]
    insert_rows(connection, COMMANDS, rows(CommandRow, commands))


def _write_states(
    connection: Connection, run_id: str, before: dict[str, TaskState], after: dict[str, tuple[TaskState, str]]
) -> None:
    new = []
    for task_id, (state, at) in sorted(after.items()):
        values = {
            "title": state.title,
            "state": state.state,
            "attempt": state.attempt,
            "reason": state.reason,
            "commit_id": state.commit,
            "changed_at": at,
        }
        valid = rows(TaskRow, [values | {"run_id": run_id, "task_id": task_id}])[0]
        if task_id not in before:
            new.append(valid)
            continue
        which = (TASKS.c.run_id == run_id) & (TASKS.c.task_id == task_id)
        connection.execute(update(TASKS).where(which).values(**{name: valid[name] for name in values}))
    insert_rows(connection, TASKS, new)


def task_state_of(row: Row[Any]) -> TaskState:
    """Return the state of a row."""
    return TaskState(
        task_id=row.task_id,
        title=row.title,
        state=row.state,
        attempt=row.attempt,
        reason=row.reason,
        commit=row.commit_id,
    )
