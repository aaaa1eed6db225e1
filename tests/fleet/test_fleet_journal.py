"""What one process knows of the log: read once, and forgotten when an attempt has ended."""

from __future__ import annotations

from dataclasses import replace

from fleet.histories import BASE, RUN, event

from aircoding.fleet.journal import Journal
from aircoding.records.events import Event


class Log:
    """An event log in memory that counts what is read of it."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.read_events = 0

    def append(self, *events: Event) -> tuple[int, ...]:
        for one in events:
            self.events.append(replace(one, seq=len(self.events) + 1, key=f"{one.type}:{one.attempt}"))
        return tuple(one.seq for one in self.events[-len(events) :])

    def read(self, run_id: str, *, after: int = 0, limit: int | None = None) -> tuple[Event, ...]:
        assert run_id == RUN
        found = tuple(self.events[after:][:limit])
        self.read_events += len(found)
        return found


def test_each_event_is_read_once_however_often_the_state_is_asked_for() -> None:
    log = Log()
    journal = Journal(log, RUN)
    log.append(event("task.dispatched", "a", 1, base_commit=BASE))
    for _ in range(5):
        assert journal.state.task("a").running
    log.append(event("task.blocked", "a", reason="no"))

    assert journal.state.task("a").state == "blocked"
    assert journal.find("task.dispatched:1", task="a", attempt=1) is not None
    assert log.read_events == 2


def test_rows_are_found_by_key_within_their_own_attempt_alone() -> None:
    log = Log()
    journal = Journal(log, RUN)
    log.append(
        event("verify.finished", "a", 1, passed=True),
        event("verify.finished", "b", 1, passed=False),
        event("worktree.prepared"),
    )

    found = journal.find("verify.finished:1", task="b", attempt=1)

    assert found is not None
    assert found.payload["passed"] is False
    assert journal.find("verify.finished:1", task="b", attempt=2) is None
    assert journal.find("worktree.prepared:None") is not None


def test_rows_of_an_attempt_are_forgotten_when_it_has_ended() -> None:
    log = Log()
    journal = Journal(log, RUN)
    log.append(event("task.dispatched", "a", 1, base_commit=BASE), event("commit.created", "a", 1, commit="c"))
    assert journal.find("commit.created:1", task="a", attempt=1) is not None
    log.append(event("attempt.finished", "a", 1, outcome="failed", reason="red"))

    assert journal.find("commit.created:1", task="a", attempt=1) is None
    assert journal.state.task("a").state == "waiting"
