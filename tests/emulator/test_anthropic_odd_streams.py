"""Streams that no server should send and some do: each is an error, never half an answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from types import SimpleNamespace
from typing import Any

import httpx2
import pytest
from support.provider_calls import MODEL, call, capabilities

from aircoding.emulator.answers import Answer, sse, stream_events
from aircoding.errors import ProviderError
from aircoding.providers.anthropic_messages import AnthropicProvider
from aircoding.providers.anthropic_replies import MAX_TOKENS, checked_tokens
from aircoding.records.calls import Reply
from aircoding.records.usage import Usage

TEXT = {"type": "text", "text": "whole"}


def events(content: Sequence[dict[str, Any]] = (TEXT,), stop_reason: str | None = "end_turn") -> list[dict[str, Any]]:
    usage = Usage(
        input_tokens=7, cache_read_tokens=5, cache_write_5m_tokens=2, cache_write_1h_tokens=3, output_tokens=4
    )
    answer = Answer(message_id="m1", model=MODEL, content=content, stop_reason=stop_reason, usage=usage)  # type: ignore[arg-type]
    return stream_events(answer)


async def ask(body: bytes) -> Reply:
    """Call a server that answers with these bytes as a stream."""

    async def app(scope: object, receive: object, send: Callable[..., Awaitable[None]]) -> None:
        headers = [(b"content-type", b"text/event-stream"), (b"request-id", b"req_1")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    environ = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": "http://localhost"}
    provider = AnthropicProvider(capabilities(), environ=environ, transport=httpx2.ASGITransport(app=app))
    try:
        return await provider.call(call())
    finally:
        await provider.aclose()


def wire(sent: Sequence[dict[str, Any]]) -> bytes:
    return b"".join(sse(event) for event in sent)


async def test_usage_keeps_the_two_lives_of_cache_writes_apart() -> None:
    reply = await ask(wire(events()))
    assert reply.usage == Usage(
        input_tokens=7, cache_read_tokens=5, cache_write_5m_tokens=2, cache_write_1h_tokens=3, output_tokens=4
    )
    assert (reply.request_id, reply.model, reply.stop_reason) == ("req_1", MODEL, "end_turn")


async def test_totals_at_the_end_of_a_stream_replace_those_at_its_start() -> None:
    sent = events()
    sent[-2]["usage"] = {"output_tokens": 9, "input_tokens": 8, "cache_creation_input_tokens": 13}
    usage = (await ask(wire(sent))).usage
    assert (usage.output_tokens, usage.input_tokens) == (9, 8)
    assert (usage.cache_write_5m_tokens, usage.cache_write_1h_tokens) == (10, 3)


ABSURD = [-1, -(10**30), 10**12 + 1, 10**30, 0.5, float("nan"), float("inf"), "many", [], {}]
COUNTS = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")


@pytest.mark.parametrize("value", [*ABSURD, None], ids=repr)
@pytest.mark.parametrize("name", COUNTS)
async def test_a_usage_that_cannot_be_true_is_an_error_that_may_be_billed(name: str, value: object) -> None:
    if value is None and name.startswith("cache"):
        pytest.skip("null is how the API says that nothing was cached")
    sent = events()
    sent[0]["message"]["usage"][name] = value
    if name == "output_tokens":
        sent[-2]["usage"][name] = value
    with pytest.raises(ProviderError, match=f"usage that cannot be true: `{name}`") as caught:
        await ask(wire(sent))
    assert (caught.value.kind, caught.value.action, caught.value.maybe_billed) == ("untrusted_usage", "stop", True)


@pytest.mark.parametrize(
    "split",
    [
        {"ephemeral_5m_input_tokens": -3, "ephemeral_1h_input_tokens": 3},
        {"ephemeral_5m_input_tokens": 2, "ephemeral_1h_input_tokens": -1},
        {"ephemeral_5m_input_tokens": 2, "ephemeral_1h_input_tokens": 4},
    ],
)
async def test_lives_of_cache_writes_that_do_not_add_up_are_an_error(split: dict[str, object]) -> None:
    sent = events()
    sent[0]["message"]["usage"]["cache_creation"] = split
    with pytest.raises(ProviderError, match="usage that cannot be true"):
        await ask(wire(sent))


@pytest.mark.parametrize("value", [*ABSURD, 12.0, "12", True, None], ids=repr)
def test_only_a_whole_number_in_bounds_is_a_count_of_tokens(value: object) -> None:
    """Whatever the SDK makes of a value on its way here."""
    with pytest.raises(ProviderError, match="cannot be true: `input_tokens`"):
        checked_tokens(SimpleNamespace(input_tokens=value), "input_tokens")
    assert [checked_tokens(SimpleNamespace(n=good), "n") for good in (0, 7, MAX_TOKENS)] == [0, 7, MAX_TOKENS]


async def test_a_usage_without_its_tokens_is_an_error_and_one_without_a_cache_is_none() -> None:
    sent = events()
    for name in ("cache_read_input_tokens", "cache_creation_input_tokens", "cache_creation"):
        sent[0]["message"]["usage"][name] = None
    assert (await ask(wire(sent))).usage == Usage(input_tokens=7, output_tokens=4)
    del sent[0]["message"]["usage"]["input_tokens"]
    with pytest.raises(ProviderError, match="`input_tokens` is missing"):
        await ask(wire(sent))


async def test_a_text_that_says_nothing_is_left_out_since_no_request_may_hold_one() -> None:
    call_block = {"type": "tool_use", "id": "t1", "name": "fs_read", "input": {}}
    for words in ("", "\n\n"):
        assert (await ask(wire(events([{"type": "text", "text": words}, call_block])))).content == (call_block,)


async def test_thinking_without_words_keeps_its_signature() -> None:
    thinking = {"type": "thinking", "thinking": "", "signature": "abc="}
    assert (await ask(wire(events([thinking, TEXT])))).content == (thinking, TEXT)


async def test_redacted_thinking_goes_back_as_it_came() -> None:
    sent = events([TEXT])
    redacted = {"type": "redacted_thinking", "data": "opaque"}
    for event in sent:
        if "index" in event:
            event["index"] = 1
    sent[2:2] = [
        {"type": "content_block_start", "index": 0, "content_block": redacted},
        {"type": "content_block_stop", "index": 0},
    ]
    assert (await ask(wire(sent))).content == (redacted, TEXT)


async def test_a_refusal_may_say_nothing() -> None:
    reply = await ask(wire(events([], "refusal")))
    assert (reply.content, reply.stop_reason) == ((), "refusal")


@pytest.mark.parametrize(
    ("body", "kind", "words"),
    [
        (wire(events(stop_reason=None)), "silent_end", "no stop reason"),
        (wire(events([])), "silent_end", "holds nothing"),
        (wire(events([{"type": "text", "text": ""}])), "silent_end", "holds nothing"),
        (wire(events()[:-1]), "silent_end", "before message_stop"),
        (wire(events()[:1]), "silent_end", "before message_stop"),
        (b"", "silent_end", "before message_start"),
        (wire(events()[:4]) + b"event: content_block_delta\ndata: {half", "silent_end", "before message_stop"),
        (wire(events()[:4]) + b"event: content_block_delta\ndata: {half\n\n", "cut_stream", "JSON"),
        (wire(events()[2:]), "silent_end", "before message_start"),
        (wire([*events()[:2], *events()[3:]]), "cut_stream", "IndexError"),
        (wire([{"type": "message_start"}, *events()[1:]]), "connection", "Error"),
        (b"no stream at all", "silent_end", "before message_start"),
    ],
)
async def test_half_an_answer_is_an_error_that_can_be_tried_again(body: bytes, kind: str, words: str) -> None:
    with pytest.raises(ProviderError, match=words) as caught:
        await ask(body)
    assert (caught.value.kind, caught.value.action, caught.value.maybe_billed) == (kind, "retry", True)


async def test_an_error_event_is_told_by_its_type() -> None:
    error = {"type": "error", "error": {"type": "invalid_request_error", "message": "no"}}
    with pytest.raises(ProviderError) as caught:
        await ask(wire([*events()[:4], error]))
    assert (caught.value.kind, caught.value.action, caught.value.maybe_billed) == ("invalid_request", "stop", True)


def test_limits_and_prices_are_those_of_the_model() -> None:
    provider = AnthropicProvider(capabilities(), environ={"ANTHROPIC_AUTH_TOKEN": "k"}, max_output_tokens=9)
    assert provider.limits(MODEL).max_output_tokens == 9
    assert provider.cost(MODEL, Usage(input_tokens=1_000_000)).usd == 2.0
    assert provider.cost("claude-none-9", Usage(input_tokens=1)).usd is None
