"""What is proposed as a change of the policy does what it says: the file with it is parsed and judged anew."""

from __future__ import annotations

import pytest
from permissions.policies import worker, written

from aircoding.permissions.engine import decide
from aircoding.permissions.explain import explain
from aircoding.records.policy import Act, CommandAct, Effect, HostAct, PathAct


@pytest.mark.parametrize(
    ("act", "lines"),
    [
        (CommandAct(command="foo bar --x"), "commands: {allow: [foo bar *]}"),
        (CommandAct(command="foo"), "commands: {allow: [foo]}"),
        (HostAct(host="a.example"), "network: {allow: [a.example]}"),
        (PathAct(path="/data/x", access="read"), "paths: {read: {allow: [/data/x]}}"),
        (PathAct(path="/data/x", access="write"), "paths: {write: {allow: [/data/x]}}"),
        (
            CommandAct(command="foo a && curl a.example"),
            "commands: {allow: [foo a, curl *]}\nnetwork: {allow: [a.example]}",
        ),
    ],
)
def test_the_named_lines_allow_the_act(act: Act, lines: str) -> None:
    found = explain(act, worker())
    assert found.decision.effect.rank >= Effect.ASK.rank
    assert found.together is Effect.ALLOW
    assert decide(act, worker(written(lines))).effect is Effect.ALLOW
    assert all(pattern in " ".join(one.says for one in found.changes) for pattern in ("~/.air/permissions.yaml",))


def test_a_line_of_a_user_s_file_is_named_and_without_it_the_act_is_as_told() -> None:
    found = explain(CommandAct(command="make all"), worker(written("commands: {deny: [make]}")))
    (change,) = found.changes
    assert (found.decision.effect, change.effect) == (Effect.DENY, Effect.ANNOUNCE)
    assert change.says == "without line 2 of user:permissions.yaml (`make`)"


def test_a_write_outside_the_area_is_changed_by_the_area() -> None:
    found = explain(PathAct(path="README.md", access="write"), worker())
    assert [(one.effect, "write_area" in one.says) for one in found.changes] == [(Effect.ALLOW, True)]


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("sudo ls", "floor"),
        ("git push", "defaults"),
        ('cat "$f"', "no line of a file"),
        ("cat .env", "floor"),
    ],
)
def test_what_no_file_changes_is_said_to_be_so(command: str, says: str) -> None:
    found = explain(CommandAct(command=command), worker())
    assert (found.changes, found.together) == ((), found.decision.effect)
    assert any(says in one for one in found.fixed)


def test_what_is_allowed_has_nothing_to_change() -> None:
    found = explain(CommandAct(command="ls"), worker())
    assert (found.changes, found.fixed, found.together) == ((), (), Effect.ALLOW)
    assert found.decisive
