"""The JSON Schemas of the contracts: equal to the dataclasses, and true of real values."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator
from support.answers import ANSWERS, answer_text
from support.contracts import CONTRACTS, contract_text
from support.projects import Desk, make_project
from support.texts import REPOSITORY, assert_file_equals

from aircoding.context.assembler import assemble
from aircoding.permissions.engine import decide
from aircoding.permissions.policy_file import parse_policy_file
from aircoding.records.digests import canonical_json
from aircoding.records.events import Event
from aircoding.records.ids import RunId, TaskId
from aircoding.records.jsonable import jsonable
from aircoding.records.manifest import AssembledContext, Overflow
from aircoding.records.policy import CommandAct, PolicyLevel
from aircoding.records.sessions import SessionOutcome
from aircoding.records.tasks import TaskSpec
from aircoding.sources.resources import list_resources, read_resource

FOLDER = REPOSITORY / "resources" / "schemas"
POLICY_FILES = ("permissions/floor.yaml", "permissions/defaults.yaml", "init/permissions.yaml")


def validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(json.loads(read_resource(f"schemas/{name}.json")))


def assert_valid(name: str, value: object) -> None:
    plain = json.loads(canonical_json(jsonable(value)))
    assert [error.message[:200] for error in validator(name).iter_errors(plain)] == []


@pytest.mark.parametrize("name", CONTRACTS)
def test_the_file_equals_what_the_dataclass_gives(name: str) -> None:
    assert_file_equals(FOLDER / f"{name}.json", contract_text(name))


@pytest.mark.parametrize("name", ANSWERS)
def test_the_file_of_an_answer_equals_what_its_command_prints(name: str) -> None:
    assert_file_equals(FOLDER / f"answer-{name}.json", answer_text(name))


@pytest.mark.parametrize("path", list_resources("schemas", ".json"))
def test_every_schema_is_one(path: str) -> None:
    schema = json.loads(read_resource(path))
    Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["title"]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    files = {"AGENTS.md": "Run `sudo make me`.\n", "CLAUDE.md": "x", "src/AGENTS.md": "deep", "src/a.py": "x\n" * 4_000}
    return Desk(root=make_project(tmp_path / "p", files), home=tmp_path / "home")


def test_what_an_assembly_gives_is_valid(desk: Desk) -> None:
    task = TaskSpec(id=TaskId("T1"), title="t", write_area=("src/**",), reads=("src/a.py",), verify=("sudo reboot",))
    brief = desk.brief(task=task)
    snapshot = desk.snapshot(brief)
    context = assemble(snapshot)
    assert isinstance(context, AssembledContext)
    assert context.conflicts
    assert_valid("assembled-context", context)
    assert_valid("manifest", context.manifest)
    assert_valid("snapshot", snapshot)
    assert_valid("session-brief", brief)
    assert_valid("profile", snapshot.profile)
    for conflict in context.conflicts:
        assert_valid("conflict", conflict)


def test_an_overflow_is_valid(desk: Desk) -> None:
    desk.window_tokens = 9_000
    overflow = assemble(desk.snapshot(desk.brief()))
    assert isinstance(overflow, Overflow)
    assert_valid("overflow", overflow)


def test_events_outcomes_and_decisions_are_valid(desk: Desk) -> None:
    snapshot = desk.snapshot(desk.brief())
    assert_valid("decision", decide(CommandAct(command="sudo ls | tee x"), snapshot.policy))
    assert_valid(
        "task-event", Event(run_id=RunId("r"), type="task.done", at="2026-11-30T12:00:00Z", payload={"a": [1]})
    )
    outcome = SessionOutcome(session_id=desk.brief().session_id, status="done", summary="s", result={}, turns=3)
    assert_valid("session-outcome", outcome)


def test_a_field_that_nobody_promised_is_refused(desk: Desk) -> None:
    context = assemble(desk.snapshot(desk.brief()))
    plain = json.loads(canonical_json(jsonable(context)))
    assert not validator("assembled-context").is_valid({**plain, "mood": "good"})
    del plain["refs"]
    assert not validator("assembled-context").is_valid(plain)


def faults(text: str) -> bool:
    return bool(parse_policy_file(text, uri="x", level=PolicyLevel.PROJECT).diagnostics)


@pytest.mark.parametrize("path", POLICY_FILES)
def test_the_packaged_policies_are_valid(path: str) -> None:
    assert validator("permissions").is_valid(yaml.safe_load(read_resource(path)))


def lists(schema: dict[str, Any], *above: str) -> list[tuple[str, ...]]:
    """The paths of all lists that the schema of a policy file knows."""
    found = []
    for name, part in schema.get("properties", {}).items():
        if name != "version":
            found += [(*above, name)] if "properties" not in part else lists(part, *above, name)
    return found


@pytest.mark.parametrize("path", lists(json.loads((FOLDER / "permissions.json").read_text())), ids=".".join)
def test_the_schema_of_a_policy_file_knows_the_lists_that_the_reader_knows(path: tuple[str, ...]) -> None:
    value: Any = ["AB_CD"]
    for name in reversed(path):
        value = {name: value}
    text = yaml.safe_dump({"version": 1, **value})
    assert not faults(text)
    assert validator("permissions").is_valid(yaml.safe_load(text))


@pytest.mark.parametrize(
    "text",
    [
        "version: 2",
        "version: 1\npaths: {write: {permit: [a]}}",
        "version: 1\ncommands: {deny: sudo}",
        "version: 1\nnetwork: {announce: [a]}",
        "version: 1\nrules: {}",
    ],
)
def test_the_schema_and_the_reader_refuse_the_same_faults(text: str) -> None:
    assert faults(text)
    assert not validator("permissions").is_valid(yaml.safe_load(text))
