"""Each rule of the Messages API: a bad body, the API's own text, and good bodies beside them."""

# ruff: noqa: E501 - the API's texts and the bodies that earn them stand side by side, one case a line

from __future__ import annotations

from pathlib import Path
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


IMAGE = {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}}
DOCUMENT = {"type": "document", "source": {"type": "url", "url": "https://example.org/a.pdf"}}
SYSTEM = {"role": "system", "content": "a"}
THOUGHT = {"type": "thinking", "thinking": "a", "signature": "s"}
FORM = "; the directive-only form (content: [] with output_config) is accepted at any position"


def tool(**more: Any) -> dict[str, Any]:
    return TOOL | more


# The first column names the row of the table in docs/reference/emulator.md.
BAD = [
    ("shape", {"max_tokens": 1, "messages": [HI]}, "model: Field required"),
    ("shape", {"model": "m", "max_tokens": 1}, "messages: Field required"),
    ("shape", {"model": "m", "messages": [HI]}, "max_tokens: Field required"),
    ("shape", body(model=3), "model: Input should be a valid string"),
    ("shape", body(max_tokens="9"), "max_tokens: Input should be a valid integer"),
    ("shape", body() | {"messages": "Hi"}, "messages: Input should be a valid array"),
    ("shape", body(3), "messages.0: Input should be an object"),
    ("shape", body({"role": "robot", "content": "a"}), "messages.0.role: Input should be 'user', 'assistant' or 'system'"),
    ("shape", body({"role": "user", "content": 3}), "messages.0.content: Input should be a valid string or array"),
    ("shape", body({"role": "user", "content": [{"text": "a"}]}), "messages.0.content: Input should be a valid string or array"),
    ("shape", body(system=3), "system: Input should be a valid array"),
    ("shape", body(system=[{"type": "image"}]), "system.0.type: Input should be 'text'"),
    ("shape", body(system=[{"type": "text"}]), "system.0.text: Field required"),
    ("shape", body(tools="a"), "tools: Input should be a valid array"),
    ("no messages", body() | {"messages": []}, "messages: at least one message is required"),
    ("block kind", body(user({"type": "audio"})), "messages.0.content.0: Input tag 'audio' found using 'type' does not match any of the expected tags: 'advisor_tool_result', "),
    ("block kind", body(HI, ASKED, user(tool_result("t1", content=[THOUGHT]))), "messages.2.content.0.tool_result.content.0: Input tag 'thinking' found using 'type' does not match any of the expected tags: 'browser_state', 'document', 'image', 'search_result', 'text', 'tool_reference'"),
    ("block field", body(user({"type": "text"})), "messages.0.content.0.text.text: Field required"),
    ("block field", body(user({"type": "text", "text": 3})), "messages.0.content.0.text.text: Input should be a valid string"),
    ("block field", body(HI, assistant({"type": "thinking", "thinking": "a"}), HI), "messages.1.content.0.thinking.signature: Field required"),
    ("block field", body(HI, assistant(tool_use("t1") | {"input": "a"}), user(tool_result("t1"))), "messages.1.content.0.tool_use.input: Input should be a valid dictionary"),
    ("block field", body(HI, ASKED, user(tool_result("t1", content=3))), "messages.2.content.0.tool_result.content: Input should be a valid string or array"),
    ("tool_use id", body(HI, assistant(tool_use("call:1")), user(tool_result("call:1"))), "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"),
    ("block role", body(user(tool_use("t1")), user(tool_result("t1"))), "messages.0: `tool_use` blocks can only be in `assistant` messages"),
    ("block role", body(user(THOUGHT)), "messages.0: `thinking` blocks can only be in `assistant` messages"),
    ("block role", body(HI, {"role": "system", "content": [IMAGE]}), "messages.1: a 'system' message may only hold text"),
    ("call without result", body(HI, ASKED, user(text("x"))), "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: t1. Each `tool_use` block must have a corresponding `tool_result` block in the next message."),
    ("call without result", body(HI, ASKED), "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: t1."),
    ("call without result", body(HI, ASKED, user(text("first"), tool_result("t1"))), "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: t1."),
    ("result without call", body(user(tool_result("t9"))), "messages.0.content.0: unexpected `tool_use_id` found in `tool_result` blocks: t9. Each `tool_result` block must have a corresponding `tool_use` block in the previous message."),
    ("result without call", body(HI, ASKED, user(tool_result("t1")), assistant(text("a")), user(tool_result("t1"))), "messages.4.content.0: unexpected `tool_use_id`"),
    ("two results", body(HI, ASKED, user(tool_result("t1"), tool_result("t1"))), "messages.2.content.1: each tool_use must have a single result. Found multiple `tool_result` blocks with id: t1"),
    ("two calls of an id", body(HI, assistant(tool_use("t1"), tool_use("t1")), user(tool_result("t1"))), "messages: `tool_use` ids must be unique"),
    ("empty text", body(user(text(""))), "messages: text content blocks must be non-empty"),
    ("empty text", body(HI, ASKED, user(tool_result("t1", content=[text("")]))), "messages: text content blocks must be non-empty"),
    ("empty text", body(HI, system=[text("")]), "system: text content blocks must be non-empty"),
    ("blank text", body(user(text(" \n"))), "messages: text content blocks must contain non-whitespace text"),
    ("empty message", body(user(), HI), "messages.0: all messages must have non-empty content"),
    ("error with an image", body(HI, ASKED, user(tool_result("t1", is_error=True, content=[IMAGE]))), "all content must be type 'text' if 'is_error' is true"),
    ("system turn", body(SYSTEM, HI), f"messages.0: use the top-level 'system' parameter for the initial system prompt{FORM}"),
    ("system turn", body(HI, assistant(text("a")), SYSTEM), f"messages.2: role 'system' must follow a 'user' message or an 'assistant' message ending in a server tool result{FORM}"),
    ("system turn", body(HI, ASKED, SYSTEM, user(tool_result("t1"))), "messages.2: role 'system' must follow a 'user' message"),
    ("system turn", body(HI, SYSTEM, HI), f"messages.1: role 'system' must precede an 'assistant' message or end the array{FORM}"),
    ("prefill", body(HI, assistant(text("So"))), "This model does not support assistant message prefill. The conversation must end with a user message."),
    ("too many marks", body(*[user(text("a", cache_control=MARK))] * 5), "A maximum of 4 blocks with cache_control may be provided. Found 5."),
    ("too many marks", body(*[user(text("a", cache_control=MARK))] * 4, cache_control=MARK), "A maximum of 4 blocks with cache_control may be provided. Found 5."),
    ("mark on empty text", body(user(text("", cache_control=MARK))), "messages.0.content.0.text: cache_control cannot be set for empty text blocks"),
    ("mark on thinking", body(HI, assistant(THOUGHT | {"cache_control": MARK}), HI), "messages.1.content.0.thinking.cache_control: Extra inputs are not permitted"),
    ("mark in a result", body(HI, ASKED, user(tool_result("t1", content=[text("a", cache_control=MARK)]))), "messages.2.content.0.tool_result.content.0.cache_control: Extra inputs are not permitted"),
    ("mark on a deferred tool", body(tools=[tool(defer_loading=True, cache_control=MARK)]), "tools.0: cache_control cannot be set for tools with defer_loading"),
    ("order of marks", body(user(text("a", cache_control=HOUR)), system=[text("s", cache_control=MARK)]), "messages.0.content.0.cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that blocks are processed in the following order: `tools`, `system`, `messages`."),
    ("order of marks", body(HI, tools=[tool(cache_control=MARK)], system=[text("s", cache_control=HOUR)]), "system.0.cache_control.ttl: a ttl='1h' cache_control block must not come after"),
    ("order of marks", body(HI, system=[text("s", cache_control=MARK)], cache_control=HOUR), "cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m'"),
    ("two marks on a block", body(user(text("a", cache_control=HOUR)), cache_control=MARK), "Top-level cache_control has ttl='5m' but the target block already has cache_control with ttl='1h'"),
    ("two marks on a block", body(user(text("a")), assistant(text("b", cache_control=HOUR), THOUGHT), cache_control=MARK), "Top-level cache_control has ttl='5m' but the target block already has cache_control with ttl='1h'"),
    ("form of a mark", body(user(text("a", cache_control={"type": "ephemeral", "ttl": "2h"}))), "messages.0.content.0.cache_control.ttl: Input should be '5m' or '1h'"),
    ("form of a mark", body(user(text("a", cache_control={"type": "forever"}))), "messages.0.content.0.cache_control.type: Input should be 'ephemeral'"),
    ("output limit", body(max_tokens=1_001), "max_tokens: 1001 > 1000, which is the maximum allowed number of output tokens for m"),
    ("output limit", body(max_tokens=-1), "max_tokens: must be greater than or equal to 1"),
    ("warm-up", body(max_tokens=0, stream=True), "max_tokens: 0 cannot be combined with `stream`"),
    ("warm-up", body(max_tokens=0, output_config={"format": {"type": "json_schema", "schema": SCHEMA}}), "max_tokens: 0 cannot be combined with `output_config.format`"),
    ("warm-up", body(max_tokens=0, tools=[TOOL], tool_choice={"type": "any"}), "max_tokens: 0 cannot be combined with `tool_choice`"),
    ("sampling", body(temperature=1.0), "temperature: sampling parameters are not supported"),
    ("sampling", body(top_p=0.9), "top_p: sampling parameters are not supported"),
    ("sampling", body(top_k=1), "top_k: sampling parameters are not supported"),
    ("stop sequences", body(stop_sequences=["END", " "]), "stop_sequences: each stop sequence must contain non-whitespace"),
    ("stop sequences", body(stop_sequences="END"), "stop_sequences: Input should be a valid array"),
    ("unknown field", body(colour="red"), "colour: Extra inputs are not permitted"),
    ("unknown field", body(HI | {"name": "a"}), "messages.0.name: Extra inputs are not permitted"),
    ("unknown field", body(user(text("a", colour="red"))), "messages.0.content.0.text.colour: Extra inputs are not permitted"),
    ("unknown field", body(tools=[tool(colour="red")]), "tools.0.custom.colour: Extra inputs are not permitted"),
    ("tool kind", body(tools=[tool(type="function")]), "tools.0: Input tag 'function' found using 'type' does not match any of the expected tags: 'custom'"),
    ("tool name", body(tools=[TOOL, TOOL]), "tools: Tool names must be unique."),
    ("tool name", body(tools=[tool(name="a b")]), "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'"),
    ("tool name", body(tools=[tool(name="a" * 129)]), "tools.0.custom.name: String should match pattern"),
    ("tool schema", body(tools=[{"name": "a"}]), "tools.0.custom.input_schema: Field required"),
    ("tool schema", body(tools=[tool(input_schema={"type": "array"})]), "tools.0.custom.input_schema.type: Input should be 'object'"),
    ("tool schema", body(tools=[tool(input_schema=SCHEMA | {"anyOf": [SCHEMA]})]), "tools.0.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level"),
    ("tool schema", body(tools=[tool(input_schema=SCHEMA | {"properties": {"a": {"type": "text"}}})]), "tools.0.custom.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12"),
    ("tool choice", body(tool_choice={"type": "auto"}), "tool_choice.auto may only be specified while providing tools"),
    ("tool choice", body(tools=[TOOL], tool_choice={"type": "tool", "name": "other"}), "Tool 'other' not found in provided tools"),
    ("tool choice", body(tools=[TOOL], tool_choice={"type": "some"}), "tool_choice: Input tag 'some' found using 'type' does not match any of the expected tags: 'any', 'auto', 'none', 'tool'"),
    ("forced tool", body(tools=[TOOL], tool_choice={"type": "any"}), "Thinking may not be enabled when tool_choice forces tool use."),
    ("thinking by model", body(thinking={"type": "enabled", "budget_tokens": 1_024}), '"thinking.type.enabled" is not supported for this model.'),
    ("thinking by model", body(thinking={"type": "deep"}), "thinking: Input tag 'deep' found using 'type' does not match any of the expected tags: 'adaptive', 'between_tools', 'disabled', 'enabled'"),
    ("thinking by model", body(thinking={"type": "adaptive", "budget_tokens": 1_024}), "thinking.adaptive.budget_tokens: Extra inputs are not permitted"),
    ("document of an assistant", body(assistant(DOCUMENT), HI), "messages.0.content.0: `document` blocks are not allowed in assistant messages"),
    ("citations of a user", body(user(text("a", citations=[{}]))), "messages.0.content.0.text.citations: Extra inputs are not permitted"),
    ("citations of a user", body(user({"type": "search_result", "source": "a", "title": "b", "content": [text("a", citations=[{}])]})), "messages.0.content.0.search_result.content.0.text.citations: Extra inputs are not permitted"),
]  # fmt: skip


