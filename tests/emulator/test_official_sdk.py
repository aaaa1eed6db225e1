"""The official SDK as people use it, against the emulator: over a socket and in this process."""

from __future__ import annotations

import copy
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import anthropic
import httpx2
import pytest
from support.provider_calls import MODEL, TOOL, assistant, capabilities, text, tool_result, user

from aircoding.emulator.runner import running
from aircoding.emulator.server import Emulator
from aircoding.providers.script import parse_script
from aircoding.providers.validation_thinking import BINDING_BETA

TURNS = """
- thinking: Let me look.
  text: I read two files.
  tools: [{name: fs_read, input: {path: a}}, {name: fs_read, input: {path: b}}]
- {thinking: Both are fine., text: "Done: ä, 漢, and a \\"quote\\"."}
"""
HI = user(text("Hi"))


def emulator(turns: str = TURNS) -> Emulator:
    lines = "\n".join(f"  {line}" for line in turns.strip().splitlines())
    return Emulator(parse_script(f"scripts:\n- match: {{}}\n  turns:\n{lines}\n", uri="x"), capabilities())


@pytest.fixture
def served() -> Iterator[tuple[Emulator, anthropic.Anthropic]]:
    served = emulator()
    with running(served.app) as url, anthropic.DefaultHttpxClient(trust_env=False) as http:
        yield served, anthropic.Anthropic(api_key="any", base_url=url, http_client=http)


@pytest.fixture
async def inside() -> AsyncIterator[Callable[..., anthropic.AsyncAnthropic]]:
    clients: list[anthropic.AsyncAnthropic] = []

    def start(turns: str = TURNS, **more: Any) -> anthropic.AsyncAnthropic:
        http = httpx2.AsyncClient(transport=httpx2.ASGITransport(app=emulator(turns).app))
        clients.append(anthropic.AsyncAnthropic(api_key="any", base_url="http://emulator", http_client=http, **more))
        return clients[-1]

    yield start
    for client in clients:
        await client.close()


def asked(*messages: Any, **more: Any) -> dict[str, Any]:
    return {"model": MODEL, "max_tokens": 500, "tools": [TOOL], "messages": list(messages) or [HI], **more}


def answered(message: Any) -> list[dict[str, Any]]:
    """The conversation that goes on: what the model said, and a result for each call."""
    content = [block.model_dump(exclude_unset=True) for block in message.content]
    calls = [block["id"] for block in content if block["type"] == "tool_use"]
    return [HI, assistant(*content), user(*(tool_result(call) for call in calls))]


def test_a_conversation_with_parallel_calls(served: tuple[Emulator, anthropic.Anthropic]) -> None:
    emulated, client = served
    first = client.messages.create(**asked())
    assert [block.type for block in first.content] == ["thinking", "text", "tool_use", "tool_use"]
    assert first.stop_reason == "tool_use"
    assert first.usage.input_tokens > 0
    assert first._request_id == "req_emulator_1"
    with client.messages.stream(**asked(*answered(first))) as stream:
        words = "".join(stream.text_stream)
        last = stream.get_final_message()
    assert words == last.content[-1].text == 'Done: ä, 漢, and a "quote".'
    assert last.stop_reason == "end_turn"
    assert {one.auth for one in emulated.recorder.requests} == {"bearer"}
    assert {one.headers["anthropic-version"] for one in emulated.recorder.requests} == {"2026-10-21"}


def test_tokens_and_models(served: tuple[Emulator, anthropic.Anthropic]) -> None:
    client = served[1]
    budget = {"type": "enabled", "budget_tokens": 2_000}
    assert client.messages.count_tokens(**_countable(asked())).input_tokens > 10
    old = {**_countable(asked()), "model": "claude-sonnet-4-5", "thinking": budget}
    assert client.messages.count_tokens(**old).input_tokens > 10
    listed = [model.id for model in client.models.list(limit=3)]  # asks for page after page
    assert listed == list(capabilities().rows)
    before = client.models.list(limit=2, before_id=listed[4])
    assert ([model.id for model in before.data], before.has_more) == (listed[2:4], True)
    assert client.models.retrieve(MODEL).id == MODEL
    with pytest.raises(anthropic.NotFoundError):
        client.models.retrieve("claude-none")
    with pytest.raises(anthropic.BadRequestError, match="limit"):
        client.models.list(limit=0)


