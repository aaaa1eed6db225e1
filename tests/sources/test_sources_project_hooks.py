"""`.air/shared/hooks.yaml`: read strictly, and under a digest that every byte of what would run is part of."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.projects import write_tree

from aircoding.records.hooks import HookEvent, ProjectHook
from aircoding.sources.project_hooks import HOOKS_FILE, read_project_hooks

TEXT = """\
version: 1
hooks:
- {name: b, event: pre_tool_use, command: [python3, ./scripts/check.py, --fast], timeout_seconds: 2.5}
- {name: a, event: context, python: "scripts/told.py:tell"}
- {name: c, event: pre_llm_call, python: scripts/told.py}
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write_tree(tmp_path, {HOOKS_FILE: TEXT, "scripts/check.py": "x", "scripts/told.py": "y"})
    return tmp_path


def test_hooks_are_read_in_the_order_of_the_file(root: Path) -> None:
    found = read_project_hooks(root)
    assert found is not None
    assert found.hooks == (
        ProjectHook(
            name="b",
            event=HookEvent.PRE_TOOL_USE,
            command=("python3", "./scripts/check.py", "--fast"),
            timeout_seconds=2.5,
        ),
        ProjectHook(name="a", event=HookEvent.CONTEXT, python="scripts/told.py", function="tell"),
        ProjectHook(name="c", event=HookEvent.PRE_LLM_CALL, python="scripts/told.py", function="hook"),
    )
    assert sorted(found.files) == [HOOKS_FILE, "scripts/check.py", "scripts/told.py"]
    assert found.texts == {"scripts/told.py": "y"}


@pytest.mark.parametrize("name", [HOOKS_FILE, "scripts/check.py", "scripts/told.py"])
def test_a_change_of_any_file_changes_the_digest(root: Path, name: str) -> None:
    before = read_project_hooks(root)
    with (root / name).open("a") as file:
        file.write("# more\n")
    after = read_project_hooks(root)
    assert before is not None
    assert after is not None
    assert before.digest != after.digest
    assert not after.faults


def test_a_script_that_appears_later_changes_the_digest(root: Path) -> None:
    before = read_project_hooks(root)
    (root / "--fast").write_text("now a file")
    after = read_project_hooks(root)
    assert before is not None
    assert after is not None
    assert before.digest != after.digest


def test_a_python_file_that_is_gone_or_leads_out_is_a_fault(
    root: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside") / "told.py"
    outside.write_text("y")
    (root / "scripts/told.py").unlink()
    gone = read_project_hooks(root)
    (root / "scripts/told.py").symlink_to(outside)
    led_out = read_project_hooks(root)
    for found in (gone, led_out):
        assert found is not None
        assert found.hooks == ()
        assert "scripts/told.py cannot be read" in found.faults[0]


def test_no_file_is_no_hooks(tmp_path: Path) -> None:
    assert read_project_hooks(tmp_path) is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "keys are expected"),
        ("version: 2\nhooks: []", "1: `version` must be 1"),
        ("version: 1", "`hooks` must be a list"),
        ("version: 1\nhooks: []\nmore: 1", "3: `more` is not known"),
        ("version: 1\nversion: 1\nhooks: []", "2: `version` stands twice"),
        ("version: 1\nhooks: [1]", "keys are expected"),
        ("version: 1\nhooks: [{event: context, python: a.py}]", "`name` must be a text"),
        ("version: 1\nhooks: [{name: a b, event: context, python: a.py}]", "'a b' is no name"),
        ("version: 1\nhooks: [{name: a, event: stop, python: a.py}]", "there is no event 'stop'"),
        ("version: 1\nhooks: [{name: a, event: context}]", "give either"),
        ("version: 1\nhooks: [{name: a, event: context, python: a.py, command: [b]}]", "give either"),
        ("version: 1\nhooks: [{name: a, event: context, python: ../a.py}]", "below the project's root"),
        ("version: 1\nhooks: [{name: a, event: context, python: /a.py}]", "below the project's root"),
        ("version: 1\nhooks: [{name: a, event: context, python: a.sh}]", "name a .py file"),
        ("version: 1\nhooks: [{name: a, event: context, python: 'a.py:b c'}]", "name a .py file"),
        ("version: 1\nhooks: [{name: a, event: context, command: ls}]", "a list of words"),
        ("version: 1\nhooks: [{name: a, event: context, command: []}]", "a list of words"),
        ("version: 1\nhooks: [{name: a, event: context, command: [[a]]}]", "a list of words"),
        ("version: 1\nhooks: [{name: a, event: context, command: [a], timeout_seconds: 0}]", "more than 0"),
        ("version: 1\nhooks: [{name: a, event: context, command: [a], timeout_seconds: soon}]", "more than 0"),
        ("version: 1\nhooks: [{name: a, event: context, command: [a], timeout_seconds: true}]", "more than 0"),
        (
            "version: 1\nhooks:\n- {name: a, event: context, command: [a]}\n- {name: a, event: context, command: [b]}",
            "4: two hooks are called a",
        ),
        ("version: 1\nhooks: [", "hooks.yaml:"),
        ("version: 1\nhooks: &a []", "hooks.yaml:"),
    ],
)
def test_a_fault_names_its_line_and_no_hook_of_the_file_holds(tmp_path: Path, text: str, said: str) -> None:
    write_tree(tmp_path, {HOOKS_FILE: text})
    found = read_project_hooks(tmp_path)
    assert found is not None
    assert found.hooks == ()
    assert said in found.faults[0]


def test_a_file_that_is_no_text_is_a_fault(tmp_path: Path) -> None:
    write_tree(tmp_path, {HOOKS_FILE: b"\xff\xfe\x00"})
    found = read_project_hooks(tmp_path)
    assert found is not None
    assert found.faults
