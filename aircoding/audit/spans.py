"""A recorded run as spans of OpenTelemetry's GenAI conventions: who worked, what was asked, what it used; never a text.

The conventions have the status "Development" and were read in 2026-11. The form is that of OTLP's JSON encoding: ids as
hex, times and whole numbers as strings.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from aircoding.records.calls import CallRecord, ToolHead
from aircoding.records.digests import sha256_text
from aircoding.records.ids import OF_RUN, session_parts
from aircoding.records.policy import Effect
from aircoding.records.runs import Run
from aircoding.records.sessions import SessionHead
from aircoding.records.usage import Usage

__all__ = ["Span", "resource_spans", "run_span", "session_spans", "span_id", "trace_id"]

Span = dict[str, Any]
"""One span as OTLP/JSON has it."""

_INTERNAL, _CLIENT = 1, 3
"""SPAN_KIND_INTERNAL and SPAN_KIND_CLIENT; the encoding takes numbers only."""
_ERROR = 2
"""STATUS_CODE_ERROR."""
_PROGRAM = "aircoding"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_CODE = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*")
_OTHER = "_OTHER"
"""What the conventions say for an error that has no name."""


def trace_id(run_id: str) -> str:
    """Return the trace of a run: the same in every export."""
    return sha256_text(f"trace {run_id}")[:32]


def span_id(key: str) -> str:
    """Return the span of a run, a session, a tool call or a try at a model call, by its key."""
    return sha256_text(f"span {key}")[:16]


def run_span(run: Run, sessions: Sequence[Span]) -> Span:
    """Return the root of a run's trace, above the spans of its sessions."""
    failed = run.status if run.status in {"failed", "budget", "cancelled"} else None
    attributes = {
        "gen_ai.operation.name": "invoke_workflow",
        "gen_ai.provider.name": _provider(run),
        "gen_ai.agent.name": _PROGRAM,
        "gen_ai.request.model": run.model,
        "aircoding.run.id": run.run_id,
        "aircoding.run.status": run.status,
    }
    times = (run.created_at, run.finished_at, sessions)
    return _span(run, run.run_id, None, f"invoke_workflow {_PROGRAM}", _INTERNAL, times, attributes, failed)


def session_spans(
    run: Run, session: SessionHead, calls: Sequence[CallRecord], tools: Sequence[ToolHead]
) -> tuple[Span, ...]:
    """Return a session's span, then one for each try at a model call, then one for each tool call."""
    children = [_call_span(run, call) for call in calls] + [_tool_span(run, tool) for tool in tools]
    _, task_id, attempt, _, _ = session_parts(session.session_id)
    of_run = task_id == OF_RUN
    attributes = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.provider.name": _provider(run),
        "gen_ai.conversation.id": session.session_id,
        "gen_ai.agent.name": session.role,
        "gen_ai.request.model": session.model,
        "aircoding.run.id": run.run_id,
        "aircoding.task.id": None if of_run else task_id,
        "aircoding.attempt": None if of_run else attempt,
    }
    failed = (session.stop or _OTHER) if session.status == "failed" else None
    times = (session.opened_at, session.closed_at, children)
    name = f"invoke_agent {session.role}"
    whole = _span(run, session.session_id, run.run_id, name, _INTERNAL, times, attributes, failed)
    return (whole, *children)


def _call_span(run: Run, call: CallRecord) -> Span:
    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": _provider(run),
        "gen_ai.conversation.id": call.session_id,
        "gen_ai.agent.name": session_parts(call.session_id)[3],
        "gen_ai.request.model": call.model,
        "gen_ai.response.model": call.reply_model,
        "gen_ai.response.id": call.request_id,
        "gen_ai.response.finish_reasons": None if call.stop_reason is None else [call.stop_reason],
        **({} if call.usage is None else _usage(call.usage)),
        "aircoding.manifest.id": call.manifest_id,
        "aircoding.call.tries": call.tries,
        "aircoding.call.state": call.state,
        "aircoding.call.maybe_billed": call.maybe_billed,
        "aircoding.cost_usd": None if call.cost is None else call.cost.usd,
    }
    times = (call.started_at, call.finished_at, ())
    key = f"{call.key}/{call.tries}"
    return _span(run, key, call.session_id, f"chat {call.model}", _CLIENT, times, attributes, _call_error(call))


