"""The server as any client sees it: plain HTTP, in process."""

from __future__ import annotations

import json
from typing import Any

import httpx2
import pytest
from support.provider_calls import MODEL, capabilities, text, tool_use, user

from aircoding.emulator.runner import running
from aircoding.emulator.server import Emulator
from aircoding.providers.script import parse_script

SCRIPT = """
scripts:
- match: {role: executor}
  turns: [{text: to an executor}]
- match: {}
  turns:
  - {text: first, error: {status: 529, times: 1, retry_after_seconds: 2}}
  - {thinking: hm, text: second, tools: [{name: fs_read, input: {path: a}}]}
"""
KEY = {"x-api-key": "any", "anthropic-version": "2023-06-01"}


@pytest.fixture
def emulator() -> Emulator:
    return Emulator(parse_script(SCRIPT, uri="project:script.yaml"), capabilities())


def client(emulator: Emulator) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(transport=httpx2.ASGITransport(app=emulator.app), base_url="http://localhost")


def body(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"model": MODEL, "max_tokens": 100, "messages": list(messages) or [user(text("Hi"))], **more}


SECOND = body(user(text("Hi")), {"role": "assistant", "content": "first"}, user(text("On")))


async def post(emulator: Emulator, sent: Any, path: str = "/v1/messages", headers: Any = KEY) -> httpx2.Response:
    async with client(emulator) as http:
        return await http.post(path, json=sent, headers=headers)


async def test_a_caller_without_a_session_is_counted_by_its_messages_and_repeats(emulator: Emulator) -> None:
    struck = await post(emulator, body())
    assert (struck.status_code, struck.headers["retry-after"]) == (529, "2")
    assert struck.json()["error"] == {"type": "overloaded_error", "message": "scripted"}
    assert (await post(emulator, body())).json()["content"] == [text("first")]
    second = (await post(emulator, SECOND)).json()
    assert [block["type"] for block in second["content"]] == ["thinking", "text", "tool_use"]
    assert second["stop_reason"] == "tool_use"


async def test_streamed_and_whole_answers_say_the_same(emulator: Emulator) -> None:
    whole = (await post(emulator, SECOND)).json()
    response = await post(emulator, {**SECOND, "stream": True})
    events = [json.loads(line[6:]) for line in response.text.splitlines() if line.startswith("data: ")]
    assert [events[0]["type"], events[1]["type"], events[-1]["type"]] == ["message_start", "ping", "message_stop"]
    pieces = [event["delta"] for event in events if event["type"] == "content_block_delta"]
    assert "".join(piece.get("text", "") for piece in pieces) == "second"
    tool = json.loads("".join(piece.get("partial_json", "") for piece in pieces))
    assert tool == whole["content"][2]["input"]
    assert events[-2]["usage"]["output_tokens"] == whole["usage"]["output_tokens"]


async def test_a_session_in_the_headers_chooses_the_script(emulator: Emulator) -> None:
    session = {"x-air-session": "r:T1:1:executor:1", "x-air-assistant-turns": "0", "x-air-tries": "0"}
    assert (await post(emulator, body(), headers=KEY | session)).json()["content"] == [text("to an executor")]


@pytest.mark.parametrize(
    ("headers", "words"),
    [
        ({"x-air-session": "r:T1:1:executor:1"}, "x-air-assistant-turns"),
        ({"x-air-session": "nonsense", "x-air-assistant-turns": "0", "x-air-tries": "0"}, "no session id"),
        ({"x-air-session": "r:T1:1:executor:1", "x-air-assistant-turns": "x", "x-air-tries": "0"}, "no number"),
        ({"x-air-session": "r:T1:1:executor:1", "x-air-assistant-turns": "7", "x-air-tries": "0"}, "asks for turn 8"),
    ],
)
async def test_headers_that_fit_no_script_are_refused(emulator: Emulator, headers: dict[str, str], words: str) -> None:
    response = await post(emulator, body(), headers=KEY | headers)
    assert response.status_code == 400
    assert words in response.json()["error"]["message"]


@pytest.mark.parametrize("auth", [{"x-api-key": "k"}, {"authorization": "Bearer k"}])
@pytest.mark.parametrize("version", ["2023-06-01", "2026-10-21"])
async def test_both_keys_and_both_versions_are_taken(emulator: Emulator, auth: Any, version: str) -> None:
    response = await post(emulator, SECOND, headers={**auth, "anthropic-version": version})
    assert response.status_code == 200


