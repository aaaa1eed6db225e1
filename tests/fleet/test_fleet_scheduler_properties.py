"""What holds for every graph, every order of events, and every point at which a log is read again."""

from __future__ import annotations

from fleet.histories import BASE, History, event, task
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from aircoding.fleet.scheduler import Dispatch, GiveUp, next_moves
from aircoding.fleet.state import FleetState, fold
from aircoding.graph.task_graph import TaskGraph
from aircoding.records.events import Event
from aircoding.records.tasks import TaskSpec
from aircoding.rules.globs import overlap

AREAS = ("src/**", "src/a.py", "src/b/*.py", "docs/**", "*.md", "tests/**/test_*.py")


@st.composite
def graphs(draw: st.DrawFn) -> TaskGraph:
    """A graph of up to eight tasks; each depends on earlier ones only."""
    tasks: list[TaskSpec] = []
    for number in range(draw(st.integers(1, 8))):
        before = [one.id for one in tasks]
        after = draw(st.lists(st.sampled_from(before), max_size=3, unique=True)) if before else []
        area = draw(st.lists(st.sampled_from(AREAS), max_size=2, unique=True))
        tasks.append(
            task(
                f"t{number}",
                *after,
                area=tuple(area),
                tries=draw(st.integers(1, 3)),
                priority=draw(st.integers(0, 2)),
            )
        )
    return TaskGraph(tasks)


class Runs(RuleBasedStateMachine):
    """A run in which attempts end in any order and any way, and the process may stop and come back at any time."""

    @initialize(graph=graphs(), concurrency=st.integers(1, 4))
    def begin(self, graph: TaskGraph, concurrency: int) -> None:
        self.run = History(graph, concurrency=concurrency)

    @rule()
    def move(self) -> None:
        self.run.step()

    @rule()
    def move_while_nothing_may_start(self) -> None:
        before = len(self.run.running)
        self.run.step(may_start=False)
        assert len(self.run.running) == before

    @precondition(lambda self: self.run.running)
    @rule(data=st.data(), outcome=st.sampled_from(["done", "failed", "blocked", "sent_back", "outage"]))
    def end_an_attempt(self, data: st.DataObject, outcome: str) -> None:
        name = data.draw(st.sampled_from(self.run.running))
        if outcome == "outage":
            self.run.cut_off(name)
        else:
            self.run.end(name, outcome)

    @rule()
    def come_back(self) -> None:
        self.run.resume()

    @invariant()
    def running_tasks_do_not_share_paths(self) -> None:
        specs = [self.run.graph.tasks[name] for name in self.run.running]
        assert len(specs) <= self.run.concurrency
        for place, one in enumerate(specs):
            for other in specs[place + 1 :]:
                assert not any(overlap(a, b) for a in one.write_area for b in other.write_area)

    @invariant()
    def nothing_starts_before_what_it_depends_on_is_merged(self) -> None:
        merged: dict[str, str] = {}
        for one in self.run.log:
            if one.type == "task.done" and one.task_id is not None:
                merged[one.task_id] = one.payload["commit"]
            elif one.type == "task.dispatched" and one.task_id is not None:
                assert self.run.graph.ancestors(one.task_id) <= set(merged)
                needed = set(self.run.graph.dependencies(one.task_id))
                last = [commit for name, commit in merged.items() if name in needed][-1:]
                if one.attempt == 1:
                    assert [one.payload["base_commit"]] == (last or [BASE])

    @invariant()
    def only_merged_work_is_done_and_no_attempt_is_lost(self) -> None:
        state = self.run.state
        for name, spec in self.run.graph.tasks.items():
            progress = state.task(name)
            merged = [one for one in self.run.log if one.type == "task.done" and one.task_id == name]
            assert (progress.state == "done") == bool(merged)
            assert [attempt.number for attempt in progress.attempts] == list(range(1, len(progress.attempts) + 1))
            counted = [attempt for attempt in progress.attempts if not attempt.stop]
            assert len(counted) <= spec.retry.max_attempts

    @invariant()
    def each_task_ends_once(self) -> None:
        ends = [one.task_id for one in self.run.log if one.type in {"task.done", "task.failed", "task.blocked"}]
        assert len(ends) == len(set(ends))

    @invariant()
    def a_run_says_done_only_when_all_tasks_are(self) -> None:
        state = self.run.state
        states = [state.task(name).state for name in self.run.graph.tasks]
        for status in self.run.ends:
            if status == "done":
                assert set(states) == {"done"}
            elif status == "failed":
                assert set(states) <= {"done", "failed", "blocked"}
                assert set(states) != {"done"}
            else:
                assert not self.run.running

    @invariant()
    def a_log_read_in_parts_gives_the_same_moves_as_read_whole(self) -> None:
        whole, log = self.run.state, self.run.log
        for cut in (0, len(log) // 3, len(log) // 2, max(0, len(log) - 1)):
            assert fold(log[cut:], fold(log[:cut])) == whole

    def teardown(self) -> None:
        """However it went, the run comes to an end when its attempts do."""
        if not hasattr(self, "run"):
            return
        for _ in range(200):
            self.run.settle()
            if self.run.ends and self.run.ends[-1] != "paused":
                break
            if self.run.ends:
                self.run.resume()
            for name in self.run.running:
                self.run.end(name, "done")
        assert self.run.ends[-1:] in (["done"], ["failed"])
        assert all(self.run.state.task(name).ended for name in self.run.graph.tasks)


Runs.TestCase.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
TestRuns = Runs.TestCase


@given(graphs(), st.data())
@settings(max_examples=100, deadline=None)
def test_every_prefix_of_a_log_is_answered_as_it_was_answered_then(graph: TaskGraph, data: st.DataObject) -> None:
    """A process that dies after any event and reads the log again makes the moves that the dead one would have made."""
    run = History(graph, concurrency=2)
    answers: list[tuple[int, object]] = []
    for _ in range(40):
        answers.append((len(run.log), run.moves()))
        run.step()
        if run.ends:
            break
        if run.running and data.draw(st.booleans()):
            name = data.draw(st.sampled_from(run.running))
            run.end(name, data.draw(st.sampled_from(["done", "failed", "sent_back"])))

    for length, moves in answers:
        again = next_moves(graph, fold(run.log[:length]), base_commit=BASE, concurrency=2, may_start=True)
        assert again == moves


@given(graphs(), st.integers(1, 4))
@settings(max_examples=100, deadline=None)
def test_moves_made_in_part_leave_the_rest_for_later(graph: TaskGraph, concurrency: int) -> None:
    """A crash between two moves of one answer changes nothing: the rest is answered again."""
    state = FleetState()
    moves = next_moves(graph, state, base_commit=BASE, concurrency=concurrency, may_start=True)
    first = moves[0]
    assert isinstance(first, Dispatch)

    after = fold([event("task.dispatched", first.task_id, 1, base_commit=first.base_commit)])
    rest = next_moves(graph, after, base_commit=BASE, concurrency=concurrency, may_start=True)

    assert rest == moves[1:]


def test_late_events_of_a_task_that_has_ended_change_nothing() -> None:
    log: list[Event] = [
        event("task.dispatched", "a", 1, base_commit=BASE),
        event("task.done", "a", 1, commit="c1"),
        event("task.blocked", "a", reason="late"),
        event("task.done", "a", 1, commit="c2"),
        event("task.dispatched", "a", 2, base_commit=BASE),
    ]

    progress = fold(log).task("a")

    assert (progress.state, progress.commit, len(progress.attempts)) == ("done", "c1", 1)
    assert not any(isinstance(move, GiveUp) for move in History(TaskGraph([task("a")]), log=log).moves())
