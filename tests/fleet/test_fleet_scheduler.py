"""What the scheduler decides, case by case; what holds for every history is in test_fleet_scheduler_properties."""

from __future__ import annotations

from fleet.histories import BASE, History, event, task

from aircoding.fleet.scheduler import Dispatch, Finish, GiveUp, Pause, next_moves
from aircoding.fleet.state import fold
from aircoding.graph.task_graph import TaskGraph
from aircoding.records.tasks import TaskSpec


def history(*tasks: TaskSpec, concurrency: int = 4) -> History:
    return History(TaskGraph(tasks), concurrency=concurrency)


def started(run: History) -> list[tuple[str, int, str]]:
    return [(m.task_id, m.attempt, m.base_commit) for m in run.step() if isinstance(m, Dispatch)]


def test_what_depends_on_nothing_starts_at_the_base_of_the_run() -> None:
    run = history(task("a"), task("b"), task("c", "a"))

    assert started(run) == [("a", 1, BASE), ("b", 1, BASE)]


def test_a_task_starts_at_the_commit_where_the_last_of_its_dependencies_was_merged() -> None:
    run = history(task("a"), task("b"), task("c", "a", "b"))
    run.step()
    run.end("b", "done")
    assert run.moves() == ()
    run.end("a", "done")

    assert started(run) == [("c", 1, "merged-a-1")]


def test_priority_goes_before_the_longest_chain_and_that_before_the_id() -> None:
    run = history(task("a"), task("b"), task("b2", "b"), task("z", priority=1), concurrency=3)

    assert [name for name, *_ in started(run)] == ["z", "b", "a"]


def test_no_more_attempts_run_than_the_concurrency_allows() -> None:
    run = history(task("a"), task("b"), task("c"), concurrency=2)

    assert len(started(run)) == 2
    assert run.moves() == ()
    run.end("a", "done")
    assert [name for name, *_ in started(run)] == ["c"]


def test_tasks_with_areas_that_meet_run_one_after_the_other() -> None:
    run = history(task("a", area=("src/**",)), task("b", area=("src/x.py",)), task("c", area=("docs/**",)))

    assert [name for name, *_ in started(run)] == ["a", "c"]
    run.end("c", "done")
    assert run.moves() == ()
    run.end("a", "done")
    assert started(run) == [("b", 1, BASE)], "independent tasks start from the same base"


def test_an_attempt_that_failed_starts_again_from_its_base_and_one_sent_back_from_its_commit() -> None:
    run = history(task("a", tries=3))
    run.step()
    run.end("a", "failed")
    assert started(run) == [("a", 2, BASE)]
    run.end("a", "sent_back")

    assert started(run) == [("a", 3, "a-2")]


def test_a_task_without_attempts_left_fails_with_the_last_reason() -> None:
    run = history(task("a", tries=2))
    run.step()
    run.end("a", "failed", reason="red")
    run.step()
    run.end("a", "sent_back", reason="no tests")

    assert run.step() == (GiveUp(task_id="a", state="failed", reason="sent back by review: no tests"),)
    assert run.step() == (Finish(status="failed"),)


def test_a_blocked_attempt_blocks_its_task_whatever_attempts_are_left() -> None:
    run = history(task("a", tries=5))
    run.step()
    run.end("a", "blocked", reason="set-up")

    assert run.step() == (GiveUp(task_id="a", state="blocked", reason="set-up"),)


def test_what_depends_on_a_failed_task_is_blocked_in_one_go_and_the_rest_goes_on() -> None:
    run = history(task("a", tries=1), task("b", "a"), task("c", "b"), task("d"))
    run.step()
    run.end("a", "failed", reason="red")

    assert run.step() == (
        GiveUp(task_id="a", state="failed", reason="red"),
        GiveUp(task_id="b", state="blocked", reason="depends on a, which failed"),
        GiveUp(task_id="c", state="blocked", reason="depends on b, which is blocked"),
    )
    assert run.moves() == ()
    run.end("d", "done")
    assert run.step() == (Finish(status="failed"),)


def test_a_run_whose_tasks_are_all_done_is_done() -> None:
    run = history(task("a"))
    run.step()
    run.end("a", "done")

    assert run.step() == (Finish(status="done"),)


def test_nothing_starts_when_nothing_may() -> None:
    run = history(task("a"), task("b", "a"))

    assert run.moves(may_start=False) == ()


def test_what_is_lost_is_given_up_even_when_nothing_may_start() -> None:
    run = history(task("a", tries=1), task("b", "a"))
    run.step()
    run.end("a", "failed")

    assert len(run.moves(may_start=False)) == 2


def test_without_a_model_nothing_starts_and_the_run_pauses_when_the_rest_has_ended() -> None:
    run = history(task("a"), task("b"), task("c"), concurrency=2)
    run.step()
    run.cut_off("a")
    assert run.moves() == (), "b still runs, c does not start"
    run.end("b", "done")

    assert run.step() == (Pause(reason="no model"),)


def test_after_a_resume_the_outage_is_tried_again_and_has_used_up_no_attempt() -> None:
    run = history(task("a", tries=1))
    run.step()
    run.cut_off("a")
    run.step()
    run.resume()

    assert started(run) == [("a", 2, BASE)]
    run.end("a", "failed", reason="red")
    assert run.step() == (GiveUp(task_id="a", state="failed", reason="red"),)


def test_a_log_that_says_done_without_a_merge_is_a_deadlock_with_a_reason() -> None:
    graph = TaskGraph([task("a"), task("b", "a")])
    log = [
        event("task.dispatched", "a", 1, base_commit=BASE),
        event("attempt.finished", "a", 1, outcome="done", reason=""),
    ]

    moves = next_moves(graph, fold(log), base_commit=BASE, concurrency=1, may_start=True)

    assert [(move.task_id, move.state) for move in moves if isinstance(move, GiveUp)] == [
        ("a", "blocked"),
        ("b", "blocked"),
    ]
    assert all(move.reason.startswith("deadlock: ") for move in moves if isinstance(move, GiveUp))
