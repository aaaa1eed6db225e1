"""Replies, results and what is told of them: the pure parts of a session."""

import json
from pathlib import Path
from typing import Any

import pytest
from agents.doubles import MARKED_SECRET, SCREENER, SECRET, brief

from aircoding.agents.masking import mask_reply
from aircoding.agents.replies import CUT_CALL, NOT_RUN, answer, is_cut, tool_calls
from aircoding.agents.results import cost_reached, finished, overflowed
from aircoding.agents.tools.schemas import schema_faults
from aircoding.agents.touched import last_digests, touched_paths
from aircoding.records.calls import Reply, ToolCall, ToolRecord, ToolResult
from aircoding.records.ids import Digest, SegmentId, SessionId, tool_key
from aircoding.records.layers import Scope
from aircoding.records.manifest import Overflow
from aircoding.records.usage import Usage

SCHEMAS = Path(__file__).parents[2] / "resources" / "prompts" / "output-schemas"
SESSION = SessionId("r1:T1:1:executor:1")


RETRY = {"task": "T1", "again": True, "difference": "Run the tests one by one."}


def reply(*content: dict[str, Any], stop_reason: str = "tool_use") -> Reply:
    return Reply(content=content, stop_reason=stop_reason, usage=Usage(), model="m")


def use(identity: str, name: str = "fs_read", **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": identity, "name": name, "input": given}


def test_secrets_are_masked_at_every_depth_and_signed_thinking_with_one_is_dropped() -> None:
    given = reply(
        {"type": "thinking", "thinking": "fine", "signature": SECRET},
        {"type": "thinking", "thinking": f"the key is {SECRET}", "signature": "s"},
        {"type": "redacted_thinking", "data": SECRET},
        {"type": "text", "text": f"I found {SECRET}"},
        use("t1", command=f"curl {SECRET}", more=[{"deep": SECRET}], count=3),
    )

    masked, dropped = mask_reply(given, SCREENER)

    assert dropped == 1
    assert masked.content == (
        {"type": "thinking", "thinking": "fine", "signature": SECRET},
        {"type": "redacted_thinking", "data": SECRET},
        {"type": "text", "text": f"I found {MARKED_SECRET}"},
        use("t1", command=f"curl {MARKED_SECRET}", more=[{"deep": MARKED_SECRET}], count=3),
    )


def test_what_no_provider_or_file_can_take_back_is_left_out() -> None:
    masked, _ = mask_reply(reply({"type": "text", "text": " \n"}, use("t", content="a\ud800b")), SCREENER)

    assert masked.content == (use("t", content="a\ufffdb"),)
    assert mask_reply(reply(), SCREENER)[0].content == ({"type": "text", "text": "(empty answer)"},)


def test_each_call_is_answered_once_in_order_and_nothing_else_is_said() -> None:
    calls = tool_calls(reply(use("a"), {"type": "text", "text": "and"}, use("b"), use("c")), SESSION, 3)
    said = answer(calls, [ToolResult(text="one"), ToolResult(text="two", is_error=True)])

    assert [call.key for call in calls] == [tool_key(SESSION, 3, index) for index in range(3)]
    assert said == [
        {"type": "tool_result", "tool_use_id": "a", "content": [{"type": "text", "text": "one"}]},
        {"type": "tool_result", "tool_use_id": "b", "content": [{"type": "text", "text": "two"}], "is_error": True},
        {"type": "tool_result", "tool_use_id": "c", "content": [{"type": "text", "text": NOT_RUN}], "is_error": True},
    ]
    assert "output limit" in CUT_CALL


@pytest.mark.parametrize(("stop_reason", "cut"), [("max_tokens", True), ("tool_use", False)])
def test_only_the_last_call_of_a_cut_answer_is_cut(stop_reason: str, cut: bool) -> None:
    given = reply(use("a"), use("b"), stop_reason=stop_reason)
    first, last = tool_calls(given, SESSION, 1)

    assert (is_cut(given, first), is_cut(given, last)) == (False, cut)


@pytest.mark.parametrize(
    ("role", "schema", "result", "ended"),
    [
        (
            "executor",
            "worker-result",
            {"status": "done", "summary": "Made.", "changed_files": ["src/a.py"], "verification": []},
            ("done", "Made."),
        ),
        (
            "executor",
            "worker-result",
            {
                "status": "blocked",
                "summary": "No network.",
                "changed_files": [],
                "verification": [],
                "evidence": ["pip says so"],
                "blocker": "The policy denies pip.",
            },
            ("blocked", "No network."),
        ),
        (
            "debugger",
            "debugger-result",
            {
                "status": "fixed",
                "cause": "Off by one.",
                "failure_signature": "AssertionError: 1 != 2",
                "evidence": ["a.py:2"],
                "changed_files": ["a.py"],
                "verification": [],
            },
            ("done", "Off by one."),
        ),
        (
            "reviewer",
            "review-result",
            {"verdict": "approve", "summary": "Good.", "findings": [], "follow_ups": []},
            ("done", "Good."),
        ),
        (
            "scheduler",
            "scheduler-decision",
            {"decision_type": "retry", "decision": RETRY, "reason": "It was flaky."},
            ("done", "It was flaky."),
        ),
    ],
)
def test_a_result_gives_the_outcome_that_it_names(
    role: str, schema: str, result: dict[str, Any], ended: tuple[str, str]
) -> None:
    packaged = json.loads((SCHEMAS / f"{schema}.json").read_text("utf-8"))
    outcome = finished(brief(role=role), 4, result)

    assert schema_faults(result, packaged) == ()
    assert (outcome.status, outcome.summary) == ended
    assert (outcome.stop, outcome.turns, outcome.result) == ("finished", 4, result)


def test_limits_end_a_session_with_their_numbers() -> None:
    large = Overflow(
        scope=Scope.SESSION, needed_tokens=900, available_tokens=500, largest=((SegmentId("L5:air:task"), 700),)
    )
    outcome = overflowed(brief(), 1, large)

    assert (outcome.status, outcome.stop) == ("blocked", "overflow")
    assert "needs 900 tokens of session scope; 500 are available. Largest: L5:air:task (700 tokens)" in outcome.summary
    assert outcome.result["needed_tokens"] == 900
    assert "has spent $0.50, and may spend $0.25." in cost_reached(brief(max_cost_usd=0.25), 3, 0.5).summary


def test_faults_of_a_result_name_their_place() -> None:
    schema = {
        "type": "object",
        "required": ["status", "findings"],
        "properties": {
            "status": {"enum": ["done", "failed"]},
            "findings": {"type": "array", "items": {"type": "object", "properties": {"line": {"type": "integer"}}}},
        },
        "additionalProperties": False,
    }

    assert schema_faults({"status": "done", "findings": []}, schema) == ()
    assert set(schema_faults({"status": "ok", "findings": [{"line": "x" * 500}], "mood": 1}, schema)) == {
        "the input: Additional properties are not allowed ('mood' was unexpected)",
        f"findings[0].line: '{'x' * 79}… is not of type integer",
        "status: 'ok' is none of done, failed",
    }
    assert schema_faults({"status": "done"}, schema) == ("the input: 'findings' is a required property",)
    many = schema_faults({"status": "done", "findings": list(range(20))}, schema)
    assert len(many) == 9
    assert many[-1] == "and 12 more"


def test_of_several_forms_the_nearest_is_told() -> None:
    packaged = json.loads((SCHEMAS / "scheduler-decision.json").read_text("utf-8"))
    given = {"decision_type": "retry", "decision": {"task": "T1", "again": True}, "reason": "It was flaky."}

    assert schema_faults(given, packaged) == ("decision: as retry, 'difference' is a required property",)


def test_the_last_read_or_written_digest_counts_and_interrupted_calls_do_not() -> None:
    def record(result: ToolResult | None) -> ToolRecord:
        call = ToolCall(
            key=tool_key(SESSION, 1, 0), session_id=SESSION, turn=1, index=0, tool_use_id="t", name="x", input={}
        )
        return ToolRecord(call=call, state="committed", decision=None, result=result)

    one, two = Digest("1" * 64), Digest("2" * 64)
    records = [
        record(ToolResult(text="", read_digests={"b.py": one})),
        record(ToolResult(text="", read_digests={"a.py": one})),
        record(None),
        record(ToolResult(text="", written_digests={"b.py": two})),
    ]

    assert last_digests(records) == {"b.py": two, "a.py": one}
    assert touched_paths(records) == ("b.py", "a.py")
