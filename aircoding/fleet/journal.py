"""What one process knows of a run's log: the state so far, and the rows of attempts that go on.

The log is the truth and is read only once: each look takes in what is new since the last.
"""

from __future__ import annotations

from aircoding.fleet.state import FleetState, fold
from aircoding.ports import EventLog
from aircoding.records.events import Event

__all__ = ["Journal"]


class Journal:
    """A cached projection of the log of one run; forgets the rows of an attempt when it has ended."""

    def __init__(self, events: EventLog, run_id: str) -> None:
        self._events = events
        self._run_id = run_id
        self._seen = 0
        self._state = FleetState()
        self._rows: dict[tuple[str | None, int | None], dict[str, Event]] = {}

    @property
    def state(self) -> FleetState:
        """Where the run stands now."""
        self._refresh()
        return self._state

    def find(self, key: str, *, task: str | None = None, attempt: int | None = None) -> Event | None:
        """Return the event of that key, or None; events of attempts that have ended are not found."""
        self._refresh()
        return self._rows.get((task, attempt), {}).get(key)

    def _refresh(self) -> None:
        new = self._events.read(self._run_id, after=self._seen)
        if not new:
            return
        self._seen = new[-1].seq
        self._state = fold(new, self._state)
        for event in new:
            place = (event.task_id, event.attempt)
            if event.type == "attempt.finished":
                self._rows.pop(place, None)
            elif event.key is not None:
                self._rows.setdefault(place, {})[event.key] = event
