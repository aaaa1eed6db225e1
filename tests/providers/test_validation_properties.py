"""What we assemble is never refused, what is broken in one place always is, and no body at all ends in a traceback."""

from __future__ import annotations

import asyncio
import copy
import typing
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from typing import Any

import httpx2
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from support.contexts import LIMITS, message, segment, snapshot
from support.provider_calls import call, capabilities, text, tool_result, user

from aircoding.context.assembler import assemble
from aircoding.context.freezing import frozen_from
from aircoding.emulator.access import COUNT_FIELDS
from aircoding.emulator.server import Emulator
from aircoding.providers.capabilities import ModelRow
from aircoding.providers.requests import messages_body, scripted_content
from aircoding.providers.script import ScriptedTool, Turn, parse_script
from aircoding.providers.validation import API_VERSIONS, validate_request
from aircoding.providers.validation_blocks import BLOCK_FIELDS, BLOCK_KINDS, RESULT_KINDS
from aircoding.providers.validation_limits import THINKING_FIELDS
from aircoding.providers.validation_shape import KNOWN_FIELDS
from aircoding.providers.validation_thinking import BINDING_BETA
from aircoding.providers.validation_tools import TOOL_FIELDS
from aircoding.records.ids import CallKey
from aircoding.records.layers import Layer, Scope, SegmentKind, Trust
from aircoding.records.manifest import AssembledContext

ROW = ModelRow(model="claude-sonnet-5-5", thinking="adaptive", bound_thinking=True, system_turns=True)

_WORDS = st.text(alphabet=st.characters(blacklist_categories=("Cs",)), min_size=1, max_size=40)
_SEGMENTS = st.lists(
    st.builds(
        lambda words, place, uri, trust: segment(
            words, layer=place[0], scope=place[1], kind=place[2], uri=f"project:{uri}", trust=trust
        ),
        _WORDS,
        st.sampled_from(
            [
                (Layer.L3, Scope.RUN, SegmentKind.RULE),
                (Layer.L4, Scope.RUN, SegmentKind.PLAN),
                (Layer.L6, Scope.SESSION, SegmentKind.FILE),
                (Layer.L8, Scope.SESSION, SegmentKind.FAILURE),
            ]
        ),
        st.sampled_from(["a", "b", "c/d"]),
        st.sampled_from(list(Trust)),
    ),
    max_size=5,
    unique_by=lambda item: item.segment_id,
)
_TURNS = st.lists(
    st.builds(
        lambda words, thinking, tools: Turn(line=1, text=words, thinking=thinking, tools=tools),
        st.none() | _WORDS.filter(str.strip),
        st.none() | _WORDS,
        st.lists(
            st.builds(ScriptedTool, name=st.just("fs_read"), input=st.dictionaries(_WORDS, _WORDS, max_size=2)),
            min_size=1,
            max_size=3,
        ).map(tuple),
    ),
    max_size=4,
)


def body_of(context: AssembledContext) -> dict[str, Any]:
    return messages_body(call(context.request))


LATE = segment("Late.", layer=Layer.L3, kind=SegmentKind.RULE, uri="project:late.md", paths=("docs/**",))
"""A rule that comes in when the session touches a path in mid-session."""


def session(
    segments: list[Any], turns: list[Turn], results: st.DataObject | None = None, *, row: ModelRow = ROW
) -> list[dict[str, Any]]:
    """Play a session through the assembler and the scripted model: every request that it would send."""
    limits = replace(LIMITS, system_turns=row.system_turns)
    segments = [*segments, LATE]
    context = assemble(snapshot(*segments, limits=limits))
    assert isinstance(context, AssembledContext)
    bodies, messages = [body_of(context)], []
    for number, turn in enumerate(turns):
        content = scripted_content(turn, CallKey(f"k{number}"), bodies[-1])
        answers = [
            tool_result(block["id"], content=[text(results.draw(_WORDS) if results else "ok")])
            for block in content
            if block["type"] == "tool_use"
        ]
        for role, blocks in (("assistant", content), ("user", answers)):
            messages.append(message(len(messages), role, *blocks))  # type: ignore[arg-type]
        frame = snapshot(
            *segments,
            limits=limits,
            messages=messages,
            frozen=frozen_from(context),
            turn=number + 2,
            touched_paths=("docs/a.md",) if number else (),
        )
        context = assemble(frame)
        assert isinstance(context, AssembledContext)
        bodies.append(body_of(context))
    return bodies


