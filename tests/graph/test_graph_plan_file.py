"""Plans: every fault at once and in words, a schema that says the same, and the way back to text."""

import json
from pathlib import Path

import jsonschema
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from aircoding.errors import PlanError
from aircoding.graph.plan_fields import plan_schema
from aircoding.graph.plan_file import parse_plan, plan_text
from aircoding.records.diagnostics import Diagnostic
from aircoding.records.ids import TaskId
from aircoding.records.tasks import Plan, Retry, TaskSpec

REPO = Path(__file__).parents[2]
URI = "project:.air/shared/plan/tasks.yaml"
SCHEMA = jsonschema.Draft202012Validator(plan_schema())


def faults(text: str) -> list[tuple[int | None, str, str]]:
    with pytest.raises(PlanError) as caught:
        parse_plan(text, URI)
    return [(one.line, one.message, one.hint) for one in caught.value.diagnostics]


def one_task(*lines: str) -> str:
    return "\n".join(
        ["version: 1", "goal: g", "tasks:", "  - id: T1", "    title: t", *(f"    {one}" for one in lines)]
    )


def test_defaults_and_lines():
    plan = parse_plan("goal: g\ntasks:\n  - id: 1\n    title: 2024\n  - {id: b, title: B, depends_on: [1]}\n", URI)
    assert plan == Plan(
        goal="g",
        tasks=(
            TaskSpec(id=TaskId("1"), title="2024", line=3),
            TaskSpec(id=TaskId("b"), title="B", depends_on=(TaskId("1"),), line=5),
        ),
    )


def test_every_field():
    plan = parse_plan(
        one_task(
            "description: |",
            "  Two",
            "  lines",
            "role: debugger",
            "worker: command:mine",
            "write_area: ['src/{a,b}/**']",
            "denied_paths: [/secrets/]",
            "reads: [README.md, 'src/a.py:10-40']",
            "acceptance: [works]",
            "verify: [make test]",
            "priority: -3",
            "tags: [api]",
            "retry: {max_attempts: 3, escalate: [debugger, architecture_designer]}",
            "model: m",
            "max_cost_usd: 1.5",
            "adr: [ADR-1]",
            "roles: [reviewer]",
        )
    )
    assert plan.tasks[0] == TaskSpec(
        id=TaskId("T1"),
        title="t",
        description="Two\nlines\n",
        role="debugger",
        worker="command:mine",
        write_area=("src/{a,b}/**",),
        denied_paths=("/secrets/",),
        reads=("README.md", "src/a.py:10-40"),
        acceptance=("works",),
        verify=("make test",),
        priority=-3,
        tags=("api",),
        retry=Retry(max_attempts=3, escalate=("debugger", "architecture_designer")),
        model="m",
        max_cost_usd=1.5,
        adr=("ADR-1",),
        roles=("reviewer",),
        line=4,
    )


@pytest.mark.parametrize(
    ("line", "message", "hint"),
    [
        ("depend_on: [a]", "task T1 has an unknown key `depend_on`", "did you mean `depends_on`?"),
        ("title: again", "task T1 gives `title` twice, first on line 5", "keep one of them"),
        ("verify: pytest", "task T1: `verify` is text, not a list", "write `[pytest]`"),
        ("priority: high", "task T1: `priority` is text, not a whole number", ""),
        ("priority: 1.5", "task T1: `priority` is a number, not a whole number", ""),
        ("description: [a]", "task T1: `description` is a list, not text", "put it in quotes"),
        ("description:", "task T1: `description` is empty, not text", "put it in quotes"),
        (
            "role: Code Reviewer",
            "task T1: `role` `Code Reviewer` is no name of a role",
            "did you mean `code_reviewer`?",
        ),
        (
            "worker: robot",
            "task T1: `worker` `robot` is no kind of worker",
            "native, claude, acp, or command",
        ),
        (
            "write_area: [/etc/x]",
            "task T1: `write_area` `/etc/x` is an absolute path",
            "name it from the root of the project",
        ),
        ("write_area: [a/../../b]", "task T1: `write_area` `a/../../b` leaves the project", "remove the `..`"),
        ("write_area: ['src/[']", "task T1: `write_area` `src/[` is no glob", "a `[` has no `]`"),
        (
            "write_area: ['C:\\x']",
            "task T1: `write_area` `C:\\x` is an absolute path",
            "name it from the root of the project",
        ),
        (
            "reads: ['a.py:9-3']",
            "task T1: `reads` `a.py:9-3` has no such lines",
            "lines count from 1, the first before the last",
        ),
        ("max_cost_usd: 0", "task T1: `max_cost_usd` is 0", "more than 0, at most 1000000"),
        (
            "max_cost_usd: .nan",
            "task T1: `max_cost_usd` is text, not an amount",
            "write US dollars as a number, such as 1.50",
        ),
        ("retry: {max_attempts: 0}", "task T1: `retry` has a fault: `max_attempts` is 0", "from 1 to 20"),
        ("retry: {tries: 3}", "task T1: `retry` has a key `tries`", "known: max_attempts, escalate"),
        (
            "depends_on: [zz]",
            "task T1 depends on zz, which is no task",
            "add that task, or remove it from `depends_on`",
        ),
        ("depends_on: [T1]", "a task waits for itself: T1 → T1", "remove it from its `depends_on`"),
        ("verify: ['']", "task T1: `verify` is empty", "write something, or remove the key"),
    ],
)
def test_one_fault_in_words(line, message, hint):
    expected_line = 4 if "depends on" in message or "waits" in message else 6
    assert faults(one_task(line)) == [(expected_line, message, hint)]