@pytest.mark.parametrize(("row", "sent", "words"), BAD)
def test_a_broken_rule_is_told_in_the_api_s_words(row: str, sent: dict[str, Any], words: str) -> None:
    assert any(message.startswith(words) for message in told(sent)), told(sent)


@pytest.mark.parametrize(("row", "sent", "words"), BAD)
def test_the_same_rule_holds_the_request_back_before_it_is_sent(row: str, sent: dict[str, Any], words: str) -> None:
    with pytest.raises(ProviderError) as caught:
        refuse_invalid(sent, row=ROW)
    assert (caught.value.kind, caught.value.action, caught.value.maybe_billed) == ("invalid_request", "stop", False)


GOOD = [
    body(),
    body({"role": "user", "content": "a bare text"}, system="a bare text"),
    body(HI, HI, assistant(text("a")), assistant(text("b")), HI),
    body(assistant(text("history may begin here")), HI),
    body(HI, assistant(text("I read."), tool_use("t1"), tool_use("t2")), user(tool_result("t2"), tool_result("t1"), text("go on"))),
    body(HI, ASKED, user(tool_result("t1")), user(text("and then"))),
    body(HI, assistant(tool_use("t1"), tool_use("t2")), user(tool_result("t1")), user(tool_result("t2"))),
    body(HI, ASKED, user(tool_result("t1", content=""))),
    body(HI, ASKED, user({"type": "tool_result", "tool_use_id": "t1"})),
    body(HI, ASKED, user(tool_result("t1", content=[text(" \n"), IMAGE]))),
    body(HI, ASKED, user(tool_result("t1")), {"role": "system", "content": [text("note")]}),
    body(HI, {"role": "system", "content": [text("a")]}, {"role": "system", "content": [text("b")]}, assistant(text("c")), HI),
    body(HI, assistant({"type": "web_search_tool_result"}), SYSTEM),
    body(HI, assistant({"type": "server_tool_use"})),
    body(HI, {"role": "system", "content": [], "output_config": {"effort": "low"}}, HI),
    body(HI, SYSTEM | {"output_config": {"effort": "low"}, "clear_at": "never"}),
    body(user(text("a", cache_control=MARK)), system=[text("s", cache_control=HOUR)], tools=[TOOL | {"cache_control": HOUR}]),
    body(user(text("a", cache_control=MARK)), cache_control=MARK),
    body(*[user(text("a", cache_control=MARK))] * 4),
    body(user(text("a", cache_control=None, citations=None))),
    body(HI, assistant({"type": "thinking", "thinking": "", "signature": "s"}, tool_use("t1")), user(tool_result("t1"))),
    body(tools=[{"type": "bash_20250124", "name": "bash"}, {"type": "browser_toolset_20260801"}]),
    body(tools=[TOOL], tool_choice={"type": "auto", "disable_parallel_tool_use": True}),
    body(max_tokens=0),
    body(thinking={"type": "adaptive", "display": "omitted"}),
    body(stop_sequences=["END"], metadata={"user_id": "a"}, output_config={"effort": "low"}),
]  # fmt: skip


