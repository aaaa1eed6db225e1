"""`permissions check`, `explain`, `test` and `hook` as processes, in a folder that is no project of ours."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from support.demo_runs import AIR, Ended, air
from support.projects import make_commit, make_project, write_tree


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder without git and without `.air`, and a user without any file."""
    monkeypatch.setenv("AIR_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("CLAUDE_PROJECT_DIR", raising=False)
    write_tree(tmp_path / "plain", {"src/a.py": "A = 1\n", ".env": "KEY=1\n"})
    return tmp_path / "plain"


def hook(folder: Path, given: bytes, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*AIR, "permissions", "hook", *arguments], cwd=folder, input=given, capture_output=True, timeout=60
    )


def call(folder: Path, tool: str, given: dict[str, Any]) -> bytes:
    event = {"hook_event_name": "PreToolUse", "cwd": str(folder), "tool_name": tool, "tool_input": given}
    return json.dumps(event).encode()


def decision(folder: Path, *arguments: str) -> str:
    ended: Ended = air(folder, "permissions", "check", *arguments, "--json")
    assert ended.code == 0, ended.output
    effect: str = ended.result["decision"]["effect"]
    return effect


@pytest.mark.parametrize(
    ("arguments", "effect"),
    [
        (["git status"], "allow"),
        (["sudo ls"], "deny"),
        (["--path", "src/a.py"], "allow"),
        (["--path", "src/a.py", "--write"], "allow"),
        (["--path", "src/a.py", "--write", "--write-area", "docs/**"], "ask"),
        (["--path", ".env"], "deny"),
        (["--host", "evil.example"], "deny"),
    ],
)
def test_each_kind_of_act_is_judged_without_a_project(folder: Path, arguments: list[str], effect: str) -> None:
    assert decision(folder, *arguments) == effect
    assert sorted(path.name for path in folder.iterdir()) == [".env", "src"]


def test_a_path_is_judged_where_links_lead_and_from_the_folder_that_asks(folder: Path) -> None:
    (folder / "notes.txt").symlink_to(".env")
    (folder / "out").symlink_to("/etc")
    assert decision(folder, "--path", "notes.txt") == "deny"
    assert decision(folder, "--path", "out/x", "--write") == "deny"
    assert decision(folder / "src", "--path", "../.env") == "deny"
    assert decision(folder / "src", "cat a.py") == "allow"


def test_the_user_s_file_counts_and_the_folder_s_own_does_not_allow(folder: Path) -> None:
    policy = "version: 1\ncommands: {allow: [foo *], deny: [ls]}\n"
    write_tree(folder, {".air/shared/permissions.yaml": policy})
    assert (decision(folder, "foo x"), decision(folder, "ls")) == ("ask", "deny")
    write_tree(folder.parent / "home", {"permissions.yaml": "version: 1\ncommands: {allow: [foo *]}\n"})
    assert decision(folder, "foo x") == "allow"


@pytest.mark.parametrize("arguments", [[], ["ls", "--host", "a"], ["ls", "--write"], ["--path", "x", "--host", "y"]])
def test_one_act_must_be_named(folder: Path, arguments: list[str]) -> None:
    assert air(folder, "permissions", "check", *arguments).code == 2


def test_explain_names_the_line_and_what_would_change_it(folder: Path) -> None:
    told = air(folder, "permissions", "explain", "foo bar --x")
    assert told.code == 0
    assert "`commands.allow: [foo bar *]` in ~/.air/permissions.yaml" in told.output
    assert "fingerprint: " in told.output
    refused = air(folder, "permissions", "explain", "--path", ".env", "--json").result["explanation"]
    assert refused["changes"] == []
    assert "floor" in refused["fixed"][0]


def test_a_table_of_cases_ends_with_1_where_one_does_not_hold(folder: Path) -> None:
    write_tree(folder, {"cases.yaml": "version: 1\ncases:\n- {command: git push, expect: ask}\n"})
    assert air(folder, "permissions", "test", "cases.yaml").code == 0
    write_tree(folder, {"cases.yaml": "version: 1\ncases:\n- {command: ls, expect: ask}\n- {host: a, expect: deny}\n"})
    told = air(folder, "permissions", "test", "cases.yaml")
    assert (told.code, "cases.yaml:3: allow, not ask" in told.output) == (1, True)
    results = air(folder, "permissions", "test", "cases.yaml", "--json").result
    assert (results["failed"], len(results["results"])) == (1, 2)
    write_tree(folder, {"cases.yaml": "version: 1\ncases:\n- {comand: ls, expect: ask}\n"})
    assert air(folder, "permissions", "test", "cases.yaml").code == 2


