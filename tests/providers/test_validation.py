"""Each rule of the Messages API that we could break: one bad body, the API's own text, and a good body beside it."""

# ruff: noqa: E501 - the API's texts and the bodies that earn them stand side by side, one case a line

from __future__ import annotations

from typing import Any

import pytest
from support.provider_calls import TOOL, assistant, capabilities, text, tool_result, tool_use, user

from aircoding.errors import ProviderError
from aircoding.providers.capabilities import ModelRow
from aircoding.providers.validation import refuse_invalid, validate_request

MARK = {"type": "ephemeral"}
HOUR = {"type": "ephemeral", "ttl": "1h"}
ROW = ModelRow(model="m", system_turns=True, max_output_tokens=1_000, window_tokens=10_000)
OLD = ModelRow(model="old", prefill=True, thinking="manual", forced_tools=True, max_output_tokens=8_000)
HI = user(text("Hi"))
ASKED = assistant(tool_use("t1"))
SCHEMA = {"type": "object"}


def body(*messages: Any, **more: Any) -> dict[str, Any]:
    return {"model": "m", "max_tokens": 1_000, "messages": list(messages) or [HI]} | more


def told(sent: dict[str, Any], row: ModelRow = ROW, **more: Any) -> list[str]:
    return [diagnostic.message for diagnostic in validate_request(sent, row=row, **more)]


