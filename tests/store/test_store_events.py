"""Events are numbered without gaps, stored once by key, and put the tasks where they say."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st
from support.records import RUN, SESSION, brief, event, run

from aircoding.errors import FencedError, NotFoundError
from aircoding.records.events import Event
from aircoding.records.ids import RunId
from aircoding.records.runs import TaskState
from aircoding.store import Store
from aircoding.store.database import connect_database
from aircoding.store.projection import moved


@pytest.fixture
def begun(store: Store) -> Store:
    """A store with a run in it."""
    store.runs.create(run())
    return store


def test_events_come_back_in_order_as_they_were(begun: Store) -> None:
    first = event("run.started", note={"a": [1, None, "ü\x00\ud7ff"], "b": 2.5})
    second = event("task.dispatched", "T1", attempt=1, base_commit="c0")
    assert begun.events.append(first, second) == (1, 2)
    assert begun.events.append(event("run.finished")) == (3,)
    found = begun.events.read(RUN)
    assert [each.seq for each in found] == [1, 2, 3]
    assert dict(found[0].payload) == dict(first.payload)
    assert [each.type for each in begun.events.read(RUN, after=1, limit=1)] == ["task.dispatched"]
    assert begun.events.read(RUN, after=3) == ()
    assert begun.events.append() == ()


def test_a_key_is_stored_once_within_its_run(begun: Store) -> None:
    begun.runs.create(run("r2"))
    once = event("task.dispatched", "T1", key="dispatch:T1:1")
    assert begun.events.append(once, event("other"), once) == (1, 2, 1)
    assert begun.events.append(event("third"), once) == (3, 1)
    assert begun.events.append(Event(run_id=RunId("r2"), type="x", at="", key="dispatch:T1:1")) == (1,)
    assert len(begun.events.read(RUN)) == 3


def test_events_of_two_runs_in_one_transaction_are_numbered_apart(begun: Store) -> None:
    begun.runs.create(run("r0"))
    other = Event(run_id=RunId("r0"), type="x", at="")
    assert begun.events.append(event("a"), other, event("b"), other) == (1, 1, 2, 2)


def test_an_event_of_an_unknown_run_is_refused(store: Store) -> None:
    with pytest.raises(NotFoundError, match="no run r1"):
        store.events.append(event("run.started"))
    assert store.events.read(RUN) == ()


def test_tasks_stand_where_the_events_put_them(begun: Store) -> None:
    begun.events.append(event("run.started", tasks=[{"id": "T1", "title": "Items"}, {"id": "T2", "title": "Docs"}]))
    assert [(each.task_id, each.title, each.state) for each in begun.runs.task_states(RUN)] == [
        ("T1", "Items", "waiting"),
        ("T2", "Docs", "waiting"),
    ]
    begun.events.append(event("task.dispatched", "T1", attempt=1), event("task.dispatched", "T3", attempt=1))
    begun.events.append(event("attempt.finished", "T1", attempt=1, outcome="failed", reason="verify failed"))
    begun.events.append(event("task.blocked", "T3", reason="a conflict"))
    assert begun.runs.task_states(RUN) == (
        TaskState(task_id="T1", title="Items", state="waiting", attempt=1, reason="verify failed"),
        TaskState(task_id="T2", title="Docs", state="waiting", attempt=0),
        TaskState(task_id="T3", title="T3", state="blocked", attempt=1, reason="a conflict"),
    )
    begun.events.append(event("task.dispatched", "T1", attempt=2), event("task.done", "T1", attempt=2, commit="c1"))
    begun.events.append(event("task.failed", "T2", reason="gave up"))
    done, failed, _ = begun.runs.task_states(RUN)
    assert (done.state, done.attempt, done.reason, done.commit) == ("done", 2, "", "c1")
    assert (failed.state, failed.reason) == ("failed", "gave up")


def test_an_event_that_is_there_already_moves_no_task(begun: Store) -> None:
    dispatched = event("task.dispatched", "T1", key="d1", attempt=1)
    begun.events.append(dispatched, event("task.done", "T1", commit="c1"))
    begun.events.append(dispatched)
    assert begun.runs.task_states(RUN)[0].state == "done"


def test_a_session_gives_its_task_a_title(begun: Store) -> None:
    begun.events.append(event("task.dispatched", "T1", attempt=1))
    begun.sessions.open(brief(SESSION))
    assert begun.runs.task_states(RUN)[0].title == "Items"


def test_commands_of_verification_are_listed(begun: Store, database_url: str) -> None:
    begun.events.append(
        event("verify.finished", "T1", attempt=1, passed=False, command="make test", exit_code=2, where="attempt"),
        event("verify.finished", "T1", attempt=1, passed=True, command="make test", exit_code=0, where="integration"),
        event("verify.finished", "T1", attempt=1, passed=True),
    )
    database = connect_database(database_url)
    with database.read() as connection:
        found = connection.execute(
            sa.text("SELECT purpose, place, command, exit_code, passed FROM command_runs ORDER BY seq")
        ).all()
    database.close()
    assert [tuple(each) for each in found] == [
        ("verify", "attempt", "make test", 2, 0),
        ("verify", "integration", "make test", 0, 1),
    ]


def test_a_batch_is_stored_whole_or_not_at_all(begun: Store, opener: Callable[[], Store]) -> None:
    begun.claim(RUN)
    opener().claim(RUN)
    with pytest.raises(FencedError):
        begun.events.append(event("a"), event("task.dispatched", "T1"))
    assert begun.events.read(RUN) == ()
    assert begun.runs.task_states(RUN) == ()


TYPES = ["task.dispatched", "attempt.finished", "task.done", "task.failed", "task.blocked", "review.finished"]


@given(st.lists(st.tuples(st.sampled_from(TYPES), st.sampled_from(["done", "failed", "sent_back", "blocked"]))))
def test_the_last_telling_event_decides(told: list[tuple[str, str]]) -> None:
    state: TaskState | None = None
    expected = "waiting"
    for type_, outcome in told:
        state = moved(state, event(type_, "T1", attempt=1, outcome=outcome))
        if type_ == "attempt.finished":
            expected = "waiting" if outcome in {"failed", "sent_back"} else expected
        else:
            expected = {"task.dispatched": "running"}.get(
                type_, type_.split(".")[1] if type_ in TYPES[2:5] else expected
            )
    assert state is None or state.state == expected
    assert moved(None, event("run.finished")) is None