@pytest.mark.parametrize(
    ("headers", "status", "kind"),
    [
        ({"anthropic-version": "2026-10-21"}, 401, "authentication_error"),
        ({"x-api-key": "k"}, 400, "invalid_request_error"),
        ({"x-api-key": "k", "anthropic-version": "2019-01-01"}, 400, "invalid_request_error"),
    ],
)
async def test_no_key_and_no_version_are_refused(emulator: Emulator, headers: Any, status: int, kind: str) -> None:
    response = await post(emulator, body(), headers=headers)
    assert (response.status_code, response.json()["error"]["type"]) == (status, kind)


async def test_a_version_keeps_its_own_rules(emulator: Emulator) -> None:
    sent = {**SECOND, "temperature": 1.0, "model": "claude-sonnet-4-5"}
    assert (await post(emulator, sent)).status_code == 200
    refused = await post(emulator, sent, headers={**KEY, "anthropic-version": "2026-10-21"})
    assert refused.status_code == 400


async def test_a_bad_body_gets_the_api_s_own_text(emulator: Emulator) -> None:
    response = await post(
        emulator, body(user(text("Hi")), {"role": "assistant", "content": [tool_use("t1")]}, user(text("x")))
    )
    assert response.status_code == 400
    assert response.json()["error"]["message"].startswith("messages.1: `tool_use` ids were found without `tool_result`")
    assert (await post(emulator, [])).status_code == 400
    assert (await post(emulator, body(user(text("Hi"))) | {"model": "claude-none"})).status_code == 404


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        (b"{", "The request body is not valid JSON: "),
        (b"", "The request body is not valid JSON: "),
        (b"[" * 100_000, "The request body is not valid JSON: "),
        (b'{"max_tokens": NaN}', "The request body is not valid JSON: "),
        (b'{"max_tokens": 1e999}', "The request body is not valid JSON: "),
        (b'{"model": "\\ud800"}', "The request body is not valid JSON: "),
        (b"\xff", "The request body is not valid JSON: "),
        (b"[]", "Input should be an object"),
        (b'{"model": 3, "max_tokens": 1, "messages": []}', "model: Input should be a valid string"),
    ],
)
async def test_a_body_that_cannot_be_read_is_a_bad_request(emulator: Emulator, sent: bytes, words: str) -> None:
    async with client(emulator) as http:
        response = await http.post("/v1/messages", content=sent, headers=KEY)
    assert response.status_code == 400
    assert response.json()["error"]["type"] == "invalid_request_error"
    assert response.json()["error"]["message"].startswith(words)


async def test_a_body_that_is_too_large_is_not_read_to_its_end() -> None:
    small = Emulator(parse_script(SCRIPT, uri="x"), capabilities(), max_body_bytes=1_000)
    assert (await post(small, SECOND)).status_code == 200
    response = await post(small, body(user(text("word " * 400))))
    assert (response.status_code, response.json()["error"]["type"]) == (413, "request_too_large")
    assert small.recorder.requests[-1].body == b""


async def test_a_route_that_is_not_there_answers_in_the_api_s_form(emulator: Emulator) -> None:
    async with client(emulator) as http:
        missing = await http.get("/v1/nothing", headers=KEY)
        method = await http.put("/v1/messages", headers=KEY)
    assert (missing.status_code, missing.json()["error"]["type"]) == (404, "not_found_error")
    assert (method.status_code, method.json()["error"]["type"]) == (405, "invalid_request_error")
    ids = [answer.headers["request-id"] for answer in (missing, method)]
    assert ids == [answer.json()["request_id"] for answer in (missing, method)]
    assert len(set(ids)) == 2


async def test_any_beta_is_taken(emulator: Emulator) -> None:
    betas = {"anthropic-beta": "context-management-2025-06-27, made-up-2026-01-01"}
    async with client(emulator) as http:
        response = await http.post("/v1/messages?beta=true", json=SECOND, headers=KEY | betas)
    assert response.status_code == 200


async def test_each_request_is_told_in_a_line() -> None:
    lines: list[str] = []
    told = Emulator(parse_script(SCRIPT, uri="x"), capabilities(), report=lines.append)
    await post(told, SECOND)
    await post(told, body(user(text(""))))
    assert lines == [
        "POST /v1/messages 200",
        "POST /v1/messages 400 messages: text content blocks must be non-empty",
    ]