BAD = [
    ({"max_tokens": 1, "messages": [HI]}, "model: Field required"),
    ({"model": "m", "max_tokens": 1}, "messages: Field required"),
    ({"model": "m", "messages": [HI]}, "max_tokens: Field required"),
    (body(max_tokens="9"), "max_tokens: Input should be a valid integer"),
    (body() | {"messages": "Hi"}, "messages: Input should be a valid array"),
    (body() | {"messages": []}, "messages: at least one message is required"),
    (body(3), "messages.0: Input should be an object"),
    (body({"role": "robot", "content": "a"}), "messages.0.role: Input should be 'user', 'assistant' or 'system'"),
    (body({"role": "user", "content": 3}), "messages.0.content: Input should be a valid string or array"),
    (body({"role": "user", "content": [{"text": "a"}]}), "messages.0.content: Input should be a valid string or array"),
    (body(system=3), "system: Input should be a valid array"),
    (body(tools="a"), "tools: Input should be a valid array"),
    (body(HI, ASKED, user(text("x"))), "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: t1. Each `tool_use` block must have a corresponding `tool_result` block in the next message."),
    (body(HI, ASKED), "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: t1."),
    (body(user(tool_result("t9"))), "messages.0.content.0: unexpected `tool_use_id` found in `tool_result` blocks: t9."),
    (body(HI, ASKED, user(tool_result("t1")), assistant(text("a")), user(tool_result("t1"))), "messages.4.content.0: unexpected `tool_use_id`"),
    (body(HI, ASKED, user(tool_result("t1"), tool_result("t1"))), "messages.2: each `tool_use` must have a single result."),
    (body(HI, ASKED, user(text("first"), tool_result("t1"))), "messages.2.content: `tool_result` blocks must come before other content"),
    (body(HI, assistant(tool_use("t1"), tool_use("t1")), user(tool_result("t1"))), "messages: `tool_use` ids must be unique"),
    (body(user(text(""))), "messages: text content blocks must be non-empty"),
    (body(HI, system=[text("")]), "system: text content blocks must be non-empty"),
    (body(user(), HI), "messages.0: all messages must have non-empty content"),
    (body(HI, ASKED, user(tool_result("t1", is_error=True, content=[{"type": "image"}]))), "all content must be type 'text' if 'is_error' is true"),
    (body({"role": "system", "content": "a"}, HI), "messages.0: a 'system' message must follow a 'user' message"),
    (body(HI, {"role": "system", "content": "a"}, HI), "messages.1: a 'system' message must follow a 'user' message and must be last or followed"),
    (body(HI, {"role": "system", "content": [{"type": "image"}]}), "messages.1: a 'system' message may only hold text"),
    (body(HI, assistant(text("So"))), "This model does not support assistant message prefill."),
    (body(user(text("", cache_control=MARK))), "messages.0.content.0.text: cache_control cannot be set for empty text blocks"),
    (body(HI, assistant({"type": "thinking", "thinking": "a", "signature": "s", "cache_control": MARK}), HI), "messages.1.content.0.thinking.cache_control: Extra inputs are not permitted"),
    (body(HI, ASKED, user(tool_result("t1", content=[text("a", cache_control=MARK)]))), "messages.2.content.0.tool_result.content.0.cache_control: Extra inputs are not permitted"),
    (body(*[user(text("a", cache_control=MARK))] * 5), "A maximum of 4 blocks with cache_control may be provided. Found 5."),
    (body(*[user(text("a", cache_control=MARK))] * 4, cache_control=MARK), "A maximum of 4 blocks with cache_control may be provided. Found 5."),
    (body(user(text("a", cache_control=HOUR)), system=[text("s", cache_control=MARK)]), "messages.0.content.0.cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block."),
    (body(user(text("a", cache_control=HOUR)), cache_control=MARK), "Top-level cache_control has ttl='5m' but the target block already has cache_control with ttl='1h'"),
    (body(user(text("a", cache_control={"type": "ephemeral", "ttl": "2h"}))), "messages.0.content.0.cache_control.ttl: Input should be '5m' or '1h'"),
    (body(user(text("a", cache_control={"type": "forever"}))), "messages.0.content.0.cache_control.type: Input should be 'ephemeral'"),
    (body(max_tokens=1_001), "max_tokens: 1001 > 1000, which is the maximum allowed number of output tokens for m"),
    (body(max_tokens=-1), "max_tokens: must be greater than or equal to 1"),
    (body(max_tokens=0, stream=True), "max_tokens: must be greater than or equal to 1"),
    (body(temperature=1.0), "temperature: sampling parameters are not supported"),
    (body(colour="red"), "colour: Extra inputs are not permitted"),
    (body(tools=[TOOL, TOOL]), "tools: Tool names must be unique."),
    (body(tools=[{"name": "a b", "input_schema": SCHEMA}]), "tools.0.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'"),
    (body(tools=[{"name": "a"}]), "tools.0.input_schema: Field required"),
    (body(tools=[{"name": "a", "input_schema": {"type": "array"}}]), "tools.0.input_schema.type: Input should be 'object'"),
    (body(thinking={"type": "enabled", "budget_tokens": 1_024}), '"thinking.type.enabled" is not supported for this model.'),
    (body(tool_choice={"type": "auto"}), "tool_choice may only be specified while providing tools"),
    (body(tools=[TOOL], tool_choice={"type": "any"}), "Thinking may not be enabled when tool_choice forces tool use."),
    (body(assistant({"type": "document"}), HI), "messages.0.content.0: `document` blocks are not allowed in assistant messages"),
    (body(user(text("a", citations=[{}]))), "messages.0.content.0.text.citations: Extra inputs are not permitted"),
]  # fmt: skip


@pytest.mark.parametrize(("sent", "words"), BAD)
def test_a_broken_rule_is_told_in_the_api_s_words(sent: dict[str, Any], words: str) -> None:
    assert any(message.startswith(words) for message in told(sent)), told(sent)


