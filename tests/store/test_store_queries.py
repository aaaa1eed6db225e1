"""The audit finds who saw what, what was left out, and what it cost; people find the same in the views."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import sqlalchemy as sa
from support.contexts import snapshot
from support.records import RUN, call, event, run
from support.said import HEARD, RULE, SAID

from aircoding.context.assembler import assemble
from aircoding.records.calls import Reply
from aircoding.records.conflicts import Conflict, ConflictKind, Route
from aircoding.records.ids import SessionId
from aircoding.records.manifest import AssembledContext
from aircoding.records.snapshot import Message
from aircoding.records.usage import Cost, Usage
from aircoding.store import Store
from aircoding.store.database import connect_database


def record(
    store: Store, task: str, role: str = "executor", *, touched: bool, messages: tuple[Message, ...] = ()
) -> AssembledContext:
    """Record a first turn of a task's session; its rule is in only where docs were touched."""
    paths = ("docs/a.md",) if touched else ()
    given = snapshot(RULE, messages=messages, touched_paths=paths)
    asked = replace(given.request, session_id=f"r1:{task}:1:{role}:1", task_id=task, role=role)
    given = replace(given, request=asked)
    context = assemble(given)
    assert isinstance(context, AssembledContext)
    store.assemblies.record(context, snapshot=given)
    return context


@pytest.fixture
def fleet(store: Store) -> Store:
    """Two executors of which one saw the rule, and a reviewer who did."""
    store.runs.create(run())
    record(store, "T1", touched=True, messages=(SAID, HEARD))
    record(store, "T2", touched=False)
    record(store, "T1", "reviewer", touched=True)
    return store


def test_heads_are_listed_by_task_and_role(fleet: Store) -> None:
    assert [head.task_id for head in fleet.index.heads(run_id=RUN, role="executor")] == ["T1", "T2"]
    assert [head.role for head in fleet.index.heads(task_id="T1")] == ["executor", "reviewer"]
    (second,) = fleet.index.heads(limit=1, offset=1)
    assert second.task_id == "T2"
    assert fleet.index.manifest_ids(prefix=second.manifest_id[:12], limit=2) == (second.manifest_id,)
    assert fleet.index.manifest_ids(prefix="m-%", limit=2) == ()


def pay(store: Store, session: str, turn: int, usd: float | None) -> None:
    made = call(turn, SessionId(session))
    store.calls.intend(made)
    usage = Usage(input_tokens=10, output_tokens=2, cache_read_tokens=90)
    reply = Reply(content=(), stop_reason="end_turn", usage=usage, model="m")
    store.calls.commit(made.key, 0, reply, Cost(usd=usd, price_source=""))


def test_costs_by_task_and_role(fleet: Store) -> None:
    pay(fleet, "r1:T1:1:executor:1", 1, 0.5)
    pay(fleet, "r1:T1:1:executor:1", 2, 0.25)
    pay(fleet, "r1:T1:1:reviewer:1", 1, None)
    fleet.calls.intend(call(1, SessionId("r1:T2:1:executor:1")))
    fleet.calls.intend(call(1, SessionId("r1:T2:1:executor:1")))
    executor, reviewer, other = fleet.queries.costs(RUN)
    assert (executor.role, executor.committed, executor.cost_usd, executor.cache_read_tokens) == (
        "executor",
        2,
        0.75,
        180,
    )
    assert (reviewer.role, reviewer.unpriced, reviewer.cost_usd) == ("reviewer", 1, 0.0)
    assert (other.task_id, other.tries, other.abandoned, other.maybe_billed, other.committed) == ("T2", 2, 1, 1, 0)
    assert len(fleet.queries.calls(run_id=RUN)) == 5
    assert [each.key for each in fleet.queries.calls(task_id="T1", role="reviewer")] == ["r1:T1:1:reviewer:1#1"]
    totals = fleet.calls.spending(RUN)
    assert (totals.calls, totals.abandoned_calls, totals.cost_usd, totals.unpriced_calls) == (3, 1, 0.75, 1)
    assert (totals.prompt_tokens, totals.cached_tokens, totals.output_tokens) == (300, 270, 6)