@pytest.mark.parametrize(
    ("tool", "given", "word"),
    [
        ("Bash", {"command": "git status"}, "allow"),
        ("Bash", {"command": "sudo ls"}, "deny"),
        ("Read", {"file_path": "src/a.py"}, "allow"),
        ("Read", {"file_path": "link"}, "deny"),
        ("WebSearch", {"query": "x"}, "ask"),
    ],
)
def test_the_hook_answers_as_the_protocol_says(folder: Path, tool: str, given: dict[str, Any], word: str) -> None:
    (folder / "link").symlink_to(".env")
    ended = hook(folder, call(folder, tool, given))
    assert ended.returncode == 0, ended.stderr
    answer = json.loads(ended.stdout)["hookSpecificOutput"]
    assert (answer["hookEventName"], answer["permissionDecision"]) == ("PreToolUse", word)
    assert answer["permissionDecisionReason"].startswith("aircoding: ")


def test_with_nobody_there_the_hook_refuses_what_it_would_ask(folder: Path) -> None:
    ended = hook(folder, call(folder, "Bash", {"command": "git push"}), "--headless")
    assert json.loads(ended.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"


@pytest.mark.parametrize(
    "given",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff\xfe",
        b'{"hook_event_name": "PreToolUse"}',
        b'{"hook_event_name": "Stop", "cwd": "/", "tool_name": "Bash", "tool_input": {"command": "ls"}}',
        b'{"hook_event_name": "PreToolUse", "cwd": "x", "tool_name": "Bash", "tool_input": {"command": "ls"}}',
        b'{"hook_event_name": "PreToolUse", "cwd": "/", "tool_name": "Bash", "tool_input": {"cmd": "ls"}}',
        b'{"hook_event_name": "PreToolUse", "cwd": "/", "tool_name": "Bash", "tool_input": "ls"}',
        b'{"hook_event_name": "PreToolUse", "cwd": "/", "tool_name": 1, "tool_input": {}}',
        b"[" * 100_000,
    ],
)
def test_whatever_is_malformed_is_refused_by_exit_code_2(folder: Path, given: bytes) -> None:
    ended = hook(folder, given)
    assert (ended.returncode, ended.stdout) == (2, b"")
    assert b"refuses this call" in ended.stderr


def test_a_policy_that_cannot_be_read_refuses_every_call(folder: Path) -> None:
    write_tree(folder.parent / "home", {"permissions.yaml": "version: 1\ncommands: {alow: [ls]}\n"})
    ended = hook(folder, call(folder, "Bash", {"command": "ls"}))
    assert (ended.returncode, b"alow" in ended.stderr) == (2, True)
    assert air(folder, "permissions", "check", "ls").code == 2


def test_a_policy_that_changed_since_it_was_trusted_allows_nothing_and_its_changes_are_shown(tmp_path: Path) -> None:
    allows = "version: 1\ncommands: {allow: [foo *]}\n"
    root = make_commit(make_project(tmp_path / "project", {".air/shared/permissions.yaml": allows}))
    assert decision(root, "foo x") == "ask"
    first = air(root, "permissions", "trust", "--yes")
    assert "+commands: {allow: [foo *]}" in first.output
    assert decision(root, "foo x") == "allow"
    write_tree(root, {".air/shared/permissions.yaml": allows.replace("foo *", "foo *, bar *")})
    assert (decision(root, "foo x"), decision(root, "bar x")) == ("ask", "ask")
    again = air(root, "permissions", "trust", "--yes", "--json").result["trusted"]["policy_changes"]
    assert "-commands: {allow: [foo *]}" in again
    assert "+commands: {allow: [foo *, bar *]}" in again
    assert decision(root, "bar x") == "allow"
    assert air(root, "permissions", "trust", "--yes", "--json").result["trusted"]["policy_changes"] == []


@pytest.mark.parametrize("policy", ["version: 1\ncommands: {deny: [x]\n", "version: 1\ncommand: {deny: [x]}\n"])
def test_a_policy_that_cannot_be_read_is_not_trusted(tmp_path: Path, policy: str) -> None:
    root = make_commit(make_project(tmp_path / "project", {".air/shared/permissions.yaml": policy}))
    ended = air(root, "permissions", "trust", "--yes")
    assert (ended.code, "error: project:.air/shared/permissions.yaml:" in ended.output) == (2, True)
    assert "trusted:" not in ended.output