@given(_SEGMENTS, _TURNS, st.booleans(), st.data())
@settings(max_examples=60, deadline=None)
def test_row_anthropic_blocks_what_the_assembler_makes_is_taken_in_every_turn(
    segments: Any, turns: Any, system_turns: bool, data: st.DataObject
) -> None:
    row = replace(ROW, system_turns=system_turns)
    for body in session(segments, turns, data, row=row):
        for version in API_VERSIONS:
            assert validate_request(body, row=row, api_version=version, own_signatures=True) == ()


@pytest.mark.parametrize("system_turns", [True, False])
def test_a_rule_that_comes_late_stands_where_the_model_takes_it(system_turns: bool) -> None:
    turn = Turn(line=1, thinking="hm", tools=(ScriptedTool(name="fs_read", input={}),))
    last = session([], [turn] * 3, row=replace(ROW, system_turns=system_turns))[-1]
    roles = [message["role"] for message in last["messages"] if "Late." in str(message["content"])]
    assert roles == ["system" if system_turns else "user"]


def _into(*path: Any, **fields: Any) -> Callable[[dict[str, Any]], None]:
    def change(body: dict[str, Any]) -> None:
        node: Any = body
        for step in path:
            node = node[step]
        node.update(fields)

    return change


def _append(*messages: dict[str, Any]) -> Callable[[dict[str, Any]], None]:
    return lambda body: body["messages"].extend(messages)


def _drop(*path: Any) -> Callable[[dict[str, Any]], None]:
    def change(body: dict[str, Any]) -> None:
        node: Any = body
        for step in path[:-1]:
            node = node[step]
        del node[path[-1]]

    return change


MARK = {"type": "ephemeral"}
MUTATIONS: dict[str, Callable[[dict[str, Any]], None]] = {
    "no model": _drop("model"),
    "no messages": lambda body: body["messages"].clear(),
    "the last result is gone": _drop("messages", -1),
    "the call is gone": _drop("messages", -2, "content", -1),
    "thinking from between is gone": _drop("messages", -4, "content", 0),
    "the first message is gone": _drop("messages", 0),
    "a result for nobody": _append(user(tool_result("toolu_none"))),
    "text before a result": lambda body: body["messages"][-1]["content"].insert(0, text("so")),
    "a result twice": lambda body: body["messages"][-1]["content"].append(body["messages"][-1]["content"][0]),
    "an empty text": _append(user(text(""))),
    "a blank text": _append(user(text("  "))),
    "an empty message": _append(user(), user(text("a"))),
    "an assistant at the end": _append({"role": "assistant", "content": "So"}),
    "a system turn after an assistant": _append(
        {"role": "assistant", "content": "a"}, {"role": "system", "content": "b"}
    ),
    "a fifth mark": lambda body: body.update(system=[text("a", cache_control=MARK)] * 5),
    "an hour after five minutes": lambda body: body.update(
        system=[text("a", cache_control=MARK), text("b", cache_control=MARK | {"ttl": "1h"})]
    ),
    "a mark on thinking": _into("messages", -2, "content", 0, cache_control=MARK),
    "other thinking": _into("messages", -2, "content", 0, thinking="other"),
    "another signature": _into("messages", -2, "content", 0, signature="AAAA"),
    "another system prompt": _into("system", 0, text="other"),
    "another tool": _into("tools", 0, description="other"),
    "another first message": _into("messages", 0, "content", 0, text="other"),
    "a temperature": _into(temperature=1),
    "too much output": _into(max_tokens=10**9),
    "an unknown field": _into(colour="red"),
    "an unknown field in a block": _into("messages", 0, "content", 0, colour="red"),
    "a kind of block that is not known": _into("messages", 0, "content", 0, type="audio"),
    "a forced tool": _into(tool_choice={"type": "any"}),
    "a tool twice": lambda body: body["tools"].append(body["tools"][0]),
    "a tool without a schema": _drop("tools", 0, "input_schema"),
    "a budget of thinking": _into(thinking={"type": "enabled", "budget_tokens": 1_024}, max_tokens=2_000),
}  # fmt: skip


@pytest.mark.parametrize("name", MUTATIONS)
def test_one_illegal_change_is_refused(name: str) -> None:
    turn = Turn(line=1, thinking="hm", text="I read.", tools=(ScriptedTool(name="fs_read", input={}),))
    body = copy.deepcopy(
        session([segment("Use tabs.", uri="project:a")], [turn, replace(turn, thinking="so"), turn])[-1]
    )
    assert validate_request(body, row=ROW, own_signatures=True) == ()
    MUTATIONS[name](body)
    assert validate_request(body, row=ROW, own_signatures=True) != ()