@pytest.mark.parametrize(
    "task_id", ["a b", "a/b", "-a", "a.lock", "a..b", "a.", "a:b", "a#1", "ä", "x" * 65, "a\\b", "a~1", "a^", ".a"]
)
def test_ids_that_cannot_stand_in_a_branch_name(task_id):
    ((line, message, _),) = faults(f"goal: g\ntasks:\n  - id: '{task_id}'\n    title: t\n")
    assert line == 3
    assert message.endswith("cannot stand in a branch name and a folder name")


def test_all_faults_at_once():
    text = (
        "version: 2\ngoal: ''\ntaks: 1\ntasks:\n  - id: A\n    depends_on: [c]\n  - title: x\n  - word\n"
        "  - id: a\n    title: y\n    depends_on: [b]\n    reads: [/x, ../y]\n"
        "  - {id: b, title: z, depends_on: [a]}\n  - {id: b, title: z}\n"
    )
    assert [(line, message) for line, message, _ in faults(text)] == [
        (1, "the plan: `version` is 2"),
        (2, "the plan: `goal` is empty"),
        (3, "the plan has an unknown key `taks`"),
        (5, "task A has no `title`"),
        (7, "task 2 has no `id`"),
        (8, "task 3 is text, not a mapping"),
        (9, "the ids A and a differ only in case"),
        (9, "tasks wait for each other: a → b → a"),
        (12, "task a: `reads` `/x` is an absolute path"),
        (12, "task a: `reads` `../y` leaves the project"),
        (14, "two tasks have the id b, first on line 13"),
    ]


def test_the_message_shows_lines_and_what_to_do():
    with pytest.raises(PlanError) as caught:
        parse_plan(one_task("colour: red", "verify: x"), URI)
    assert caught.value.message == (
        ".air/shared/plan/tasks.yaml has 2 faults:\n"
        "  line 6: task T1 has an unknown key `colour` (known: id, title, description, role, worker, depends_on, "
        "write_area, denied_paths, reads, acceptance, verify, priority, tags, retry, model, max_cost_usd, adr, roles)\n"
        "  line 7: task T1: `verify` is text, not a list (write `[x]`)"
    )
    assert caught.value.hint.startswith("Correct the plan")
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ("# only a comment\n", "the file is empty"),
        ("- a", "a plan is a mapping, this is a list"),
        ("goal: g", "the plan has no `tasks`"),
        ("goal: g\ntasks: []", "the plan has no tasks"),
        ("goal: g\ntasks:", "`tasks` is empty, not a list"),
        ("goal: [g", "it is no YAML: did not find expected ',' or ']'"),
        ("goal: &a g", "it is no YAML: `&a` is an anchor in YAML; anchors are not read"),
    ],
)
def test_no_plan_at_all(text, message):
    assert [one[1] for one in faults(text)] == [message]


def test_the_packaged_plans_are_valid():
    for path in ("resources/init/tasks.yaml", "resources/demo/project/.air/shared/plan/tasks.yaml"):
        text = (REPO / path).read_text()
        plan = parse_plan(text, path)
        jsonschema.validate(yaml.safe_load(text), plan_schema())
        assert parse_plan(plan_text(plan)).goal == plan.goal


def test_the_schema_on_disk_is_the_one_in_code():
    assert json.loads((REPO / "resources/schemas/plan.json").read_text()) == plan_schema()
    jsonschema.Draft202012Validator.check_schema(plan_schema())