def test_events_by_type_and_task(fleet: Store) -> None:
    fleet.events.append(
        event("run.started"), event("task.dispatched", "T1"), event("task.done", "T1"), event("task.done", "T2")
    )
    assert [each.seq for each in fleet.queries.events(RUN, types=["task.done", "run.started"])] == [1, 3, 4]
    assert [each.seq for each in fleet.queries.events(RUN, task_id="T1", after=2)] == [3]
    assert len(fleet.queries.events(RUN, limit=2)) == 2


def test_the_views_answer_the_same(fleet: Store, database_url: str) -> None:
    fleet.events.append(event("task.dispatched", "T1", attempt=1), event("task.done", "T1", commit="c1"))
    pay(fleet, "r1:T1:1:executor:1", 1, 0.5)
    database = connect_database(database_url)

    def ask(query: str) -> list[tuple[object, ...]]:
        with database.read() as connection:
            return [tuple(each) for each in connection.execute(sa.text(query))]

    assert ask("SELECT run_id, status, tasks, tasks_done, calls, cost_usd FROM v_runs") == [
        ("r1", "running", 1, 1, 1, 0.5)
    ]
    assert ask("SELECT task_id, state, commit_id, calls, cost_usd FROM v_tasks") == [("T1", "done", "c1", 1, 0.5)]
    saw = "SELECT task_id, role FROM v_segments WHERE uri = 'project:rules.md' ORDER BY role"
    assert ask(saw) == [("T1", "executor"), ("T1", "reviewer")]
    assert ask("SELECT task_id, reason FROM v_omissions WHERE uri = 'project:rules.md'") == [("T2", "path_not_matched")]
    assert ask("SELECT task_id, role, committed, cost_usd FROM v_costs") == [("T1", "executor", 1, 0.5)]
    database.close()


def test_conflicts_come_back_and_stand_in_their_view(store: Store, database_url: str) -> None:
    conflict = Conflict(
        conflict_id="c1",
        kind=ConflictKind.POLICY,
        parties=(RULE.segment_id, "project:permissions.yaml:3"),
        subject="git push",
        detail="the rule asks for what the policy denies",
        ruling="the policy holds",
        winner="project:permissions.yaml:3",
        route=Route.MAIN,
        blocking=True,
        state="open",
    )
    given = snapshot(RULE)
    context = assemble(given)
    assert isinstance(context, AssembledContext)
    manifest = replace(context.manifest, conflicts=(conflict,))
    context = replace(context, conflicts=(conflict,), manifest=manifest)
    store.assemblies.record(context, snapshot=given)
    found = store.assemblies.get(context.manifest_id)
    assert (found.conflicts, found.manifest.conflicts) == ((conflict,), (conflict,))
    database = connect_database(database_url)
    with database.read() as connection:
        rows = connection.execute(sa.text("SELECT conflict_id, winner, blocking, state FROM v_conflicts")).all()
    database.close()
    assert [tuple(each) for each in rows] == [("c1", "project:permissions.yaml:3", 1, "open")]


def test_the_store_says_what_is_in_it(fleet: Store, opener: Callable[[], Store], database_url: str) -> None:
    about = opener().describe()
    assert about.schema.status == "current"
    assert about.rows["assemblies"] == 3
    assert about.dialect == ("postgresql" if "://" in database_url else "sqlite")
    assert about.size_bytes > about.texts.stored_bytes > 0
    assert about.texts.named == about.texts.kept == about.rows["texts"]


def test_an_empty_database_is_described_too(database_url: str) -> None:
    from aircoding.store import open_store

    store = open_store(database_url, migrate="never")
    about = store.describe()
    store.close()
    assert (about.schema.status, dict(about.rows), about.texts.named) == ("empty", {}, 0)
