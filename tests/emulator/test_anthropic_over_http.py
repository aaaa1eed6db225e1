"""The official SDK against the emulator over a real socket: whole answers, and each way in which a call fails."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager

import httpx2
import pytest
from support.provider_calls import SESSION, TOOL, call, capabilities, request, text, tool_result, tool_use, user

from aircoding.emulator.runner import running
from aircoding.emulator.server import Emulator
from aircoding.errors import CredentialsError, ProviderError
from aircoding.providers.anthropic_messages import AnthropicProvider
from aircoding.providers.script import parse_script
from aircoding.providers.scripted import ScriptedProvider
from aircoding.records.digests import canonical_json
from aircoding.records.ids import SessionId

Serve = Callable[..., object]


class Served:
    """A provider and the emulator that it calls."""

    def __init__(self, provider: AnthropicProvider, emulator: Emulator) -> None:
        self.provider, self.emulator = provider, emulator


@pytest.fixture
async def serve() -> AsyncIterator[Callable[..., object]]:
    async with AsyncExitStack() as stack:

        async def start(turns: str, *, silence_seconds: float = 20.0, key: str = "ANTHROPIC_API_KEY") -> Served:
            lines = "\n".join(f"  {line}" for line in turns.strip().splitlines())
            script = parse_script(f"scripts:\n- match: {{}}\n  turns:\n{lines}\n", uri="project:script.yaml")
            emulator = Emulator(script, capabilities())
            return await stack.enter_async_context(_served(emulator, silence_seconds, key))

        yield start


@asynccontextmanager
async def _served(emulator: Emulator, silence_seconds: float, key: str) -> AsyncIterator[Served]:
    with running(emulator.app) as base_url:
        environ = {key: "secret-key", "ANTHROPIC_BASE_URL": base_url}
        provider = AnthropicProvider(capabilities(), environ=environ, silence_seconds=silence_seconds)
        yield Served(provider, emulator)
        await provider.aclose()


async def failure(served: Served, **given: object) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        await served.provider.call(call(**given))
    assert "secret-key" not in str(caught.value)
    return caught.value


async def test_an_answer_comes_back_whole(serve: Serve) -> None:
    served = await serve(
        """