def _holding(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    keys = st.sampled_from(["type", "text", "role", "content"])
    return st.lists(inner, max_size=2) | st.dictionaries(keys, inner, max_size=2)


_SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-5, 5)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["", "text", "any", "user"])
    | st.text(max_size=5)
)
_JSON = _SCALARS | _holding(_SCALARS | _holding(_SCALARS))
_WHOLE = session([], [Turn(line=1, thinking="hm", tools=(ScriptedTool(name="fs_read", input={}),))])[-1] | {
    "tool_choice": {"type": "auto"},
    "thinking": {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "error"}},
    "cache_control": {"type": "ephemeral", "ttl": "5m"},
    "stop_sequences": ["a"],
    "output_config": {"effort": "low"},
    "temperature": 1,
    "model": "claude-sonnet-5-5",
}


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [found for key, item in items for found in [(*path, key), *_places(item, (*path, key))]]


def _with(place: tuple[Any, ...], value: Any) -> dict[str, Any]:
    body = copy.deepcopy(_WHOLE)
    node: Any = body
    for step in place[:-1]:
        node = node[step]
    node[place[-1]] = value
    return body


@given(st.sampled_from(_places(_WHOLE)), _JSON)
@settings(max_examples=100, deadline=None)
def test_the_emulator_answers_every_body(place: tuple[Any, ...], value: Any) -> None:
    script = parse_script("scripts:\n- match: {}\n  turns: [{text: a}, {thinking: b, text: c}]\n", uri="x")
    emulator = Emulator(script, capabilities())
    headers = {"x-api-key": "k", "anthropic-version": "2023-06-01", "anthropic-beta": BINDING_BETA}

    async def post(sent: dict[str, Any]) -> httpx2.Response:
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=emulator.app)) as http:
            return await http.post("http://emulator/v1/messages", json=sent, headers=headers)

    sent = _with(place, value)
    if place != ("temperature",):
        del sent["temperature"]  # else every body were refused
    answer = asyncio.run(post(sent))
    assert answer.status_code in {200, 400, 404}, answer.text
    if answer.status_code == 200:
        event("answered")
    else:
        assert answer.json()["error"]["message"]


@given(st.sampled_from(_places(_WHOLE)), _JSON, st.sampled_from(API_VERSIONS))
@settings(max_examples=300, deadline=None)
def test_any_value_in_any_place_is_judged_and_never_a_crash(place: tuple[Any, ...], value: Any, version: str) -> None:
    body = _with(place, value)
    for row in (ROW, ModelRow(model="old", thinking="manual", prefill=True)):
        assert isinstance(validate_request(body, row=row, api_version=version, own_signatures=True), tuple)


def _fields(path: str, name: str) -> set[str]:
    return set(typing.get_type_hints(getattr(import_module(f"anthropic.types.{path}"), name)))


def _kinds(path: str, name: str) -> set[str]:
    """The values of `type` in a union of parameters; response models among them are no parameters."""
    union = getattr(import_module(f"anthropic.types.{path}"), name)
    members = [item for item in typing.get_args(union) if isinstance(item, type)]
    return {kind for item in members for kind in typing.get_args(typing.get_type_hints(item)["type"])}


def test_the_tables_hold_what_the_sdk_can_send() -> None:
    for kind, fields in BLOCK_FIELDS.items():
        words = "".join(word.title() for word in kind.split("_"))
        assert _fields(f"{kind}_block_param", f"{words}BlockParam") == {*fields, "type"}
    assert _kinds("content_block_param", "ContentBlockParam") <= BLOCK_KINDS
    named_by_the_api_alone = {"connector_text", "mid_conv_system"}
    assert _kinds("beta.beta_content_block_param", "BetaContentBlockParam") | named_by_the_api_alone == BLOCK_KINDS
    assert _kinds("tool_result_block_param", "Content") == RESULT_KINDS
    assert _fields("tool_param", "ToolParam") == TOOL_FIELDS
    for kind, allowed in THINKING_FIELDS.items():
        words = "".join(word.title() for word in kind.split("_"))
        assert _fields(f"beta.beta_thinking_config_{kind}_param", f"BetaThinkingConfig{words}Param") == set(allowed)
    body = _fields("beta.message_create_params", "MessageCreateParamsBase") - {"betas"}
    assert body | {"stream", "temperature", "top_k", "top_p"} == KNOWN_FIELDS
    counted = _fields("beta.message_count_tokens_params", "MessageCountTokensParams") - {"betas"}
    assert counted == COUNT_FIELDS