async def test_a_slow_stream_is_never_silent() -> None:
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    script = parse_script("scripts:\n- match: {}\n  turns: [{text: slow, pace_seconds: 7}]\n", uri="x")
    response = await post(Emulator(script, capabilities(), sleep=sleep), body(stream=True))
    kinds = [line[7:] for line in response.text.splitlines() if line.startswith("event: ")]
    assert set(waited) == {7.0}
    assert kinds[1::2] == ["ping"] * len(waited), "a ping stands between any two events"
    assert kinds[-1] == "message_stop"


async def test_tokens_are_counted_without_max_tokens(emulator: Emulator) -> None:
    sent = body(user(text("word " * 400)))
    refused = await post(emulator, sent, "/v1/messages/count_tokens")
    assert refused.json()["error"]["message"] == "max_tokens: Extra inputs are not permitted"
    del sent["max_tokens"]
    counted = (await post(emulator, sent, "/v1/messages/count_tokens")).json()["input_tokens"]
    assert 450 < counted < 600


async def test_models_are_listed_with_their_limits(emulator: Emulator) -> None:
    async with client(emulator) as http:
        listed = (await http.get("/v1/models", headers=KEY)).json()
        one = (await http.get(f"/v1/models/{MODEL}", headers=KEY)).json()
        missing = await http.get("/v1/models/claude-none", headers=KEY)
    assert one in listed["data"]
    assert (one["max_input_tokens"], one["max_tokens"]) == (1_000_000, 128_000)
    assert missing.status_code == 404


async def test_requests_can_be_read_and_cleared_without_keys(emulator: Emulator) -> None:
    await post(emulator, SECOND)
    async with client(emulator) as http:
        (recorded,) = (await http.get("/_air/requests")).json()
        assert (recorded["auth"], recorded["body"]) == ("x-api-key", SECOND)
        assert "x-api-key" not in recorded["headers"]
        assert (await http.delete("/_air/requests")).status_code == 204
        assert (await http.get("/_air/requests")).json() == []


def test_an_early_end_without_a_stream_is_an_overloaded_answer() -> None:
    script = parse_script("scripts:\n- match: {}\n  turns: [{text: a, error: {stream: early_end}}]\n", uri="x")
    with running(Emulator(script, capabilities()).app) as base_url:
        response = httpx2.post(f"{base_url}/v1/messages", json=body(), headers=KEY, trust_env=False)
    assert response.status_code == 529


@pytest.mark.parametrize("streamed", [False, True])
def test_a_cut_breaks_in_the_middle_of_the_answer_and_is_told_once_as_scripted(streamed: bool) -> None:
    script = parse_script("scripts:\n- match: {}\n  turns: [{text: a, error: {stream: cut}}]\n", uri="x")
    lines: list[str] = []
    told = Emulator(script, capabilities(), report=lines.append)
    with running(told.app) as base_url, pytest.raises(httpx2.RemoteProtocolError):
        httpx2.post(f"{base_url}/v1/messages", json=body(stream=streamed), headers=KEY, trust_env=False)
    assert lines == ["POST /v1/messages 200 cut (scripted)"]


@pytest.mark.parametrize("limit", ["9" * 5000, "1001", "0", "-1", "x", "\u0663\u0663" * 60])
async def test_a_limit_that_is_none_is_refused(emulator: Emulator, limit: str) -> None:
    async with client(emulator) as http:
        page = await http.get("/v1/models", params={"limit": limit}, headers=KEY)
    assert page.status_code == 400
    assert "limit: " in page.json()["error"]["message"]


@pytest.mark.parametrize("path", ["/v1/messages", "/v1/messages/count_tokens"])
@pytest.mark.parametrize("citations", ["x", ["x"], 3, True])
async def test_citations_of_a_document_that_are_no_object_are_refused(
    emulator: Emulator, path: str, citations: object
) -> None:
    source = {"type": "text", "media_type": "text/plain", "data": "words"}
    sent = body(user({"type": "document", "source": source, "citations": citations}))
    if path.endswith("count_tokens"):
        del sent["max_tokens"]
    answer = await post(emulator, sent, path)
    assert answer.status_code == 400
    assert "document.citations: Input should be an object" in answer.json()["error"]["message"]


async def test_that_a_prompt_is_too_long_is_told_after_what_else_is_wrong(emulator: Emulator) -> None:
    long = "word " * 1_000_000
    sent = body(user(text(long)), {"role": "assistant", "content": ""}, user(text("on")))
    assert "non-empty" in (await post(emulator, sent)).json()["error"]["message"]
    assert "prompt is too long" in (await post(emulator, body(user(text(long))))).json()["error"]["message"]