def _countable(request: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in request.items() if key != "max_tokens"}


async def test_the_same_in_this_process(inside: Callable[..., anthropic.AsyncAnthropic]) -> None:
    client = inside()
    first = await client.messages.create(**asked())
    async with client.messages.stream(**asked(*answered(first))) as stream:
        kinds = {event.type async for event in stream}
        last = await stream.get_final_message()
    assert {"message_start", "thinking", "signature", "text", "message_stop"} <= kinds
    assert [block.type for block in last.content] == ["thinking", "text"]
    assert (await client.messages.count_tokens(**_countable(asked()))).input_tokens > 10
    assert MODEL in [model.id async for model in client.models.list()]


@pytest.mark.parametrize(
    ("error", "tries"),
    [
        ("status: 529, times: 2, retry_after_seconds: 0", 3),
        ("status: 429, times: 1, retry_after_seconds: 0", 2),
        ("status: 400, times: 1, retry_after_seconds: 0, should_retry: true", 2),
    ],
)
async def test_the_sdk_tries_again_when_it_is_told_to(
    inside: Callable[..., anthropic.AsyncAnthropic], error: str, tries: int
) -> None:
    raw = await inside(f"- {{text: here, error: {{{error}}}}}").messages.with_raw_response.create(**asked())
    assert (await raw.parse()).content[0].text == "here"
    assert raw.retries_taken == tries - 1


async def test_the_sdk_gives_up_when_it_is_told_to(inside: Callable[..., anthropic.AsyncAnthropic]) -> None:
    client = inside("- {text: here, error: {status: 500, should_retry: false}}")
    with pytest.raises(anthropic.InternalServerError) as caught:
        await client.messages.create(**asked())
    assert caught.value.response.headers["x-should-retry"] == "false"
    assert caught.value.body["error"] == {"type": "api_error", "message": "scripted"}
    assert (await client.messages.create(**asked())).content[0].text == "here", "only one try was struck"


async def test_bound_thinking_is_refused_or_dropped_as_asked(inside: Callable[..., anthropic.AsyncAnthropic]) -> None:
    client = inside()
    first = await client.messages.create(**asked(system="Monday."))
    request = asked(*answered(first), system="Tuesday.")
    with pytest.raises(anthropic.BadRequestError) as caught:
        await client.messages.create(**request)
    message = caught.value.body["error"]["message"]
    assert message.startswith("messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to")
    assert f"`{BINDING_BETA}`" in message
    assert message.endswith("The `system` prompt differs from the one this block was created with.")

    drop = {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}}
    reply = await client.beta.messages.create(**request, thinking=drop, betas=[BINDING_BETA])
    (change,) = reply.input_transformations
    assert (change.type, change.path, change.reason) == (
        "thinking_dropped",
        "messages.1.content.0",
        "prefix_binding_mismatch",
    )
    kept = await client.beta.messages.create(
        **asked(*answered(first), system="Monday."), thinking=drop, betas=[BINDING_BETA]
    )
    assert kept.input_transformations == []
    assert reply.usage.input_tokens < kept.usage.input_tokens, "what is dropped is not paid for"


async def test_edited_thinking_is_refused(inside: Callable[..., anthropic.AsyncAnthropic]) -> None:
    client = inside()
    request = asked(*answered(await client.messages.create(**asked())))
    edited = copy.deepcopy(request)
    edited["messages"][1]["content"][0]["thinking"] = "I think otherwise."
    with pytest.raises(anthropic.BadRequestError, match="latest assistant message cannot be modified"):
        await client.messages.create(**edited)
    edited["messages"][1]["content"][0]["signature"] = "bm9uZQ=="
    with pytest.raises(anthropic.BadRequestError, match="Invalid `signature` in `thinking` block'"):
        await client.messages.create(**edited)