GOOD = [
    body(),
    body({"role": "user", "content": "a bare text"}, system="a bare text"),
    body(HI, HI, assistant(text("a")), assistant(text("b")), HI),
    body(assistant(text("history may begin here")), HI),
    body(HI, assistant(text("I read."), tool_use("t1"), tool_use("t2")), user(tool_result("t2"), tool_result("t1"), text("go on"))),
    body(HI, ASKED, user(tool_result("t1")), user(text("and then"))),
    body(HI, assistant(tool_use("t1"), tool_use("t2")), user(tool_result("t1")), user(tool_result("t2"))),
    body(HI, ASKED, user(tool_result("t1")), {"role": "system", "content": [text("note")]}),
    body(HI, {"role": "system", "content": [text("a")]}, {"role": "system", "content": [text("b")]}, assistant(text("c")), HI),
    body(user(text("a", cache_control=MARK)), system=[text("s", cache_control=HOUR)], tools=[TOOL | {"cache_control": HOUR}]),
    body(*[user(text("a", cache_control=MARK))] * 4),
    body(HI, assistant({"type": "thinking", "thinking": "", "signature": "s"}, tool_use("t1")), user(tool_result("t1"))),
    body(max_tokens=0),
    body(thinking={"type": "adaptive"}),
]  # fmt: skip


@pytest.mark.parametrize("sent", GOOD)
def test_what_the_api_takes_is_not_refused(sent: dict[str, Any]) -> None:
    assert told(sent) == []
    refuse_invalid(sent, row=ROW)


def test_rules_of_a_version_hold_from_it_on_only() -> None:
    sent = body(assistant({"type": "document"}), user(text("a", citations=[{}])), temperature=0.5)
    assert len(told(sent)) == 3
    assert told(sent, api_version="2023-06-01") == []


def test_rules_of_a_model_follow_its_row() -> None:
    assert told(body(HI, assistant(text("So"))), OLD) == []
    assert told(body(HI, assistant(text("So "))), OLD) == ["messages.1: final assistant content cannot end with trailing whitespace"]  # fmt: skip
    assert told(body(HI, {"role": "system", "content": "a"}), OLD) == ["messages.1: role 'system' is not supported on this model"]  # fmt: skip
    budget = {"type": "enabled", "budget_tokens": 1_024}
    assert told(body(thinking=budget, max_tokens=2_000), OLD) == []
    assert told(body(thinking=budget), OLD) == ["`max_tokens` must be greater than `thinking.budget_tokens`."]
    assert told(body(thinking=budget | {"budget_tokens": 5}), OLD) == ["thinking.enabled.budget_tokens: Input should be greater than or equal to 1024"]  # fmt: skip
    always = ModelRow(model="x", thinking="always")
    assert told(body(thinking={"type": "disabled"}), always)[0].startswith('"thinking.type.disabled" is not supported')
    assert told(body(thinking={"type": "disabled"}), ROW) == []


def test_with_a_thinking_budget_the_last_turn_with_calls_begins_with_thinking() -> None:
    sent = body(HI, ASKED, user(tool_result("t1")), thinking={"type": "enabled", "budget_tokens": 1_024}, max_tokens=2_000)  # fmt: skip
    (message,) = told(sent, OLD)
    assert message.startswith("messages.1.content.0: Expected `thinking` or `redacted_thinking`, but found `tool_use`.")


def test_a_prompt_beyond_the_window_is_too_long_and_only_that_is_another_kind() -> None:
    assert told(body(), prompt_tokens=10_001) == ["prompt is too long: 10001 tokens > 10000 maximum"]
    with pytest.raises(ProviderError) as caught:
        refuse_invalid(body(), row=ROW, prompt_tokens=10_001)
    assert (caught.value.kind, caught.value.action) == ("too_long", "stop")
    with pytest.raises(ProviderError) as caught:
        refuse_invalid(body(user(text(""))), row=ROW, prompt_tokens=10_001)
    assert caught.value.kind == "invalid_request"


def test_a_diagnostic_points_into_the_request() -> None:
    (diagnostic,) = validate_request(body(HI, user(text("a"), text(""))), row=ROW)
    assert (diagnostic.uri, diagnostic.code) == ("air:request#/messages/1/content/1", "request.empty_text")


@pytest.mark.parametrize("model", sorted(capabilities().rows))
def test_a_plain_request_is_right_for_every_model_of_the_table(model: str) -> None:
    assert told(body(system=[text("s", cache_control=MARK)], tools=[TOOL]), capabilities().row(model)) == []