@pytest.mark.parametrize("sent", GOOD)
def test_what_the_api_takes_is_not_refused(sent: dict[str, Any]) -> None:
    assert told(sent) == []
    refuse_invalid(sent, row=ROW)


def test_rules_of_a_version_hold_from_it_on_only() -> None:
    sent = body(assistant(DOCUMENT), user(text("a", citations=[{}])), temperature=0.5)
    assert len(told(sent)) == 3
    assert told(sent, api_version="2023-06-01") == []


def test_sampling_of_older_models_has_a_range_and_later_ones_take_none() -> None:
    def old(**more: Any) -> list[str]:
        return told(body(**more), OLD, api_version="2023-06-01")

    assert old(temperature=0.5, top_k=3) == []
    assert old(temperature=2) == ["temperature: range: 0..1"]
    assert old(temperature=1, top_p=0.5) == ["`temperature` and `top_p` cannot both be specified for this model. Please use only one."]  # fmt: skip
    budget = {"type": "enabled", "budget_tokens": 1_024}
    assert old(temperature=0.5, thinking=budget, max_tokens=2_000) == ["`temperature` may only be set to 1 when thinking is enabled."]  # fmt: skip
    later = ModelRow(model="later", sampling=False)
    assert told(body(temperature=1.0), later, api_version="2023-06-01") == ["`temperature` is deprecated for this model."]  # fmt: skip


