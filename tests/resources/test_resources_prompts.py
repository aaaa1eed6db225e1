"""The packaged prompts: readable as a whole, and free of contradictions that a program can find."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from string import Template
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from support.projects import Desk, make_project
from support.prompts import prompt_text
from support.texts import REPOSITORY, assert_file_equals

from aircoding.errors import InternalError
from aircoding.records.ids import TaskId
from aircoding.records.tasks import Plan, TaskSpec
from aircoding.sources.resources import list_resources, prompts_digest, read_resource
from aircoding.sources.role_text import result_schema, tool_specs
from aircoding.sources.roles import TOOL_CATEGORIES, load_profiles
from aircoding.sources.task_text import graph_text, task_text

PROFILES = load_profiles()
SCHEMAS = list_resources("prompts/output-schemas")
SNAPSHOTS = REPOSITORY / "tests" / "snapshots" / "prompts"


@pytest.mark.parametrize("role", PROFILES)
def test_the_prompt_of_a_role_is_the_text_that_was_read_and_approved(tmp_path: Path, role: str) -> None:
    desk = Desk(root=make_project(tmp_path / "p", {}), home=tmp_path / "home")
    assert_file_equals(SNAPSHOTS / f"{role}.txt", prompt_text(desk, role))


def test_a_task_in_words_is_the_text_that_was_read_and_approved() -> None:
    full = TaskSpec(
        id=TaskId("T7"),
        title="Read amounts",
        description="Amounts come as text.\nBoth separators occur.",
        depends_on=(TaskId("T1"), TaskId("T2")),
        write_area=("src/money/**", "tests/test_money.py"),
        denied_paths=("src/money/legacy/**",),
        reads=("src/money/parse.py:1-80",),
        acceptance=("1.234,50 and 1,234.50 are read.", "Anything else\nis refused."),
        verify=("python -m pytest tests/test_money.py",),
        tags=("money",),
        adr=("0003",),
    )
    bare = TaskSpec(id=TaskId("T8"), title="Look around")
    text = "\n\n====\n\n".join((task_text(full), task_text(bare), graph_text(Plan(goal="Money", tasks=(full, bare)))))
    assert_file_equals(SNAPSHOTS / "task.txt", text + "\n")


def test_roles_that_write_memory_agree_on_what_may_be_kept(tmp_path: Path) -> None:
    """Each of them is told once for all roles, and none is told another thing by its own text."""
    writers = [role for role, profile in PROFILES.items() if "memory" in profile.tool_categories]
    assert {"main", "experience_miner"} <= set(writers)
    desk = Desk(root=make_project(tmp_path / "p", {}), home=tmp_path / "home")
    for role in writers:
        lines = [
            line for line in prompt_text(desk, role).splitlines() if re.search(r"^- (Keep with|Write to mem)", line)
        ]
        assert lines, role
        assert all("only what the user has said or confirmed" in line for line in lines), (role, lines)


@pytest.mark.parametrize("role", PROFILES)
def test_a_prompt_names_only_tools_that_the_role_has(tmp_path: Path, role: str) -> None:
    profile = PROFILES[role]
    have = {tool.name for tool in tool_specs(profile)}
    every = {Path(path).stem for path in list_resources("tools")}
    desk = Desk(root=make_project(tmp_path / "p", {}), home=tmp_path / "home")
    segments = desk.snapshot(desk.brief(role)).segments
    own = [
        one.text
        for one in segments
        if one.source.uri.startswith("resource:prompts/") and "invariant" not in one.source.uri
    ]
    named = {name for text in own for name in re.findall(r"`(\w+)`", text)} & every
    assert named <= have


def test_there_is_guidance_for_every_category_and_each_role_has_a_start() -> None:
    assert {Path(path).stem for path in list_resources("prompts/guidance")} == set(TOOL_CATEGORIES)
    starts = {Path(path).stem for path in list_resources("prompts/instructions")}
    assert starts == {*PROFILES, "default", "output-format", "output-text"}


@pytest.mark.parametrize("path", list_resources("prompts/instructions"))
def test_every_placeholder_is_one_that_is_filled(path: str) -> None:
    template = Template(read_resource(path))
    assert template.is_valid()
    assert set(template.get_identifiers()) <= {"task_id", "attempt", "schema", "required", "optional"}


@pytest.mark.parametrize("path", list_resources("prompts", ".md"))
def test_prompts_are_short_and_end_with_one_line_feed(path: str) -> None:
    text = read_resource(path)
    assert len(text.encode()) < 4_000
    assert text.endswith("\n")
    assert not text.endswith("\n\n")
    assert "\t" not in text
    assert all(line == line.rstrip() for line in text.split("\n"))


def objects(schema: Any) -> Iterator[dict[str, Any]]:
    """Yield every object schema inside a schema."""
    if isinstance(schema, dict):
        if "properties" in schema and schema.get("type") is not None:
            yield schema
        for value in schema.values():
            yield from objects(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from objects(value)


@pytest.mark.parametrize("path", SCHEMAS)
def test_a_result_schema_is_valid_and_closed(path: str) -> None:
    schema = json.loads(read_resource(path))
    Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    found = list(objects(schema))
    assert found
    for one in found:
        assert one["additionalProperties"] is False
        assert set(one["required"]) <= set(one["properties"])
    assert not {"anyOf", "oneOf", "allOf"} & set(schema), "providers refuse these at the top of a tool's input"


def test_every_result_schema_is_some_roles() -> None:
    assert {
        f"prompts/output-schemas/{one.result_schema}.json" for one in PROFILES.values() if one.result_schema
    } == set(SCHEMAS)


WORK = {"status": "done", "summary": "s", "changed_files": ["a"], "verification": []}
FINDING = {"dimension": "security", "severity": "major", "file": "a", "line": 3, "message": "m"}
REVIEW = {"verdict": "approve", "summary": "s", "findings": [], "follow_ups": []}
DEBUG = {
    "status": "fixed",
    "cause": "c",
    "failure_signature": "f",
    "evidence": ["e"],
    "changed_files": [],
    "verification": [{"command": "c", "passed": True, "detail": ""}],
}


@pytest.mark.parametrize(
    ("role", "value", "valid"),
    [
        ("executor", WORK, True),
        ("executor", {**WORK, "status": "blocked"}, False),
        ("executor", {**WORK, "status": "blocked", "blocker": "b", "evidence": ["e"]}, True),
        ("executor", {**WORK, "status": "failed"}, False),
        ("executor", {**WORK, "status": "failed", "evidence": ["e"]}, True),
        ("executor", {**WORK, "status": "finished"}, False),
        ("executor", {**WORK, "mood": "good"}, False),
        ("reviewer", REVIEW, True),
        ("reviewer", {**REVIEW, "verdict": "changes_requested"}, False),
        ("reviewer", {**REVIEW, "verdict": "changes_requested", "findings": [FINDING]}, True),
        ("reviewer", {**REVIEW, "findings": [{**FINDING, "dimension": "taste"}]}, False),
        ("reviewer", {**REVIEW, "findings": [{**FINDING, "line": None}]}, True),
        ("debugger", DEBUG, True),
        ("debugger", {**DEBUG, "evidence": []}, False),
        (
            "scheduler",
            {"decision_type": "retry", "decision": {"task": "T1", "again": False, "difference": ""}, "reason": "r"},
            True,
        ),
        ("scheduler", {"decision_type": "retry", "decision": {"task": "T1"}, "reason": "r"}, False),
        (
            "scheduler",
            {"decision_type": "wave_plan", "decision": {"start": ["T1"]}, "reason": "r", "risks": ["x"]},
            True,
        ),
        ("scheduler", {"decision_type": "holiday", "decision": {"start": []}, "reason": "r"}, False),
    ],
)
def test_results_are_accepted_or_refused_as_their_role_says(role: str, value: dict[str, Any], valid: bool) -> None:
    schema = result_schema(PROFILES[role])
    assert schema is not None
    assert Draft202012Validator(dict(schema)).is_valid(value) is valid


def test_the_digest_of_the_prompts_is_a_digest_of_all_of_them() -> None:
    assert re.fullmatch("[0-9a-f]{64}", prompts_digest())
    assert all("__pycache__" not in path for path in list_resources("prompts"))


@pytest.mark.parametrize("path", ["", "../pyproject.toml", "/etc/passwd", "prompts/../../x", "prompts/none.md"])
def test_a_name_that_is_no_resource_is_refused(path: str) -> None:
    with pytest.raises(InternalError):
        read_resource(path)


def test_a_project_role_gets_the_general_start(tmp_path: Path) -> None:
    role = "---\nrole: writer\ntitle: Writer\nlayers: {L5: {}}\nwrites: none\ntools: [read]\n---\nYou write.\n"
    desk = Desk(root=make_project(tmp_path / "p", {".air/shared/roles/w.md": role}), home=tmp_path / "home")
    snapshot = desk.snapshot(desk.brief("writer"))
    starts = [one.text for one in snapshot.segments if one.source.uri.endswith("instructions/default.md")]
    assert starts == ["Do what task `T1` asks (attempt 1), within the limits of your role."]
    assert [tool.name for tool in snapshot.tools] == ["artifact_read", "fs_glob", "fs_grep", "fs_read"]
