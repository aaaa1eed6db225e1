"""The task graph: cycles with their path, readiness, critical path, waves; the same under any order of the plan."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aircoding.errors import InternalError, PlanError
from aircoding.graph.areas import AreaIndex
from aircoding.graph.progress import Progress
from aircoding.graph.task_graph import TaskGraph
from aircoding.graph.waves import Separation, plan_waves, side_by_side
from aircoding.records.ids import TaskId
from aircoding.records.tasks import TaskSpec
from aircoding.rules.globs import overlap


def task(name: str, *before: str, areas: tuple[str, ...] = (), priority: int = 0) -> TaskSpec:
    depends_on = tuple(TaskId(one) for one in before)
    return TaskSpec(id=TaskId(name), title=name, depends_on=depends_on, write_area=areas, priority=priority)


def graph(*tasks: TaskSpec) -> TaskGraph:
    return TaskGraph(tasks)


DIAMOND = (task("a"), task("b", "a"), task("c", "a"), task("d", "b", "c"), task("e", "b"))


def messages(*tasks: TaskSpec) -> list[str]:
    with pytest.raises(PlanError) as caught:
        TaskGraph(tasks)
    return [one.message for one in caught.value.diagnostics]


def test_cycles_are_named_with_their_path():
    assert messages(task("a", "b"), task("b", "a")) == ["tasks wait for each other: a → b → a"]
    assert messages(task("c", "a"), task("a", "b"), task("b", "c"), task("x", "a")) == [
        "tasks wait for each other: a → b → c → a"
    ]
    assert messages(task("a", "b"), task("b", "a"), task("y", "z"), task("z", "y"), task("s", "s")) == [
        "tasks wait for each other: a → b → a",
        "a task waits for itself: s → s",
        "tasks wait for each other: y → z → y",
    ]


def test_the_shortest_cycle_of_a_knot_is_named():
    assert messages(task("a", "b", "d"), task("b", "c"), task("c", "a"), task("d", "a")) == [
        "tasks wait for each other: a → d → a"
    ]


def test_other_faults():
    assert messages() == ["the plan has no tasks"]
    assert messages(task("a"), task("a")) == ["two tasks have the id a"]
    assert messages(task("a", "zzz")) == ["task a depends on zzz, which is no task"]


def test_questions_about_a_graph():
    found = graph(*DIAMOND)
    assert found.order == ("a", "b", "c", "d", "e")
    assert (found.dependencies(TaskId("d")), found.dependents(TaskId("a"))) == (("b", "c"), ("b", "c"))
    assert found.ancestors(TaskId("d")) == {"a", "b", "c"}
    assert found.descendants(TaskId("b")) == {"d", "e"}
    assert [found.depth(one) for one in found.order] == [0, 1, 1, 2, 2]
    assert [found.height(one) for one in found.order] == [2, 1, 1, 0, 0]
    assert len(found) == 5
    assert "a" in found
    assert "x" not in found


def test_critical_path():
    found = graph(*DIAMOND)
    assert found.critical_path() == ("a", "b", "d")
    assert found.critical_path({TaskId("a"): 1, TaskId("c"): 5, TaskId("d"): 1}) == ("a", "c", "d")


def test_progress_frees_what_waited():
    progress = Progress(graph(*DIAMOND))
    assert progress.ready() == ("a",)
    progress.mark_running(TaskId("a"))
    assert (progress.ready(), progress.running) == ((), {"a"})
    assert progress.mark_done(TaskId("a")) == ("b", "c")
    assert progress.mark_done(TaskId("a")) == ()
    assert progress.mark_done(TaskId("c")) == ()
    assert progress.mark_done(TaskId("b")) == ("d", "e")
    assert not progress.finished


def test_progress_says_why_a_task_cannot_be_reached():
    progress = Progress(graph(*DIAMOND), done=[TaskId("a")])
    lost = progress.mark_failed(TaskId("b"), "verify failed")
    assert [(one.task, one.because_of, one.reason) for one in lost] == [
        ("d", "b", "it depends on b, which was not done: verify failed"),
        ("e", "b", "it depends on b, which was not done: verify failed"),
    ]
    assert progress.mark_done(TaskId("c")) == ()
    assert progress.finished
    assert progress.failed == {"b": "verify failed"}
    progress.mark_waiting(TaskId("b"))
    assert progress.ready() == ("b",)
    assert progress.unreachable == ()
    assert progress.mark_done(TaskId("b")) == ("d", "e")


def test_a_task_that_two_failures_hold_back_stays_back():
    progress = Progress(graph(*DIAMOND), done=[TaskId("a")], failed={TaskId("b"): "x", TaskId("c"): "y"})
    progress.mark_waiting(TaskId("b"))
    assert [(one.task, one.because_of) for one in progress.unreachable] == [("d", "c")]
    assert progress.mark_done(TaskId("b")) == ("e",)


def test_progress_refuses_what_cannot_have_happened():
    progress = Progress(graph(*DIAMOND))
    with pytest.raises(InternalError):
        progress.mark_done(TaskId("d"))
    with pytest.raises(InternalError):
        progress.mark_running(TaskId("b"))
    progress.mark_done(TaskId("a"))
    with pytest.raises(InternalError):
        progress.mark_failed(TaskId("a"), "late")


def test_waves_part_tasks_whose_areas_meet():
    found = graph(
        task("a", areas=("src/**",)),
        task("b", areas=("src/x.py",), priority=1),
        task("c", areas=("docs/**",)),
        task("d", "c", areas=("docs/a.md",)),
    )
    plan = plan_waves(found)
    assert plan.waves == (("b", "c"), ("a", "d"))
    (separation,) = plan.separated
    assert (separation.task, separation.wave, separation.meeting.task) == ("a", 1, "b")
    assert (separation.meeting.area, separation.meeting.other_area) == ("src/**", "src/x.py")


def test_order_in_a_wave_is_priority_then_chain_then_id():
    found = graph(task("z", priority=2), task("m"), task("n", "m"), task("a"))
    assert plan_waves(found).waves == (("z", "m", "a"), ("n",))


def test_side_by_side_looks_at_what_runs():
    found = graph(task("a", areas=("x",)), task("b", areas=("x",)), task("c", areas=("y",)), task("d", areas=("*",)))
    started, waiting = side_by_side(found, (TaskId("b"), TaskId("c"), TaskId("d")), running=(TaskId("a"),))
    assert started == ("c",)
    assert [(one.task, one.meeting.task) for one in waiting] == [("b", "a"), ("d", "a")]


AREAS = st.lists(
    st.sampled_from(
        ["src/**", "src/a.py", "src/*.py", "**/a.py", "docs/", "lib/{a,b}/x", "lib/b/*", "*.md", "README.md"]
    ),
    max_size=2,
    unique=True,
).map(tuple)


@st.composite
def graphs(draw):
    names = [f"t{n}" for n in range(draw(st.integers(1, 9)))]
    tasks = []
    for n, name in enumerate(names):
        before = draw(st.lists(st.sampled_from(names[:n]), max_size=3)) if n else []
        tasks.append(task(name, *before, areas=draw(AREAS), priority=draw(st.integers(-1, 1))))
    return tuple(draw(st.permutations(tasks)))


def apart(left: TaskSpec, right: TaskSpec) -> bool:
    return not any(overlap(one, other) for one in left.write_area for other in right.write_area)


@given(graphs())
@settings(max_examples=200, deadline=None)
def test_waves_hold_every_task_once_after_what_it_needs_and_apart(tasks):
    found = graph(*tasks)
    plan = plan_waves(found)
    number = {one: place for place, wave in enumerate(plan.waves) for one in wave}
    assert sorted(number) == sorted(found.tasks)
    assert sum(len(wave) for wave in plan.waves) == len(found)
    for one in found.tasks.values():
        assert all(number[before] < number[one.id] for before in one.depends_on)
        assert all(apart(one, found.tasks[other]) for other in plan.waves[number[one.id]] if other != one.id), (
            "two areas of one wave meet"
        )
    for one in plan.separated:
        assert not apart(found.tasks[one.task], found.tasks[one.meeting.task])
    held = {one.task for one in plan.separated}
    for one in found.tasks.values():
        earliest = max((number[before] + 1 for before in one.depends_on), default=0)
        assert (number[one.id] > earliest) == (one.id in held), "a task waits without a reason on record"


@given(graphs(), st.randoms())
@settings(max_examples=150, deadline=None)
def test_nothing_depends_on_the_order_of_the_plan(tasks, random):
    shuffled = list(tasks)
    random.shuffle(shuffled)
    one, other = graph(*tasks), graph(*shuffled)
    assert plan_waves(one) == plan_waves(other)
    assert one.critical_path() == other.critical_path()
    assert one.order == other.order


@given(graphs())
@settings(max_examples=150, deadline=None)
def test_the_first_wave_is_what_can_start_side_by_side(tasks):
    found = graph(*tasks)
    started, waiting = side_by_side(found, Progress(found).ready())
    assert started == plan_waves(found).waves[0]
    assert all(isinstance(one, Separation) for one in waiting)


@given(graphs(), st.randoms())
@settings(max_examples=200, deadline=None)
def test_progress_is_what_a_fresh_look_at_the_edges_says(tasks, random):
    found = graph(*tasks)
    progress = Progress(found)
    while progress.ready():
        ready = progress.ready()
        expected = {
            one.id
            for one in found.tasks.values()
            if one.id not in progress.done | set(progress.failed) and set(one.depends_on) <= progress.done
        }
        assert set(ready) == expected
        chosen = random.choice(ready)
        if random.random() < 0.3:
            progress.mark_failed(chosen, "no")
        else:
            progress.mark_done(chosen)
    lost = {one.task for one in progress.unreachable}
    assert progress.done | set(progress.failed) | lost == set(found.tasks)
    assert lost == {one for failed in progress.failed for one in found.descendants(failed)}
    again = Progress(found, done=progress.done, failed=progress.failed)
    assert (again.ready(), again.done, again.unreachable) == (progress.ready(), progress.done, progress.unreachable)


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.sampled_from("abcdef")), max_size=12))
@settings(max_examples=300, deadline=None)
def test_a_cycle_is_found_where_there_is_one_and_every_named_step_is_an_edge(edges):
    tasks = [task(name, *(before for after, before in edges if after == name)) for name in "abcdef"]
    try:
        assert len(TaskGraph(tasks).order) == 6
    except PlanError as error:
        for fault in error.diagnostics:
            path = fault.message.split(": ")[1].split(" → ")
            assert path[0] == path[-1]
            assert len(path) >= 2
            assert all(step in edges for step in itertools.pairwise(path))


@given(st.lists(AREAS, max_size=6), AREAS)
@settings(max_examples=300, deadline=None)
def test_the_index_finds_what_all_pairs_would(areas, asked):
    index = AreaIndex()
    for number, one in enumerate(areas):
        index.add(TaskId(str(number)), one)
    expected = any(overlap(mine, other) for mine in asked for one in areas for other in one)
    found = index.first_meeting(TaskId("asked"), asked)
    assert (found is not None) == expected
    if found is not None:
        assert overlap(found.area, found.other_area)


def waves_by_definition(found: TaskGraph) -> tuple[tuple[TaskId, ...], ...]:
    waves, done = [], set()
    while len(done) < len(found):
        ready = [one for one in found.tasks if one not in done and done.issuperset(found.tasks[one].depends_on)]
        wave: list[TaskId] = []
        for one in sorted(ready, key=found.sort_key):
            if all(apart(found.tasks[one], found.tasks[other]) for other in wave):
                wave.append(one)
        waves.append(tuple(wave))
        done.update(wave)
    return tuple(waves)


@given(graphs())
@settings(max_examples=300, deadline=None)
def test_waves_are_what_looking_at_every_task_each_time_gives(tasks):
    found = graph(*tasks)
    assert plan_waves(found).waves == waves_by_definition(found)
