"""Plugins' tools behind the gate: judged, limited in time, masked; what they do wrong is the model's to read."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest
from agents.conftest import Session, rule
from agents.doubles import MARKED_SECRET, SECRET

from aircoding.agents.tools.plugin_tools import plugin_tool
from aircoding.plugins import Act, CommandAct, HostAct, PathAct
from aircoding.plugins.registering import PluginContext
from aircoding.records.policy import Effect, PolicySubject

Handler = Callable[[Mapping[str, Any], Mapping[str, Any]], Any]


def give(session: Session, handler: Handler, *, acts: Callable[..., Any] | None = None, seconds: float = 5) -> None:
    """Let the session have a tool `probe`, as a plugin registers it."""
    context = PluginContext("p", ("read",))
    schema = {"type": "object", "properties": {"path": {"type": "string"}}}
    context.tool("probe", "Look.", schema, "read", handler, acts=acts, timeout_seconds=seconds)
    tool = plugin_tool(context.tools[0], profile="default", project_root="/project")
    session.under(tools=(*session.deps.policy_for(session.brief).tools, "probe"))
    session.deps = replace(session.deps, plugin_tools={"probe": tool})


def reads(path: str) -> Callable[[Mapping[str, Any]], list[Act]]:
    return lambda _given: [PathAct(path=path, access="read")]


async def test_a_tool_whose_acts_are_permitted_runs_and_its_secrets_are_masked(session: Session) -> None:
    async def handler(given: Mapping[str, Any], facts: Mapping[str, Any]) -> str:
        await asyncio.sleep(0)
        return f"{given['path']} for {facts['role']}: {SECRET}"

    give(session, handler, acts=reads("src/a.py"))
    result = await session.use("probe", path="src/a.py")
    assert (result.text, result.is_error) == (f"src/a.py for executor: {MARKED_SECRET}", False)


@pytest.mark.parametrize(
    "act",
    [
        PathAct(path="key.pem", access="read"),
        PathAct(path="README.md", access="write"),
        PathAct(path="../out", access="read"),
        CommandAct(command="curl http://a.invalid"),
        HostAct(host="a.invalid"),
    ],
)
async def test_a_tool_whose_acts_are_not_permitted_does_nothing(session: Session, act: Act) -> None:
    called = threading.Event()
    give(session, lambda _given, _facts: called.set(), acts=lambda _given: [act])
    assert (await session.use("probe")).is_error
    assert not called.is_set()


async def test_a_tool_that_does_not_say_what_it_does_needs_the_policy(session: Session) -> None:
    give(session, lambda _given, _facts: {"found": 2})
    refused = await session.use("probe")
    assert "`tools: {allow: [NAME]}` lets it act" in refused.text
    policy = session.deps.policy_for(session.brief)
    session.under(rules=(*policy.rules, rule(PolicySubject.TOOL, Effect.ALLOW, "probe", 12)))
    assert (await session.use("probe")).text == '{"found": 2}'
    session.under(rules=(*policy.rules, rule(PolicySubject.TOOL, Effect.DENY, "probe", 13)))
    assert "permissions.yaml:13" in (await session.use("probe")).text


def crashes(_given: Mapping[str, Any], _facts: Mapping[str, Any]) -> Any:
    raise RuntimeError(f"no luck with {SECRET}")


@pytest.mark.parametrize(
    ("handler", "said"),
    [
        (crashes, f"probe failed: RuntimeError: no luck with {MARKED_SECRET}"),
        (lambda _given, _facts: threading.Event().wait(60), "probe failed: no answer after 0.3 seconds"),
        (lambda _given, _facts: object(), "probe failed: it returned a object"),
    ],
)
async def test_a_handler_that_fails_is_an_error_of_its_call(session: Session, handler: Handler, said: str) -> None:
    give(session, handler, acts=reads("src/a.py"), seconds=0.3)
    result = await session.use("probe")
    assert result.is_error
    assert said in result.text


async def test_output_that_nothing_can_hold_is_made_harmless(session: Session) -> None:
    give(session, lambda _given, _facts: "a\0b\ud800", acts=reads("src/a.py"))
    assert (await session.use("probe")).text == "a\ufffdb\ufffd"
    give(session, lambda _given, _facts: None, acts=reads("src/a.py"))
    assert (await session.use("probe")).text == "(no output)"
    give(session, lambda _given, _facts: "x" * 50_000, acts=reads("src/a.py"))
    long = await session.use("probe")
    assert long.artifact is not None
    assert "artifact_read" in long.text


@pytest.mark.parametrize("acts", [lambda _given: [], lambda _given: ["read"], lambda _given: 5, lambda _given: 1 / 0])
async def test_acts_that_cannot_be_told_permit_nothing(session: Session, acts: Any) -> None:
    called = threading.Event()
    give(session, lambda _given, _facts: called.set(), acts=acts)
    result = await session.use("probe")
    assert "it cannot be told what probe would do" in result.text
    assert not called.is_set()


async def test_a_tool_that_the_role_has_not_is_none(session: Session) -> None:
    give(session, lambda _given, _facts: "x", acts=reads("src/a.py"))
    session.under(tools=("fs_read",))
    assert "has no probe" in (await session.use("probe")).text
