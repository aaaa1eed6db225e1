"""The driver: stopped, out of money, without a model, resumed; nothing recorded is lost or done again."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from fleet.worlds import Fleet, done, fixed, script, use, write

from aircoding.errors import FencedError, PlanError, StoreError
from aircoding.fleet.drive import drive
from aircoding.records.events import Event
from aircoding.records.words import dollars
from aircoding.store import open_store

Make = Callable[..., Fleet]


def tasks(*names: str, **more: Any) -> list[dict[str, Any]]:
    return [{"id": name, "title": name, "write_area": [f"{name}.txt"], **more} for name in names]


def work(name: str, *, delay_seconds: float = 0.0, **match: int) -> dict[str, Any]:
    first = write(f"{name}.txt", f"{name}\n")
    return script("executor", name, {**first, "delay_seconds": delay_seconds}, done(), **match)


def drive_durably(run: Fleet, *, stop_at: str | None = None, after_seconds: float = 0.0) -> tuple[str, float]:
    """Drive as a process of its own does, on the durable engine; stop some time after an event of a type.

    Returns the status, and the seconds that it took from the stop to the end.
    """

    async def live() -> tuple[str, float]:
        stop, asked_at = asyncio.Event(), 0.0

        def ask() -> None:
            nonlocal asked_at
            asked_at = time.monotonic()
            stop.set()

        def watch(event: Event) -> None:
            if event.type == stop_at:
                asyncio.get_running_loop().call_later(after_seconds, ask)

        deps, engine = run.durable(watch=watch)
        engine.launch()
        try:
            status = await drive(deps, stop=stop)
            return status, time.monotonic() - asked_at
        finally:
            await engine.suspend()
            engine.close()

    return asyncio.run(live())


def paid_calls(run: Fleet) -> dict[str, int]:
    """Return how often each call of the run was committed."""
    counts: dict[str, int] = {}
    for session in {one.session_id for one in run.events("session.started")}:
        for turn in range(1, 6):
            if run.store.calls.reply(f"{session}#{turn}") is not None:  # type: ignore[arg-type]
                counts[f"{session}#{turn}"] = 1
    return counts


def test_a_stop_ends_within_seconds_and_a_resume_goes_on_where_it_was(fleet: Make) -> None:
    run = fleet(
        [*tasks("A"), *tasks("B", depends_on=["A"])],
        [
            script(
                "executor",
                "A",
                write("A.txt", "A\n"),
                {**use("shell", command="sleep 30"), "delay_seconds": 0.0},
                done(),
            ),
            work("B"),
        ],
    )

    status, seconds = drive_durably(run, stop_at="session.started", after_seconds=1.0)

    assert status == "interrupted"
    assert seconds < 10
    assert run.events("run.paused")[0].payload["status"] == "interrupted"
    assert run.store.runs.get("r1").status == "interrupted"
    assert not run.events("attempt.finished"), "what is suspended has not ended"

    run.resumed()
    assert drive_durably(run)[0] == "done"
    assert run.roles("A") == ["executor"], "the same session went on"
    assert run.file("B.txt") == "B"
    assert len(run.events("task.dispatched", "A")) == 1


def test_a_stop_while_a_model_answers_does_not_wait_for_the_answer(fleet: Make) -> None:
    run = fleet(tasks("A"), [work("A", delay_seconds=3.0)])

    status, seconds = drive_durably(run, stop_at="session.started")

    assert (status, seconds < 2.5) == ("interrupted", True)
    run.resumed()
    assert drive_durably(run)[0] == "done"


def test_when_the_money_is_spent_each_session_ends_its_turn_and_more_money_goes_on(fleet: Make) -> None:
    run = fleet(tasks("A", "B"), [work("A"), work("B")], concurrency=1, max_cost_usd=0.000001)

    assert run.drive() == "budget"

    assert len(paid_calls(run)) == 1, "the call under way was paid for, none was begun after it"
    assert len(run.store.tools.records("r1:A:1:executor:1")) == 2, "its tools were run"  # type: ignore[arg-type]
    assert not run.events("session.finished"), "what is held has not ended"
    assert [one.task_id for one in run.events("task.dispatched")] == ["A"]
    assert run.store.runs.get("r1").status == "budget"
    assert "are spent" in run.events("run.paused")[0].payload["reason"]

    run.resumed(max_cost_usd=0.000002)
    assert run.drive() == "budget", "too little more money holds it again"
    assert len(paid_calls(run)) == 1

    run.resumed(max_cost_usd=100.0)
    assert run.drive() == "done"
    assert [one.task_id for one in run.events("task.dispatched")] == ["A", "B"]
    assert run.roles("A") == ["executor"], "the same session went on"


def test_a_run_out_of_money_is_suspended_durably_with_all_its_sessions(fleet: Make) -> None:
    names = ("A", "B", "C")
    run = fleet(tasks(*names), [work(name) for name in names], max_cost_usd=0.000001)

    assert drive_durably(run)[0] == "budget"

    calls = run.store.queries.calls(run_id="r1")
    assert {call.state for call in calls} == {"committed"}, "no call was cut off"
    assert not run.events("attempt.finished")

    run.resumed(max_cost_usd=100.0)
    assert drive_durably(run)[0] == "done"
    assert {call.state for call in run.store.queries.calls(run_id="r1")} == {"committed"}
    assert len(run.events("session.started")) == 3


def test_a_tasks_money_is_counted_over_all_its_sessions_and_attempts(fleet: Make) -> None:
    failing = [script("executor", "A", write("A.txt", "bad\n"), done(), attempt=n) for n in (1, 2)]
    debugging = [script("debugger", "A", write("A.txt", "bad\n"), fixed(), attempt=n) for n in (1, 2)]
    plan = tasks("A", verify=["grep -q good A.txt"], retry={"max_attempts": 2})
    free = fleet(plan, [*failing, *debugging])
    assert free.drive() == "failed"
    costs = [call.cost.usd for call in free.store.queries.calls(run_id="r1") if call.cost is not None]
    assert len(costs) == 8
    free.store.close()
    limit = sum(costs[:5]) - 0.000001

    run = fleet(tasks("A", **{**plan[0], "max_cost_usd": limit}), [*failing, *debugging], root="second")

    assert run.drive() == "failed"
    state, attempts, reason = run.state("A")
    assert (state, attempts) == ("blocked", 2)
    assert f"may spend {dollars(limit)}" in reason
    assert len(run.store.queries.calls(run_id="r1")) == 5
    outcome = run.store.sessions.outcome("r1:A:2:executor:1")  # type: ignore[arg-type]
    assert outcome is not None
    assert (outcome.stop, outcome.turns) == ("cost_limit", 1)


def test_when_no_model_answers_the_run_pauses_and_keeps_its_attempts(fleet: Make) -> None:
    outage = {"error": {"status": 401}}
    run = fleet(
        tasks("A", "B", retry={"max_attempts": 1}),
        [script("executor", "A", outage, attempt=1), work("A", attempt=2), work("B")],
        concurrency=1,
    )

    assert run.drive() == "interrupted"

    assert "no model could be reached" in run.events("run.paused")[0].payload["reason"]
    assert run.state("A")[0] == "waiting"
    assert not run.events("task.dispatched", "B"), "B would have met the same"
    run.resumed()
    assert run.drive() == "done"
    assert run.state("A")[:2] == ("done", 2)


def test_a_request_that_a_model_refuses_blocks_only_its_task(fleet: Make) -> None:
    run = fleet(tasks("A", "B"), [script("executor", "A", {"error": {"status": 400}}), work("B")])

    assert run.drive() == "failed"
    assert (run.state("A")[0], run.state("B")[0]) == ("blocked", "done")


def test_an_attempt_that_broke_because_the_record_could_not_be_written_is_begun_again_on_resume(fleet: Make) -> None:
    run = fleet(
        tasks("A", verify=["grep -q A A.txt"]),
        [
            script("executor", "A", write("A.txt", "bad\n"), done()),
            script("debugger", "A", write("A.txt", "A\n"), fixed()),
        ],
    )
    events = run.store.events

    class Full:
        """An event log whose disk is full as soon as a debugger has begun."""

        def append(self, *new: Any) -> tuple[int, ...]:
            if any(one.type == "commit.created" and len(run.events("session.finished")) == 2 for one in new):
                raise StoreError("the disk is full")
            return events.append(*new)

        def read(self, run_id: str, **which: Any) -> Any:
            return events.read(run_id, **which)

    run.changes["events"] = Full()
    with pytest.raises(StoreError, match="the disk is full") as caught:
        drive_durably(run)
    assert "resume r1" in caught.value.hint
    before = paid_calls(run)
    run.changes.clear()

    run.resumed()
    assert drive_durably(run)[0] == "done"
    assert run.roles("A") == ["executor", "debugger"]
    assert paid_calls(run) == before, "nothing was asked again"
    assert run.state("A")[:2] == ("done", 1)


def test_a_process_that_lost_the_run_stops_and_writes_nothing_more(fleet: Make) -> None:
    run = fleet(tasks("A"), [work("A", delay_seconds=1.0)])
    other = open_store(run.root / ".air/local/air.db")

    async def live() -> None:
        deps, engine = run.durable()
        engine.launch()
        try:
            driving = asyncio.create_task(drive(deps, stop=asyncio.Event()))
            await asyncio.sleep(0.7)
            other.claim("r1")
            await driving
        finally:
            await engine.suspend()
            engine.close()

    with pytest.raises(FencedError):
        asyncio.run(live())
    assert not run.events("attempt.finished")
    other.close()


def test_a_plan_that_asks_for_what_is_not_there_is_refused_before_anything_starts(fleet: Make) -> None:
    run = fleet(tasks("A"), [work("A")])
    deps = run.deps()
    (task,) = deps.plan.tasks
    asking = replace(task, roles=("architecture_designer",), retry=replace(task.retry, escalate=("a_person",)))

    with pytest.raises(PlanError) as caught:
        asyncio.run(drive(replace(deps, plan=replace(deps.plan, tasks=(asking,))), stop=asyncio.Event()))

    assert "role `architecture_designer` cannot take part yet" in caught.value.message
    assert "escalation to `a_person` is not there yet" in caught.value.message
    assert not run.events("task.dispatched")


def test_a_run_that_has_ended_moves_the_branch_again_after_a_resume(fleet: Make) -> None:
    """A crash after the last merge and before the branch was moved: the resume has only that left to do."""
    run = fleet(tasks("A"), [work("A")])
    repository = run.deps().repository

    class Crashing:
        def __getattr__(self, name: str) -> Any:
            return getattr(repository, name)

        def fast_forward(self, commit: str, *, branch: str | None = None) -> str | None:
            raise KeyboardInterrupt

    run.changes["repository"] = Crashing()
    with pytest.raises(KeyboardInterrupt):
        run.drive()
    run.changes.clear()

    run.resumed()
    assert run.drive() == "done"
    assert run.file("A.txt") == "A"
    assert len(run.events("run.finished")) == 1