- thinking: I should read first.
  text: "Hä, a \\"quoted\\" word and more than one piece of text."
  tools:
  - {name: fs_read, input: {path: "a\\"b.py", lines: [1, null, 2.5], deep: {x: "漢"}}}
  - {name: fs_read, input: {}}
"""
    )
    reply = await served.provider.call(call())
    thinking, words, first, second = reply.content
    assert thinking["thinking"] == "I should read first."
    assert thinking["signature"]
    assert words == text('Hä, a "quoted" word and more than one piece of text.')
    assert first["input"] == {"path": 'a"b.py', "lines": [1, None, 2.5], "deep": {"x": "漢"}}
    assert second["input"] == {}
    assert first["id"] != second["id"]
    assert reply.stop_reason == "tool_use"
    assert reply.usage.output_tokens > 10
    assert reply.request_id == "req_emulator_1"


async def test_what_is_sent_is_the_canonical_request_and_nothing_is_added_to_it(serve: Serve) -> None:
    served = await serve("- text: ok")
    body = request(user(text("a\nb — ü", cache_control={"type": "ephemeral"})))
    await served.provider.call(call(body))
    (recorded,) = served.emulator.recorder.requests
    sent = json.loads(recorded.body)
    assert canonical_json({part: sent[part] for part in ("tools", "system", "messages")}) == canonical_json(body)
    assert sent.keys() == {"model", "max_tokens", "tools", "system", "messages", "stream"}
    assert recorded.headers["anthropic-version"] == "2026-10-21"


async def test_a_reply_can_be_sent_back_and_the_session_goes_on(serve: Serve) -> None:
    served = await serve("- {thinking: hm, tools: [{name: fs_read, input: {}}]}\n- text: Done.")
    reply = await served.provider.call(call(request(user(text("Go.")))))
    first = reply.content[-1]["id"]
    messages = (user(text("Go.")), {"role": "assistant", "content": list(reply.content)}, user(tool_result(first)))
    second = await served.provider.call(call(request(*messages), assistant_turns=1))
    assert second.content == (text("Done."),)


async def test_a_scripted_session_can_be_taken_up_over_http(serve: Serve) -> None:
    turns = "- {thinking: hm, tools: [{name: fs_read, input: {}}]}\n- {thinking: so, text: Done.}"
    served = await serve(turns)
    lines = turns.replace("\n", "\n  ")
    scripted = ScriptedProvider(
        parse_script(f"scripts:\n- match: {{}}\n  turns:\n  {lines}\n", uri="x"), capabilities()
    )
    reply = await scripted.call(call())
    assert (await served.provider.call(call())).content == reply.content
    answered = [{"role": "assistant", "content": list(reply.content)}, user(tool_result(reply.content[-1]["id"]))]
    grown = call({**request(), "messages": [*request()["messages"], *answered]}, assistant_turns=1)
    assert (await served.provider.call(grown)).content == (await scripted.call(grown)).content


@pytest.mark.parametrize(("variable", "auth"), [("ANTHROPIC_API_KEY", "bearer"), ("ANTHROPIC_AUTH_TOKEN", "bearer")])
async def test_either_variable_carries_the_key(serve: Serve, variable: str, auth: str) -> None:
    served = await serve("- text: ok", key=variable)
    await served.provider.call(call())
    assert served.emulator.recorder.requests[0].auth == auth


@pytest.mark.parametrize(
    ("status", "kind", "action", "billed"),
    [
        (400, "invalid_request", "stop", False),
        (401, "credentials", "stop", False),
        (402, "refused", "stop", False),
        (403, "credentials", "stop", False),
        (404, "invalid_request", "other_model", False),
        (408, "timeout", "retry", True),
        (409, "server", "retry", False),
        (413, "too_long", "stop", False),
        (429, "rate_limit", "retry", False),
        (500, "server", "retry", False),
        (502, "server", "retry", False),
        (503, "server", "retry", False),
        (504, "timeout", "retry", True),
        (529, "overloaded", "retry", False),
    ],
)
async def test_a_status_says_what_to_do_next(
    serve: Serve, status: int, kind: str, action: str, *, billed: bool
) -> None:
    served = await serve(f"- error: {{status: {status}}}")
    error = await failure(served)
    assert (error.kind, error.action, error.maybe_billed) == (kind, action, billed)
    assert len(served.emulator.recorder.requests) == 1, "the SDK must not retry by itself"


async def test_what_the_provider_asks_to_wait_is_handed_on_uncapped(serve: Serve) -> None:
    error = await failure(await serve("- error: {status: 429, retry_after_seconds: 90}"))
    assert (error.action, error.retry_after_seconds) == ("wait", 90.0)


@pytest.mark.parametrize(
    ("stream", "kind"), [("cut", "cut_stream"), ("error_event", "overloaded"), ("early_end", "silent_end")]
)
async def test_a_stream_that_fails_after_it_began_is_no_answer(serve: Serve, stream: str, kind: str) -> None:
    served = await serve(f"- {{text: {'long ' * 40}, error: {{stream: {stream}}}}}")
    error = await failure(served)
    assert (error.kind, error.action, error.maybe_billed) == (kind, "retry", True)


async def test_a_stream_that_falls_silent_is_given_up(serve: Serve) -> None:
    served = await serve("- {text: never, error: {stream: hang}}", silence_seconds=0.3)
    error = await failure(served)
    assert (error.kind, error.action, error.maybe_billed) == ("timeout", "retry", True)


async def test_a_stream_of_which_only_pings_are_left_is_given_up(serve: Serve) -> None:
    served = await serve("- {text: never, pace_seconds: 0.05, error: {stream: stall}}", silence_seconds=5)
    error = await failure(served, timeout_seconds=0.6)
    assert (error.kind, error.action, error.maybe_billed) == ("timeout", "retry", True)


async def test_whether_to_try_again_is_what_the_server_says(serve: Serve) -> None:
    served = await serve("- {text: a, error: {status: 500, should_retry: false}}\n- text: b")
    assert (await failure(served)).action == "stop"
    served = await serve("- {text: a, error: {status: 400, should_retry: true}}")
    assert (await failure(served)).action == "retry"


async def test_a_stream_that_never_ends_is_given_up_though_it_is_not_silent(serve: Serve) -> None:
    served = await serve(f"- {{text: {'slow ' * 200}, pace_seconds: 0.1}}")
    error = await failure(served, timeout_seconds=0.5)
    assert (error.kind, error.maybe_billed) == ("timeout", True)


async def test_a_slow_stream_is_an_answer(serve: Serve) -> None:
    served = await serve("- {text: slow but whole, delay_seconds: 0.1, pace_seconds: 0.02}")
    reply = await served.provider.call(call())
    assert reply.content == (text("slow but whole"),)


async def test_an_error_strikes_as_often_as_it_says_and_then_the_turn_comes(serve: Serve) -> None:
    served = await serve("- {text: here, error: {status: 529, times: 2}}")
    assert (await failure(served, tries=0)).kind == "overloaded"
    assert (await failure(served, tries=1)).kind == "overloaded"
    assert (await served.provider.call(call(tries=2))).content == (text("here"),)


async def test_an_emulator_in_this_process_needs_no_port() -> None:
    emulator = Emulator(parse_script("scripts:\n- match: {}\n  turns: [{text: here}]\n", uri="x"), capabilities())
    environ = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": "http://localhost"}
    transport = httpx2.ASGITransport(app=emulator.app)
    provider = AnthropicProvider(capabilities(), environ=environ, transport=transport)
    assert (await provider.call(call())).content == (text("here"),)
    await provider.aclose()


async def test_a_provider_serves_one_event_loop_after_another(serve: Serve) -> None:
    served = await serve("- text: a")

    def in_a_loop_of_its_own() -> tuple[object, ...]:
        async def once() -> tuple[object, ...]:
            reply = await served.provider.call(call())
            await served.provider.aclose()
            return reply.content

        return asyncio.run(once())

    for _ in range(2):
        assert await asyncio.to_thread(in_a_loop_of_its_own) == (text("a"),)
    assert (await served.provider.call(call())).content == (text("a"),)


async def test_a_redirect_is_not_followed(serve: Serve) -> None:
    async def elsewhere(scope: object, receive: object, send: Callable[..., Awaitable[None]]) -> None:
        headers = [(b"location", b"http://example.com/v1/messages")]
        await send({"type": "http.response.start", "status": 307, "headers": headers})
        await send({"type": "http.response.body", "body": b""})

    environ = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": "http://localhost"}
    provider = AnthropicProvider(capabilities(), environ=environ, transport=httpx2.ASGITransport(app=elsewhere))
    with pytest.raises(ProviderError) as caught:
        await provider.call(call())
    await provider.aclose()
    assert (caught.value.kind, caught.value.action) == ("connection", "stop")


async def test_a_stopped_server_is_a_connection_that_can_be_tried_again() -> None:
    emulator = Emulator(parse_script("scripts:\n- match: {}\n  turns: [{text: a}]\n", uri="x"), capabilities())
    with running(emulator.app) as base_url:
        pass
    provider = AnthropicProvider(capabilities(), environ={"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": base_url})
    with pytest.raises(ProviderError) as caught:
        await provider.call(call())
    await provider.aclose()
    assert (caught.value.kind, caught.value.action, caught.value.maybe_billed) == ("connection", "retry", False)


async def test_a_prefix_sent_before_is_read_from_the_simulated_cache(serve: Serve) -> None:
    served = await serve("- text: a\n- text: b")
    body = request(user(text("task", cache_control={"type": "ephemeral"})), system="rule " * 2_000)
    first = await served.provider.call(call(body))
    second = await served.provider.call(call(body, assistant_turns=1))
    assert first.usage.cache_write_5m_tokens > 2_000
    assert first.usage.cache_read_tokens == 0
    assert second.usage.cache_read_tokens == first.usage.cache_write_5m_tokens
    assert first.usage.prompt_tokens == second.usage.prompt_tokens


async def test_calls_that_start_before_an_answer_begins_all_write_the_same_prefix(serve: Serve) -> None:
    served = await serve("- {text: a, delay_seconds: 0.3}\n- {text: b, delay_seconds: 0.3}")
    body = request(user(text("task", cache_control={"type": "ephemeral"})), system="rule " * 2_000)
    together = await asyncio.gather(*(served.provider.call(call(body)) for _ in range(3)))
    assert {reply.usage.cache_read_tokens for reply in together} == {0}
    later = await served.provider.call(call(body, assistant_turns=1))
    assert later.usage.cache_read_tokens == together[0].usage.cache_write_5m_tokens > 2_000


async def test_a_call_that_is_refused_leaves_nothing_in_the_cache(serve: Serve) -> None:
    served = await serve("- {text: a, error: {status: 529}}")
    body = request(user(text("task", cache_control={"type": "ephemeral"})), system="rule " * 2_000)
    assert (await failure(served, body=body)).kind == "overloaded"
    assert (await served.provider.call(call(body, tries=1))).usage.cache_read_tokens == 0


async def test_keys_do_not_share_a_cache() -> None:
    emulator = Emulator(parse_script("scripts:\n- match: {}\n  turns: [{text: a}]\n", uri="x"), capabilities())
    body = request(user(text("task", cache_control={"type": "ephemeral"})), system="rule " * 2_000)
    read = []
    for key in ("one", "other", "one"):
        environ = {"ANTHROPIC_API_KEY": key, "ANTHROPIC_BASE_URL": "http://localhost"}
        transport = httpx2.ASGITransport(app=emulator.app)
        provider = AnthropicProvider(capabilities(), environ=environ, transport=transport)
        read.append((await provider.call(call(body))).usage.cache_read_tokens > 0)
        await provider.aclose()
    assert read == [False, False, True]


async def test_a_refused_request_is_not_sent(serve: Serve) -> None:
    served = await serve("- text: a")
    error = await failure(served, body=request(user(text(""))))
    assert (error.kind, error.action) == ("invalid_request", "stop")
    assert "text content blocks must be non-empty" in error.message
    assert served.emulator.recorder.requests == ()


_HOUR = {"type": "ephemeral", "ttl": "1h"}
_MARK = {"type": "ephemeral"}


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (request(user(text("a", cache_control=_MARK), text("b", cache_control=_HOUR))), "must not come after"),
        (request(*[user(text("a", cache_control=_MARK))] * 5), "A maximum of 4 blocks with cache_control"),
        (
            request(*[user(text("a", cache_control=_MARK))] * 4, user(text("b"))) | {"cache_control": _MARK},
            "A maximum of 4 blocks with cache_control",
        ),
        (request(user(text("a")), {"role": "assistant", "content": [tool_use("t1")]}), "without `tool_result` blocks"),
    ],
    ids=["E51 an hour after five minutes", "E50 five marks", "E50 the automatic mark counts", "E55 a call alone"],
)
async def test_row_anthropic_blocks_what_breaks_a_rule_is_never_sent(serve: Serve, body: object, says: str) -> None:
    """E50, E51, E55: whoever made the request, it is held back on this side."""
    served = await serve("- text: a")
    error = await failure(served, body=body)
    assert (error.kind, error.maybe_billed, says in error.message) == ("invalid_request", False, True), error.message
    assert served.emulator.recorder.requests == ()


async def test_session_and_counts_travel_to_this_machine(serve: Serve) -> None:
    served = await serve("- text: a\n- text: b")
    session = SessionId("r1:Tür 1:1:executor:1")
    await served.provider.call(call(session=session, assistant_turns=1, tries=2))
    headers = served.emulator.recorder.requests[0].headers
    assert headers["x-air-session"] == "r1:T%C3%BCr%201:1:executor:1"
    assert (headers["x-air-assistant-turns"], headers["x-air-tries"]) == ("1", "2")


async def test_no_test_can_reach_a_paid_model_even_with_a_made_up_environment() -> None:
    provider = AnthropicProvider(capabilities(), environ={"ANTHROPIC_API_KEY": "secret-key"})
    with pytest.raises(ProviderError) as caught:
        await provider.call(call())
    assert (caught.value.kind, caught.value.action, caught.value.maybe_billed) == ("refused", "stop", False)
    assert "api.anthropic.com" in caught.value.message


def test_a_missing_key_names_its_variable_and_the_way_out() -> None:
    with pytest.raises(CredentialsError) as caught:
        AnthropicProvider(capabilities(), environ={"ANTHROPIC_API_KEY": ""})
    assert "ANTHROPIC_API_KEY" in caught.value.message
    assert caught.value.exit_code == 4


async def test_a_proxy_of_the_environment_does_not_carry_calls_to_this_machine(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    served = await serve("- text: direct")
    assert (await served.provider.call(call(request(user(text("x")))))).content == (text("direct"),)
    assert served.emulator.recorder.requests[0].json["tools"] == [TOOL]
    assert SESSION.startswith("r1:")