WORDS = st.text(st.sampled_from("ab:#-'\"yesno1.0 {}[]*&!|>%@`\u00e9\u2028\x85\t"), min_size=1, max_size=12).filter(
    str.strip
)
LISTS = st.lists(WORDS, max_size=3).map(tuple)
IDS = st.text("aB1_-", min_size=1, max_size=4).filter(lambda text: text[0] not in "-_")
TASKS = st.builds(
    TaskSpec,
    id=IDS,
    title=WORDS.map(str.strip).filter(lambda text: len(text.splitlines()) == 1),
    description=st.one_of(st.just(""), WORDS),
    role=st.sampled_from(["executor", "debugger"]),
    worker=st.sampled_from(["native", "command:x y"]),
    write_area=st.sampled_from([(), ("src/**", "*.md")]),
    denied_paths=st.sampled_from([(), ("/a/",)]),
    reads=st.sampled_from([(), ("a:1-2",)]),
    acceptance=LISTS,
    verify=LISTS,
    priority=st.integers(-5, 5),
    tags=LISTS,
    retry=st.builds(Retry, max_attempts=st.integers(1, 20), escalate=st.sampled_from([(), ("debugger", "main")])),
    model=st.one_of(st.none(), WORDS),
    max_cost_usd=st.one_of(st.none(), st.floats(0.001, 1e6)),
    adr=LISTS,
    roles=st.sampled_from([(), ("reviewer",)]),
)
PLANS = st.builds(
    Plan,
    goal=WORDS,
    tasks=st.lists(TASKS, min_size=1, max_size=3, unique_by=lambda task: task.id.lower()).map(tuple),
)


@given(PLANS)
@settings(max_examples=200, deadline=None)
def test_a_plan_comes_back_from_its_text(plan):
    text = plan_text(plan)
    back = parse_plan(text, URI)
    assert [_without_line(task) for task in back.tasks] == [_without_line(task) for task in plan.tasks]
    assert (back.goal, back.version) == (plan.goal, plan.version)
    SCHEMA.validate(yaml.safe_load(text))


def _without_line(task: TaskSpec) -> dict[str, object]:
    return {name: getattr(task, name) for name in TaskSpec.__slots__ if name != "line"}


TEXTS = st.sampled_from(["a", "T1", "", "a b", "/x", "../x", "src/**"])
SCRAPS = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-2, 30), TEXTS),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=4,
)
KEYS = st.sampled_from([*plan_schema()["properties"]["tasks"]["items"]["properties"], "other"])
ROWS = st.one_of(
    SCRAPS,
    st.dictionaries(KEYS, SCRAPS, max_size=5),
    st.dictionaries(KEYS, SCRAPS, max_size=3).map(lambda row: {"id": "T1", "title": "t", **row}),
)


def problems(text: str) -> tuple[Diagnostic, ...]:
    try:
        assert parse_plan(text, URI).tasks
    except PlanError as error:
        return error.diagnostics
    return ()


@given(st.lists(ROWS, min_size=1, max_size=2))
@settings(max_examples=400, deadline=None)
def test_what_the_schema_lets_in_the_reader_reads_and_faults_have_lines(rows):
    document = {"version": 1, "goal": "g", "tasks": rows}
    found = problems(yaml.dump(document, sort_keys=False))
    assert all(one.line is not None and one.message for one in found)
    if SCHEMA.is_valid(document):
        assert {one.code for one in found} <= {"plan.duplicate_id", "plan.unknown_id", "plan.cycle"}


@given(st.text(st.sampled_from("goaltsk: -\n[]{}#\"'|>&*!%@`\t\x00\ud800id1"), max_size=80))
@settings(max_examples=300, deadline=None)
def test_no_text_raises_anything_else(text):
    for one in (text, "goal: g\ntasks:\n  - id: a\n    title: " + text):
        assert all(fault.code.startswith("plan.") for fault in problems(one))


def test_near_names_and_a_flood_of_faults():
    text = "goal: g\ntasks:\n" + "".join(
        f"  - {{id: task-{n}, title: t, depends_on: [taskk-{n}]}}\n" for n in range(600)
    )
    found = problems(text)
    assert len(found) == 600
    assert found[0].hint.startswith("did you mean task-")
    assert found[-1].hint == "add that task, or remove it from `depends_on`"
    with pytest.raises(PlanError, match="and 580 more"):
        parse_plan(text, URI)
