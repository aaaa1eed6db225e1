"""Builders for tests of providers and emulator."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from aircoding.providers.capabilities import Capabilities, parse_capabilities
from aircoding.records.calls import CallRequest
from aircoding.records.ids import RunId, SessionId, TaskId, call_key, session_id

MODEL = "claude-sonnet-5-5"
SESSION = session_id(RunId("r1"), TaskId("T1"), 1, "executor", 1)
TOOL = {"name": "fs_read", "description": "Read a file.", "input_schema": {"type": "object", "properties": {}}}

_MODELS = Path(__file__).parents[2] / "resources" / "providers" / "models.yaml"


@cache
def capabilities() -> Capabilities:
    """The packaged table of models."""
    return parse_capabilities(_MODELS.read_text("utf-8"), uri="resource:providers/models.yaml")


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **more}


def user(*content: Mapping[str, Any]) -> dict[str, Any]:
    return {"role": "user", "content": list(content)}


def assistant(*content: Mapping[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": list(content)}


def tool_use(tool_use_id: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": tool_use_id, "name": "fs_read", "input": {}}


def tool_result(tool_use_id: str, **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": tool_use_id, "content": [text("ok")], **more}


def request(*messages: Mapping[str, Any], system: str = "You read files.") -> dict[str, Any]:
    """A canonical request."""
    return {
        "tools": [TOOL],
        "system": [text(system)],
        "messages": list(messages) or [user(text("Read a.py — ünïcode."))],
    }


def call(
    body: Mapping[str, Any] | None = None,
    *,
    session: SessionId = SESSION,
    assistant_turns: int = 0,
    tries: int = 0,
    timeout_seconds: float = 30.0,
    model: str = MODEL,
) -> CallRequest:
    return CallRequest(
        key=call_key(session, assistant_turns + 1),
        session_id=session,
        model=model,
        request=body or request(),
        max_output_tokens=1_000,
        assistant_turns=assistant_turns,
        tries=tries,
        timeout_seconds=timeout_seconds,
    )
