"""Thinking that is sent back: whole, in its own conversation, or refused in the API's words."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.provider_calls import TOOL, assistant, call, capabilities, text, tool_result, tool_use, user

from aircoding.errors import ProviderError
from aircoding.providers.capabilities import ModelRow
from aircoding.providers.requests import messages_body, scripted_content
from aircoding.providers.script import parse_script
from aircoding.providers.scripted import ScriptedProvider
from aircoding.providers.thinking import check_thinking, sign_thinking, without_blocks
from aircoding.providers.validation import validate_request
from aircoding.providers.validation_request import Request
from aircoding.providers.validation_thinking import BINDING_BETA, dropped_blocks
from aircoding.records.ids import CallKey

BOUND = ModelRow(model="m", thinking="always", bound_thinking=True, system_turns=True)
FREE = ModelRow(model="old", prefill=True)
MOVED = (
    "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation. "
    'Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block".'
)
HEADER = f" That setting requires the `{BINDING_BETA}` value in the `anthropic-beta` header."
KEPT = (
    "messages.1.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be "
    "modified. These blocks must remain as they were in the original response."
)
DROP = {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}}


def conversation(turns: int = 2) -> dict[str, Any]:
    """A body whose assistant turns each think, are signed for what stood before them, and call a tool."""
    body = {
        "model": "m",
        "max_tokens": 100,
        "system": [text("You read."), text("Rules.")],
        "tools": [copy.deepcopy(TOOL)],
        "messages": [user(text("Hi"))],
    }
    for number in range(turns):
        words = f"thought {number}"
        thought = {"type": "thinking", "thinking": words, "signature": sign_thinking(body, words)}
        body["messages"] += [assistant(thought, tool_use(f"t{number}")), user(tool_result(f"t{number}"))]
    return body


def told(body: dict[str, Any], row: ModelRow = BOUND, **more: Any) -> list[str]:
    return [diagnostic.message for diagnostic in validate_request(body, row=row, own_signatures=True, **more)]


def test_a_conversation_that_only_grows_keeps_its_thinking() -> None:
    assert told(conversation(4)) == []


def _other_system(body: dict[str, Any]) -> None:
    body["system"][1]["text"] = "Other rules."


def _other_tool(body: dict[str, Any]) -> None:
    body["tools"][0] = {**TOOL, "description": "Another."}


def _other_message(body: dict[str, Any]) -> None:
    body["messages"][0]["content"][0]["text"] = "Ho"


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (_other_system, "The `system` prompt differs from the one this block was created with."),
        (_other_tool, "The `tools` list differs from the one this block was created with."),
        (_other_message, "The messages before this block differ from those it was created with."),
    ],
)
def test_a_change_before_thinking_is_refused_and_named(change: Callable[[dict[str, Any]], None], says: str) -> None:
    body = conversation()
    change(body)
    assert told(body)[0] == f"{MOVED} {says}"
    assert told(body, betas=frozenset())[0] == f"{MOVED}{HEADER} {says}"
    assert told(body, betas=frozenset({BINDING_BETA}))[0] == f"{MOVED} {says}"
    assert len(told(body)) == 2, "all later thinking is invalid too"
    assert told(body, FREE) == [], "models of earlier generations do not look"


def test_a_change_makes_only_the_thinking_after_it_invalid() -> None:
    body = conversation()
    body["messages"][2]["content"][0]["content"][0]["text"] = "other"
    assert [message[:21] for message in told(body)] == ["messages.3.content.0:"]


def test_marks_and_the_two_ways_to_write_a_text_are_no_change() -> None:
    body = conversation()
    body["system"][0]["cache_control"] = {"type": "ephemeral"}
    body["messages"][0] = {"role": "user", "content": "Hi"}
    body["messages"][2]["content"][0] |= {"content": "ok", "cache_control": {"type": "ephemeral"}}
    assert told(body) == []


def test_the_oldest_thinking_may_be_removed_but_none_from_between() -> None:
    oldest = conversation(3)
    del oldest["messages"][1]["content"][0]
    assert told(oldest) == []
    middle = conversation(3)
    del middle["messages"][3]["content"][0]
    (message,) = told(middle)
    assert message.startswith("messages.5.content.0: Invalid")
    assert message.endswith(
        "The `thinking` block that preceded this one when it was created is missing from this request."
    )


def test_changed_thinking_is_told_by_where_it_stands() -> None:
    body = conversation(1)
    body["messages"][1]["content"][0]["thinking"] = "other"
    assert told(body) == [KEPT]
    assert told(body, FREE) == [KEPT]
    body["messages"] += [assistant(text("later")), user(text("on"))]
    assert told(body) == ["messages.1.content.0: Invalid `signature` in `thinking` block"]


@given(st.text(max_size=90))
def test_a_signature_that_was_not_made_here_is_refused_by_the_emulator_only(signature: str) -> None:
    body = conversation(1)
    body["messages"][1]["content"][0]["signature"] = signature
    assert told(body) == ["messages.1.content.0: Invalid `signature` in `thinking` block"]
    assert validate_request(body, row=BOUND) == (), "before sending, what the real API signed is opaque"


def test_drop_block_leaves_out_what_fails_and_what_was_made_after_stays_in_order() -> None:
    body = conversation(2) | {"thinking": DROP}
    _other_system(body)
    assert told(body) == []
    dropped = dropped_blocks(Request(body=body, row=BOUND, api_version="2026-10-21"))
    assert [block.path for block in dropped] == ["messages.1.content.0", "messages.3.content.0"]
    seen = without_blocks(body, dropped)
    assert [block["type"] for block in seen["messages"][1]["content"]] == ["tool_use"]
    assert body["messages"][1]["content"][0]["type"] == "thinking", "the request itself is left as it is"

    later = {"type": "thinking", "thinking": "new", "signature": sign_thinking(seen, "new")}
    grown = {**body, "messages": [*body["messages"], assistant(later), user(text("on"))]}
    assert [block.fault for block in check_thinking(grown)] == ["system", "system", ""]
    cleaned = {**seen, "messages": [*seen["messages"], assistant(later), user(text("on"))]}
    assert [block.fault for block in check_thinking(cleaned)] == [""]


def test_neighbours_of_a_dropped_block_fall_with_it() -> None:
    body = conversation(1)
    first = body["messages"][1]["content"][0]
    body["messages"][1]["content"].insert(1, dict(first))
    _other_system(body)
    assert [block.fault for block in check_thinking(body)] == ["system", "after"]


def test_the_control_needs_its_beta_and_a_known_value() -> None:
    body = conversation() | {"thinking": DROP}
    assert told(body, betas=frozenset({BINDING_BETA})) == []
    assert told(body, betas=frozenset()) == ["thinking.adaptive.block_binding: Extra inputs are not permitted"]
    odd = conversation() | {"thinking": {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "hide"}}}
    assert told(odd) == [
        "thinking.adaptive.block_binding.prefix_mismatch_behavior: Input should be 'error' or 'drop_block'"
    ]


@given(st.data())
def test_any_change_of_a_leaf_before_thinking_is_seen(data: st.DataObject) -> None:
    body = conversation(3)
    leaves = list(_leaves(body["system"])) + list(_leaves(body["tools"])) + list(_leaves(body["messages"][0]))
    holder, key = data.draw(st.sampled_from(leaves))
    holder[key] = f"{holder[key]}!"
    assert all(block.is_unbound for block in check_thinking(body))


def _leaves(value: Any) -> list[tuple[Any, Any]]:
    items = value.items() if isinstance(value, dict) else enumerate(value)
    found: list[tuple[Any, Any]] = []
    for key, item in items:
        if isinstance(item, (dict, list)):
            found += _leaves(item)
        elif isinstance(item, str):
            found.append((value, key))
    return found


async def test_the_scripted_model_binds_its_thinking_too() -> None:
    turns = "- {thinking: hm, tools: [{name: fs_read, input: {}}]}\n  - text: done"
    script = parse_script(f"scripts:\n- match: {{}}\n  turns:\n  {turns}\n", uri="x")
    scripted = ScriptedProvider(script, capabilities())
    first = call()
    reply = await scripted.call(first)
    answered = [assistant(*reply.content), user(tool_result(reply.content[-1]["id"]))]
    request = {**first.request, "messages": [*first.request["messages"], *answered]}
    assert (await scripted.call(call(request, assistant_turns=1))).content == (text("done"),)
    assert [block.fault for block in check_thinking(messages_body(call(request)))] == [""]

    moved = copy.deepcopy(request)
    moved["system"][0]["text"] = "Another prompt."
    with pytest.raises(ProviderError, match="bound to a different conversation"):
        await scripted.call(call(moved, assistant_turns=1))


def test_thinking_can_be_asked_for_without_its_words() -> None:
    turn = parse_script("scripts:\n- match: {}\n  turns: [{thinking: hm, text: a}]\n", uri="x").scripts[0].turns[0]
    body = conversation(0) | {"thinking": {"type": "adaptive", "display": "omitted"}}
    thought, _ = scripted_content(turn, CallKey("k"), body)
    assert thought["thinking"] == ""
    body["messages"] += [assistant(thought), user(text("on"))]
    assert told(body) == []
