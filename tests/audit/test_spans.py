"""A run as spans: what each kind says, how ids and times are written, and what never gets in."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.records import AT, RUN, SESSION, call, run

from aircoding.audit.spans import resource_spans, run_span, session_spans, span_id, trace_id
from aircoding.records.calls import CallRecord, ToolHead
from aircoding.records.ids import OF_RUN, session_id, tool_key
from aircoding.records.policy import Effect
from aircoding.records.sessions import SessionHead
from aircoding.records.usage import Cost, Usage

LATER = "2026-11-30T12:00:01.500000Z"
NOON_NS = 1_796_040_000_000_000_000
HEAD = SessionHead(
    session_id=SESSION, role="executor", model="m", opened_at=AT, closed_at=LATER, status="done", stop="finished"
)
TOOL = ToolHead(
    key=tool_key(SESSION, 1, 0),
    session_id=SESSION,
    turn=1,
    index=0,
    tool_use_id="toolu_1",
    name="fs_read",
    state="committed",
    effect=Effect.ALLOW,
    is_error=False,
    started_at=AT,
    finished_at=LATER,
)


def paid(usage: Usage, **more: Any) -> CallRecord:
    values: dict[str, Any] = {"state": "committed", "finished_at": LATER, "stop_reason": "tool_use", "usage": usage}
    values |= {"cost": Cost(usd=0.25, price_source="x"), "reply_model": "m-2", "request_id": "req_1"}
    return replace(call(), **(values | more))


def attributes(span: dict[str, Any]) -> dict[str, Any]:
    """The attributes of a span, each as the one value that its JSON holds."""
    return {each["key"]: next(iter(each["value"].values())) for each in span["attributes"]}


def test_e64_input_tokens_hold_the_cached_ones_and_no_content_is_there() -> None:
    """E64: 50 uncached, 100,000 read and 0 written tokens are 100,050 input tokens on the span."""
    _, span = session_spans(run(), HEAD, [paid(Usage(input_tokens=50, cache_read_tokens=100_000, output_tokens=7))], [])
    found = attributes(span)
    assert found["gen_ai.usage.input_tokens"] == "100050"
    assert found["gen_ai.usage.cache_read.input_tokens"] == "100000"
    assert found["gen_ai.usage.cache_creation.input_tokens"] == "0"
    assert found["gen_ai.usage.output_tokens"] == "7"
    content = ("messages", "system_instructions", "definitions", "arguments", "result")
    assert not [key for key in found if key.endswith(content)]


@given(st.builds(Usage, *[], **{name: st.integers(0, 2**53) for name in Usage.__slots__}))
@settings(deadline=None)
def test_the_parts_of_the_input_never_exceed_it(usage: Usage) -> None:
    found = attributes(session_spans(run(), HEAD, [paid(usage)], [])[1])
    counts = {key: int(value) for key, value in found.items() if key.startswith("gen_ai.usage.")}
    parts = counts["gen_ai.usage.cache_read.input_tokens"] + counts["gen_ai.usage.cache_creation.input_tokens"]
    assert counts["gen_ai.usage.input_tokens"] == usage.input_tokens + parts


def test_row_otel_each_span_says_what_section_7_asks() -> None:
    session, chat, tool = session_spans(run(provider="anthropic:m"), HEAD, [paid(Usage(input_tokens=1))], [TOOL])
    assert [(span["name"], span["kind"]) for span in (session, chat, tool)] == [
        ("invoke_agent executor", 1),
        ("chat test-model", 3),
        ("execute_tool fs_read", 1),
    ]
    for span, operation in ((session, "invoke_agent"), (chat, "chat"), (tool, "execute_tool")):
        found = attributes(span)
        assert found["gen_ai.operation.name"] == operation
        assert found["gen_ai.provider.name"] == "anthropic"
        assert found["gen_ai.conversation.id"] == SESSION
        assert found["gen_ai.agent.name"] == "executor"
        assert "error.type" not in found
        assert span["status"] == {}
    found = attributes(chat)
    assert (found["gen_ai.request.model"], found["gen_ai.response.model"]) == ("test-model", "m-2")
    assert found["gen_ai.response.finish_reasons"] == {"values": [{"stringValue": "tool_use"}]}
    assert (found["aircoding.cost_usd"], found["gen_ai.response.id"]) == (0.25, "req_1")
    assert attributes(tool)["gen_ai.tool.call.id"] == "toolu_1"


def test_ids_are_hex_derived_from_keys_and_parents_are_set() -> None:
    spans = session_spans(run(), HEAD, [paid(Usage()), replace(paid(Usage()), tries=1)], [TOOL])
    root = run_span(run(), [spans[0]])
    assert {span["traceId"] for span in (root, *spans)} == {trace_id("r1")}
    assert len(trace_id("r1")) == 32
    assert len({span["spanId"] for span in (root, *spans)}) == 5
    assert all(len(span["spanId"]) == 16 and int(span["spanId"], 16) for span in spans)
    assert "parentSpanId" not in root
    assert spans[0]["parentSpanId"] == root["spanId"] == span_id("r1")
    assert {span["parentSpanId"] for span in spans[1:]} == {spans[0]["spanId"]}
    assert spans == session_spans(run(), HEAD, [paid(Usage()), replace(paid(Usage()), tries=1)], [TOOL])
    assert trace_id("r1") != trace_id("r2")


def test_times_are_nanoseconds_as_text() -> None:
    session, _ = session_spans(run(), HEAD, [], [TOOL])
    assert session["startTimeUnixNano"] == str(NOON_NS)
    assert session["endTimeUnixNano"] == str(NOON_NS + 1_500_000_000)


def test_what_has_not_ended_ends_with_what_is_below_it_and_says_so() -> None:
    open_head = replace(HEAD, closed_at=None, status=None, stop=None)
    session, chat, tool = session_spans(run(), open_head, [call()], [TOOL])
    root = run_span(run(), [session])
    assert (root["endTimeUnixNano"], session["endTimeUnixNano"]) == (tool["endTimeUnixNano"],) * 2
    assert chat["endTimeUnixNano"] == chat["startTimeUnixNano"]
    assert [attributes(span).get("aircoding.unended") for span in (root, session, chat, tool)] == [True] * 3 + [None]
    assert "gen_ai.usage.input_tokens" not in attributes(chat), "not known is not 0"


@pytest.mark.parametrize(
    ("record", "code"),
    [
        (paid(Usage(), state="failed", error="provider.overloaded: you said: tell nobody"), "provider.overloaded"),
        (paid(Usage(), state="failed", error="CancelledError"), "CancelledError"),
        (paid(Usage(), state="failed", error="you said: tell nobody"), "_OTHER"),
        (paid(Usage(), state="failed", error=None), "_OTHER"),
        (paid(Usage(), state="abandoned"), "abandoned"),
    ],
)
def test_a_failed_call_has_its_code_and_not_its_words(record: CallRecord, code: str) -> None:
    span = session_spans(run(), HEAD, [record], [])[1]
    assert (attributes(span)["error.type"], span["status"]) == (code, {"code": 2})
    assert "nobody" not in json.dumps(span)


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"is_error": True}, "tool_error"),
        ({"is_error": True, "effect": Effect.DENY}, "permission_denied"),
        ({"is_error": True, "state": "unknown"}, "interrupted"),
        ({"is_error": True, "effect": None}, "tool_error"),
    ],
)
def test_a_tool_call_says_how_it_failed(changes: dict[str, Any], code: str) -> None:
    span = session_spans(run(), HEAD, [], [replace(TOOL, **changes)])[1]
    assert (attributes(span)["error.type"], span["status"]) == (code, {"code": 2})


def test_a_session_and_a_run_that_failed_say_why() -> None:
    session = session_spans(run(), replace(HEAD, status="failed", stop="no_progress"), [], [])[0]
    assert attributes(session)["error.type"] == "no_progress"
    assert attributes(run_span(run(status="failed", finished_at=LATER), []))["error.type"] == "failed"
    assert "error.type" not in attributes(run_span(run(status="done", finished_at=LATER), []))


def test_a_session_has_its_task_and_one_of_the_run_itself_has_none() -> None:
    found = attributes(session_spans(run(), HEAD, [], [])[0])
    assert (found["aircoding.task.id"], found["aircoding.attempt"]) == ("T1", "1")
    of_run = replace(HEAD, session_id=session_id(RUN, OF_RUN, 1, "conflict_judge", 1), role="conflict_judge")
    assert "aircoding.task.id" not in attributes(session_spans(run(), of_run, [], [])[0])


def test_a_document_names_the_program() -> None:
    document = resource_spans([run_span(run(), [])], version="1.2.3")
    (whole,) = document["resourceSpans"]
    (scope,) = whole["scopeSpans"]
    assert attributes(whole["resource"]) == {"service.name": "aircoding", "service.version": "1.2.3"}
    assert scope["scope"] == {"name": "aircoding", "version": "1.2.3"}
