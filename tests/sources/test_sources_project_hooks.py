"""`.air/shared/hooks.yaml`: read strictly, and under a digest that every byte of what would run is part of."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from support.projects import write_tree

from aircoding.records.hooks import HookEvent, ProjectHook
from aircoding.records.ids import Digest
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


def digest_of(root: Path, *command: str) -> Digest:
    hooks = [{"name": "h", "event": "pre_tool_use", "command": list(command)}]
    write_tree(root, {HOOKS_FILE: json.dumps({"version": 1, "hooks": hooks})})
    found = read_project_hooks(root)
    assert found is not None
    assert found.faults == ()
    return found.digest


@pytest.mark.parametrize(
    ("command", "changed"),
    [
        (["python3", "tools"], "tools/__main__.py"),
        (["python3", "-m", "tools"], "tools/deep/part.py"),
        (["python3", "-m", "tools.deep.part"], "tools/deep/part.py"),
        (["python3", "-m", "s"], "s.py"),
        (["python3", "-c", "import s; s.go()"], "s.py"),
        (["python3", "-c", "exec(open('s.py').read())"], "s.py"),
        (["python3", "."], "__main__.py"),
        (["sh", ".//s.sh"], "s.sh"),
        (["sh", "tools/../s.sh"], "s.sh"),
        (["sh", "tools/deep/../../s.sh"], "s.sh"),
        (["sh", "-c", ". ./s.sh"], "s.sh"),
        (["sh", "-c", "cd tools && ./run.sh"], "tools/run.sh"),
        (["sh", "-c", "sh -c '. ./s.sh'"], "s.sh"),
        (["sh", "-c", '. "$PWD/s.sh"'], "s.sh"),
        (["sh", "-c", "x=./s.sh; . $x"], "s.sh"),
        (["sh", "-c", ". ./s*.sh"], "s.sh"),
        (["bash", "-c.", "./s.sh"], "s.sh"),
        (["sh", "link.sh"], "s.sh"),
        (["python3", "linked"], "tools/__main__.py"),
        (["sh", "linked/../s.sh"], "s.sh"),
        (["make", "-fs.sh"], "s.sh"),
        (["make", "--file=s.sh"], "s.sh"),
        (["env", "PYTHONPATH=x:tools", "python3"], "tools/run.sh"),
        (["sh", "{root}/s.sh"], "s.sh"),
        (["sh", "{root}/tools/../s.sh"], "s.sh"),
        (["sh", "-c", ". {root}/s.sh"], "s.sh"),
        (["./prog"], "prog"),
    ],
)
def test_what_a_command_names_is_covered_however_it_is_written(root: Path, command: list[str], changed: str) -> None:
    files = ("s.sh", "s.py", "__main__.py", "tools/__main__.py", "tools/run.sh", "tools/deep/part.py")
    write_tree(root, {**dict.fromkeys(files, "x"), "prog": b"\x7fELF\0"})
    (root / "link.sh").symlink_to("s.sh")
    (root / "linked").symlink_to("tools")
    words = [word.replace("{root}", str(root)) for word in command]
    before = digest_of(root, *words)
    assert digest_of(root, *words) == before
    with (root / changed).open("a") as file:
        file.write("more")
    assert digest_of(root, *words) != before


def test_a_new_file_in_a_named_folder_and_a_link_that_leads_elsewhere_change_the_digest(root: Path) -> None:
    write_tree(root, {"tools/a.py": "x", "one/a.py": "x", "two/a.py": "x"})
    (root / "tools/part").symlink_to("../one")
    before = digest_of(root, "python3", "tools")
    (root / "tools/part").unlink()
    (root / "tools/part").symlink_to("../two")
    led_elsewhere = digest_of(root, "python3", "tools")
    write_tree(root, {"tools/b.py": ""})
    assert len({before, led_elsewhere, digest_of(root, "python3", "tools")}) == 3


def faults_of(root: Path, *command: str) -> tuple[str, ...]:
    hooks = [{"name": "h", "event": "pre_tool_use", "command": list(command)}]
    write_tree(root, {HOOKS_FILE: json.dumps({"version": 1, "hooks": hooks})})
    found = read_project_hooks(root)
    assert found is not None
    assert found.hooks == ()
    return found.faults


def test_a_folder_beyond_the_limits_cannot_be_trusted(root: Path) -> None:
    write_tree(root, {f"many/{number}.py": "" for number in range(1_001)})
    assert "more than 1000, or than 16000000 bytes" in faults_of(root, "python3", "many")[0]
    with (root / "large").open("wb") as file:
        file.truncate(16_000_001)
    assert "more than 16000000" in faults_of(root, "sh", "large")[0]


def test_a_folder_that_leads_out_or_holds_no_regular_file_cannot_be_trusted(
    root: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    write_tree(root, {"tools/a.py": "x", "odd/a.py": "x"})
    (root / "tools/out").symlink_to(tmp_path_factory.mktemp("outside"))
    assert "tools/out is a link that leaves the project" in faults_of(root, "python3", "tools")[0]
    os.mkfifo(root / "odd/pipe")
    assert "odd/pipe cannot be read" in faults_of(root, "python3", "odd")[0]


def test_words_that_name_nothing_here_cover_nothing(root: Path) -> None:
    command = ["sh", "-c", "echo .. / ; cd .. ; exit 2", "/etc/hosts", "--", "~"]
    digest_of(root, *command)
    found = read_project_hooks(root)
    assert found is not None
    assert (list(found.files), found.covered) == ([HOOKS_FILE], {"h": ()})


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
