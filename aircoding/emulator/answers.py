"""What the Messages API says: errors, whole messages, and the same messages as stream events; pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aircoding.providers.capabilities import ModelRow
from aircoding.records.usage import Usage

__all__ = ["ERROR_TYPES", "Answer", "error_body", "model_info", "models_page", "sse", "stream_events"]

ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    405: "invalid_request_error",
    408: "timeout_error",
    409: "conflict_error",
    413: "request_too_large",
    422: "invalid_request_error",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}
"""`error.type` by status; any other status is `api_error`."""

_PAGE_ROWS, _MAX_PAGE_ROWS = 20, 1000
_MAX_LIMIT_DIGITS = 100
"""More digits are not read: Python itself refuses thousands of them."""

_TEXT_PIECE = 24
"""Characters of one text delta: small, so that a short answer comes in several."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A complete answer; `dropped` are the thinking blocks left out of the prompt, None where that is not reported."""

    message_id: str
    model: str
    content: Sequence[Mapping[str, Any]]
    stop_reason: str
    usage: Usage
    dropped: tuple[str, ...] | None = None

    def body(self) -> dict[str, Any]:
        """Return it as a whole message."""
        return self._message(self.content, self.stop_reason, self.usage.output_tokens)

    def start(self) -> dict[str, Any]:
        """Return it as `message_start` carries it: no content yet, one token of output."""
        return self._message((), None, 1)

    def _message(
        self, content: Sequence[Mapping[str, Any]], stop_reason: str | None, output_tokens: int
    ) -> dict[str, Any]:
        message: dict[str, Any] = {
            "id": self.message_id,
            "type": "message",
            "role": "assistant",
            "model": self.model,
            "content": list(content),
            "stop_reason": stop_reason,
            "stop_sequence": None,
            "usage": {
                "input_tokens": self.usage.input_tokens,
                "cache_creation_input_tokens": self.usage.cache_write_5m_tokens + self.usage.cache_write_1h_tokens,
                "cache_read_input_tokens": self.usage.cache_read_tokens,
                "cache_creation": {
                    "ephemeral_5m_input_tokens": self.usage.cache_write_5m_tokens,
                    "ephemeral_1h_input_tokens": self.usage.cache_write_1h_tokens,
                },
                "output_tokens": output_tokens,
                "service_tier": "standard",
            },
        }
        if self.dropped is not None:
            reason = {"type": "thinking_dropped", "reason": "prefix_binding_mismatch"}
            message["input_transformations"] = [{**reason, "path": path} for path in self.dropped]
        return message


def error_body(status: int, message: str, *, request_id: str) -> dict[str, Any]:
    """Return the body of an error."""
    error = {"type": ERROR_TYPES.get(status, "api_error"), "message": message}
    return {"type": "error", "error": error, "request_id": request_id}


def stream_events(answer: Answer) -> list[dict[str, Any]]:
    """Return the events that stream an answer, from `message_start` to `message_stop`."""
    events: list[dict[str, Any]] = [{"type": "message_start", "message": answer.start()}, {"type": "ping"}]
    for index, block in enumerate(answer.content):
        first, deltas = _pieces(block)
        events.append({"type": "content_block_start", "index": index, "content_block": first})
        events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        events.append({"type": "content_block_stop", "index": index})
    delta = {"stop_reason": answer.stop_reason, "stop_sequence": None}
    events.append({"type": "message_delta", "delta": delta, "usage": {"output_tokens": answer.usage.output_tokens}})
    events.append({"type": "message_stop"})
    return events


def _pieces(block: Mapping[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return a block as it starts, and the deltas that complete it."""
    if block["type"] == "text":
        return {"type": "text", "text": ""}, [{"type": "text_delta", "text": part} for part in _cut(block["text"])]
    if block["type"] == "thinking":
        deltas: list[dict[str, Any]] = [
            {"type": "thinking_delta", "thinking": part} for part in _cut(block["thinking"])
        ]
        signature = {"type": "signature_delta", "signature": block["signature"]}
        return {"type": "thinking", "thinking": "", "signature": ""}, [*deltas, signature]
    text = json.dumps(block["input"], ensure_ascii=False)
    # The first delta of a tool call is an empty one, as at the real API.
    parts = ["", *_cut(text)]
    return {**block, "input": {}}, [{"type": "input_json_delta", "partial_json": part} for part in parts]


def _cut(text: str) -> Iterator[str]:
    for start in range(0, len(text), _TEXT_PIECE):
        yield text[start : start + _TEXT_PIECE]


def sse(event: Mapping[str, Any]) -> bytes:
    """Return an event as it goes over the wire."""
    return f"event: {event['type']}\ndata: {json.dumps(event, ensure_ascii=False)}\n\n".encode()


def model_info(row: ModelRow) -> dict[str, Any]:
    """Return a model as `GET /v1/models` tells it."""
    return {
        "type": "model",
        "id": row.model,
        "display_name": row.model.replace("-", " ").title(),
        "created_at": f"{row.as_of}T00:00:00Z",
        "max_input_tokens": row.window_tokens,
        "max_tokens": row.max_output_tokens,
    }


def models_page(rows: Sequence[ModelRow], query: Mapping[str, str]) -> dict[str, Any] | None:
    """Return a page of models (`limit`, `after_id`, `before_id`); None when the limit is no number from 1 to 1000."""
    limit = query.get("limit", str(_PAGE_ROWS))
    if not limit.isdecimal() or len(limit) > _MAX_LIMIT_DIGITS or not 1 <= int(limit) <= _MAX_PAGE_ROWS:
        return None
    ids = [row.model for row in rows]
    start, end = 0, len(rows)
    if query.get("after_id") in ids:
        start = ids.index(query["after_id"]) + 1
    if query.get("before_id") in ids:
        end = ids.index(query["before_id"])
        start = max(start, end - int(limit))
    page = [model_info(row) for row in rows[start:end][: int(limit)]]
    more = start > 0 if "before_id" in query else start + len(page) < end
    return {
        "data": page,
        "has_more": more,
        "first_id": page[0]["id"] if page else None,
        "last_id": page[-1]["id"] if page else None,
    }
