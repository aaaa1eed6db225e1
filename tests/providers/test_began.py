"""When a response begins: others may read from the cache only then, so that moment is told once, and not before."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable

import httpx2
import pytest
from support.provider_calls import MODEL, call, capabilities

from aircoding.errors import ProviderError
from aircoding.providers.anthropic_messages import AnthropicProvider
from aircoding.providers.script import parse_script
from aircoding.providers.scripted import ScriptedProvider

USAGE = {"input_tokens": 7, "output_tokens": 1}
MESSAGE = {"id": "m", "type": "message", "role": "assistant", "model": MODEL, "content": [], "stop_reason": None}
START = {"type": "message_start", "message": {**MESSAGE, "stop_sequence": None, "usage": USAGE}}
REST = (
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "a"}},
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": None}, "usage": USAGE},
    {"type": "message_stop"},
)

Send = Callable[..., Awaitable[None]]


def sse(event: dict[str, object]) -> bytes:
    return f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()


async def begun(status: int, *events: dict[str, object]) -> tuple[list[str], ProviderError | None]:
    """Call a server that answers with these events; return what was told, and how it failed."""
    told: list[str] = []

    async def app(scope: object, receive: object, send: Send) -> None:
        kind = b"text/event-stream" if status == 200 else b"application/json"
        await send({"type": "http.response.start", "status": status, "headers": [(b"content-type", kind)]})
        body = b"".join(sse(event) for event in events)
        await send({"type": "http.response.body", "body": body})

    environ = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": "http://localhost"}
    provider = AnthropicProvider(capabilities(), environ=environ, transport=httpx2.ASGITransport(app=app))
    try:
        await provider.call(call(), began=lambda: told.append("began"))
    except ProviderError as error:
        return told, error
    finally:
        await provider.aclose()
    return told, None


async def test_the_first_event_of_a_stream_is_told_once() -> None:
    assert await begun(200, START, *REST) == (["began"], None)


async def test_a_stream_that_is_cut_after_its_start_had_begun() -> None:
    told, error = await begun(200, START)
    assert (told, error is not None) == (["began"], True)


async def test_a_call_that_is_refused_never_began() -> None:
    told, error = await begun(529)
    assert (told, error is not None) == ([], True)


def scripted(turn: str, **more: object) -> ScriptedProvider:
    script = parse_script(f"scripts:\n- match: {{task: T1}}\n  turns:\n  - {turn}\n", uri="project:script.yaml")
    return ScriptedProvider(script, capabilities(), **more)


async def test_a_scripted_answer_begins_after_its_delay() -> None:
    told: list[str] = []

    async def sleep(_seconds: float) -> None:
        told.append("slept")
        await asyncio.sleep(0)

    model = scripted("{text: a, delay_seconds: 1}", sleep=sleep)
    await model.call(call(), began=lambda: told.append("began"))
    assert told == ["slept", "began"]


@pytest.mark.parametrize(("error", "told"), [("{status: 529}", []), ("{stream: cut}", ["began"])])
async def test_a_scripted_failure_begins_only_where_a_stream_would(error: str, told: list[str]) -> None:
    heard: list[str] = []
    with pytest.raises(ProviderError):
        await scripted(f"{{text: a, error: {error}}}").call(call(), began=lambda: heard.append("began"))
    assert heard == told


async def test_what_an_answer_has_marked_is_not_there_for_a_request_that_came_before_it_began() -> None:
    gate = asyncio.Event()

    async def sleep(_seconds: float) -> None:
        await gate.wait()

    model = scripted("{text: a, delay_seconds: 1}", sleep=sleep)
    body = {
        "tools": [],
        "system": [{"type": "text", "text": "x" * 40_000, "cache_control": {"type": "ephemeral"}}],
        "messages": [{"role": "user", "content": [{"type": "text", "text": "go"}]}],
    }
    early = [asyncio.create_task(model.call(call(body))) for _ in range(2)]
    await asyncio.sleep(0.01)
    gate.set()
    usages = [(await each).usage for each in early] + [(await model.call(call(body))).usage]
    assert [usage.cache_read_tokens > 0 for usage in usages] == [False, False, True]
    assert [usage.cache_write_5m_tokens > 0 for usage in usages] == [True, True, False]