def _usage(usage: Usage) -> dict[str, int]:
    """Return the counts of a call: the conventions' input holds cached tokens, the provider's and ours does not."""
    return {
        "gen_ai.usage.input_tokens": usage.prompt_tokens,
        "gen_ai.usage.cache_read.input_tokens": usage.cache_read_tokens,
        "gen_ai.usage.cache_creation.input_tokens": usage.cache_write_5m_tokens + usage.cache_write_1h_tokens,
        "gen_ai.usage.output_tokens": usage.output_tokens,
    }


def _call_error(call: CallRecord) -> str | None:
    """Return the code that the ledger's reason begins with; its words may quote a text and stay here."""
    if call.state == "failed":
        found = _CODE.fullmatch((call.error or "").partition(": ")[0])
        return _OTHER if found is None else found[0]
    return "abandoned" if call.state == "abandoned" else None


def _tool_span(run: Run, tool: ToolHead) -> Span:
    attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.provider.name": _provider(run),
        "gen_ai.conversation.id": tool.session_id,
        "gen_ai.agent.name": session_parts(tool.session_id)[3],
        "gen_ai.tool.name": tool.name,
        "gen_ai.tool.call.id": tool.tool_use_id,
        "gen_ai.tool.type": "function",
        "aircoding.turn": tool.turn,
        "aircoding.decision": None if tool.effect is None else tool.effect.value,
    }
    times = (tool.started_at, tool.finished_at, ())
    name = f"execute_tool {tool.name}"
    return _span(run, tool.key, tool.session_id, name, _INTERNAL, times, attributes, _tool_error(tool))


def _tool_error(tool: ToolHead) -> str | None:
    if tool.state == "unknown":
        return "interrupted"
    if tool.effect is not None and tool.effect.rank > Effect.ANNOUNCE.rank:
        return "permission_denied"
    return "tool_error" if tool.is_error else None


def _provider(run: Run) -> str:
    return run.provider.partition(":")[0]


def _span(
    run: Run,
    key: str,
    parent: str | None,
    name: str,
    kind: int,
    times: tuple[str, str | None, Sequence[Span]],
    attributes: dict[str, Any],
    error: str | None,
) -> Span:
    """Return a span. What has not ended ends with the last span below it, and says so."""
    started_at, finished_at, below = times
    start = _nanoseconds(started_at)
    ends = [int(span["endTimeUnixNano"]) for span in below] if finished_at is None else [_nanoseconds(finished_at)]
    values = attributes | {"error.type": error, "aircoding.unended": True if finished_at is None else None}
    span: Span = {"traceId": trace_id(run.run_id), "spanId": span_id(key)}
    if parent is not None:
        span["parentSpanId"] = span_id(parent)
    span |= {
        "name": name,
        "kind": kind,
        "startTimeUnixNano": str(start),
        "endTimeUnixNano": str(max(start, *ends) if ends else start),
        "attributes": _attributes(values),
        "status": {} if error is None else {"code": _ERROR},
    }
    return span


def _nanoseconds(at: str) -> int:
    return (datetime.fromisoformat(at) - _EPOCH) // _MICROSECOND * 1_000


def _attributes(values: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "value": _value(value)} for key, value in values.items() if value is not None]


def _value(value: Any) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, list):
        return {"arrayValue": {"values": [_value(each) for each in value]}}
    return {"stringValue": str(value)}


def resource_spans(spans: Sequence[Span], *, version: str) -> dict[str, Any]:
    """Return one document of the file encoding: spans with the program that they are of."""
    attributes = _attributes({"service.name": _PROGRAM, "service.version": version})
    scope = {"scope": {"name": _PROGRAM, "version": version}, "spans": list(spans)}
    return {"resourceSpans": [{"resource": {"attributes": attributes}, "scopeSpans": [scope]}]}