def test_rules_of_a_model_follow_its_row() -> None:
    assert told(body(HI, assistant(text("So"))), OLD) == []
    assert told(body(HI, assistant(text("So "))), OLD) == ["messages.1: final assistant content cannot end with trailing whitespace"]  # fmt: skip
    unsupported = ["role 'system' is not supported on this model"]
    assert told(body(HI, SYSTEM), OLD) == unsupported
    assert told(body(HI, {"role": "system", "content": [], "output_config": {"effort": "low"}}), OLD) == unsupported
    budget = {"type": "enabled", "budget_tokens": 1_024}
    assert told(body(thinking=budget, max_tokens=2_000), OLD) == []
    assert told(body(thinking=budget), OLD) == ["`max_tokens` must be greater than `thinking.budget_tokens`."]
    assert told(body(thinking=budget | {"budget_tokens": 5}), OLD) == ["thinking.enabled.budget_tokens: Input should be greater than or equal to 1024"]  # fmt: skip
    assert told(body(thinking={"type": "adaptive"}), OLD) == ["adaptive thinking is not supported on this model"]
    forced = {"tools": [TOOL], "tool_choice": {"type": "tool", "name": TOOL["name"]}}
    assert told(body(**forced), OLD) == []
    assert told(body(**forced, thinking=budget, max_tokens=2_000), OLD) == ["Thinking may not be enabled when tool_choice forces tool use."]  # fmt: skip
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


_TESTED_BELOW = {"window", "final whitespace", "thinking first", "sampling by model"}
_TESTED_IN_TEST_THINKING = {"changed thinking", "moved thinking", "control of binding"}


def test_every_rule_of_the_reference_page_has_its_bad_body() -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "emulator.md").read_text("utf-8")
    table = page.partition("## What is refused")[2].partition("\n## ")[0]
    rows = {line.split("|")[1].strip() for line in table.splitlines() if line.startswith("| ")} - {"rule", "---"}
    assert rows == {row for row, _, _ in BAD} | _TESTED_BELOW | _TESTED_IN_TEST_THINKING
