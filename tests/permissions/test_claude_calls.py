"""Calls of Claude Code become the acts that they are, and nothing malformed gets an answer that allows."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from permissions.policies import worker, written

from aircoding.permissions.claude_calls import MalformedCallError, acts_of_call, answer_to_call, is_inert
from aircoding.permissions.engine import decide
from aircoding.records.policy import CommandAct

CWD = "/w/task"
TOOLS = ("Bash", "Read", "Edit", "MultiEdit", "Write", "NotebookEdit", "NotebookRead", "LS", "Glob", "Grep", "WebFetch")


def answer(tool: str, given: dict[str, Any], *lines: str) -> str:
    policy = worker(*(written(line) for line in lines), tools=("shell", tool))
    answered = answer_to_call(decide(act, policy) for act in acts_of_call(tool, given, cwd=CWD))
    word: str = answered["hookSpecificOutput"]["permissionDecision"]
    return word


@pytest.mark.parametrize(
    ("tool", "given", "expected"),
    [
        ("Bash", {"command": "git status"}, "allow"),
        ("Bash", {"command": "pip install x"}, "allow"),
        ("Bash", {"command": "git push"}, "ask"),
        ("Bash", {"command": "ls; sudo ls"}, "deny"),
        ("Read", {"file_path": "/w/task/src/a.py"}, "allow"),
        ("Read", {"file_path": "src/a.py", "limit": 5}, "allow"),
        ("Read", {"file_path": "/w/task/.env"}, "deny"),
        ("Read", {"file_path": "~/.ssh/id_rsa"}, "deny"),
        ("Read", {"file_path": "/etc/hosts"}, "ask"),
        ("Write", {"file_path": "/w/task/src/a.py", "content": "x"}, "allow"),
        ("Write", {"file_path": "/w/task/README.md", "content": "x"}, "ask"),
        ("Write", {"file_path": "/w/task/.claude/settings.json", "content": "x"}, "deny"),
        ("Edit", {"file_path": "/w/task/src/../.git/config", "old_string": "a", "new_string": "b"}, "deny"),
        ("MultiEdit", {"file_path": "/w/task/src/a.py", "edits": []}, "allow"),
        ("NotebookEdit", {"notebook_path": "/w/task/src/a.ipynb", "new_source": ""}, "allow"),
        ("NotebookEdit", {"notebook_path": "/etc/a.ipynb", "new_source": ""}, "deny"),
        ("Glob", {"pattern": "**/*.py"}, "allow"),
        ("Glob", {"pattern": "*.py", "path": "/home/u"}, "ask"),
        ("Glob", {"pattern": "/home/u/.ssh/*"}, "deny"),
        ("Glob", {"pattern": "../../home/u/.ssh/*"}, "deny"),
        ("Grep", {"pattern": "TODO"}, "allow"),
        ("Grep", {"pattern": "KEY", "path": "/w/task/.env"}, "deny"),
        ("Grep", {"pattern": "KEY", "glob": ".env"}, "deny"),
        ("Grep", {"pattern": "KEY", "glob": ".e*"}, "ask"),
        ("Grep", {"pattern": "KEY", "glob": "*.py"}, "allow"),
        ("WebFetch", {"url": "https://evil.example/x", "prompt": "p"}, "deny"),
        ("WebFetch", {"url": "https://a.example@evil.example/", "prompt": "p"}, "deny"),
        ("WebFetch", {"url": "file:///home/u/.ssh/id_rsa", "prompt": "p"}, "deny"),
        ("WebSearch", {"query": "x"}, "ask"),
        ("mcp__server__act", {}, "ask"),
        ("SomeNewTool", {"command": "ls"}, "ask"),
    ],
)
def test_each_tool_is_judged_by_what_it_does(tool: str, given: dict[str, Any], expected: str) -> None:
    assert answer(tool, given) == expected


def test_lines_name_hosts_and_tools() -> None:
    assert answer("WebFetch", {"url": "https://a.example/x"}, "network: {allow: [a.example]}") == "allow"
    assert answer("mcp__server__act", {}, "tools: {allow: [mcp__server__act]}") == "allow"
    assert answer("mcp__server__act", {}, "tools: {deny: [mcp__server__act]}") == "deny"


def test_what_is_announced_is_shown() -> None:
    decisions = [decide(CommandAct(command="pip install x"), worker())]
    assert "pip install x" in answer_to_call(decisions)["systemMessage"]


def test_a_command_that_takes_too_long_to_judge_is_refused() -> None:
    with pytest.raises(MalformedCallError):
        acts_of_call("Bash", {"command": "ls " + "a" * 200_000}, cwd=CWD)


def test_no_acts_are_no_leave() -> None:
    with pytest.raises(MalformedCallError):
        answer_to_call([])


@given(
    st.sampled_from(TOOLS),
    st.dictionaries(
        st.sampled_from(["command", "file_path", "notebook_path", "path", "pattern", "url", "glob"]),
        st.one_of(st.none(), st.booleans(), st.integers(), st.lists(st.text()), st.just("")),
    ),
)
@settings(max_examples=200, deadline=None)
def test_a_call_with_fields_of_another_kind_is_no_call(tool: str, given: dict[str, Any]) -> None:
    with pytest.raises(MalformedCallError):
        acts_of_call(tool, given, cwd=CWD)


@given(st.sampled_from(TOOLS), st.text(min_size=1, max_size=40))
@settings(max_examples=300, deadline=None)
def test_no_text_breaks_an_answer(tool: str, text: str) -> None:
    given = dict.fromkeys(("command", "file_path", "notebook_path", "path", "pattern", "url"), text)
    assert answer(tool, given) in {"allow", "ask", "deny"}


def test_tools_that_touch_nothing_get_no_decision() -> None:
    assert is_inert("TodoWrite")
    assert not any(is_inert(tool) for tool in (*TOOLS, "WebSearch", "mcp__a__b"))
