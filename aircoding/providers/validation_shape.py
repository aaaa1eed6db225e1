"""Rules on the outer shape: what must be there, what may be there, and of which kind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from aircoding.providers.validation_blocks import block_faults
from aircoding.providers.validation_request import Fault, Request

__all__ = ["KNOWN_FIELDS", "SHAPE_RULES", "shape_faults"]

KNOWN_FIELDS = frozenset(
    {
        "model",
        "messages",
        "max_tokens",
        "system",
        "tools",
        "tool_choice",
        "thinking",
        "stop_sequences",
        "stream",
        "metadata",
        "service_tier",
        "billing_policy",
        "cache_control",
        "compaction",
        "container",
        "context_management",
        "diagnostics",
        "fallback_credit_token",
        "fallbacks",
        "inference_geo",
        "mcp_servers",
        "output_config",
        "speed",
        "temperature",
        "thread",
        "top_k",
        "top_p",
        "user_profile_id",
        "workspace_id",
    }
)
"""Fields of a Messages API body (SDK 2.14.0, beta ones included, and those that version 2026-10-21 gave up)."""

_OBJECTS = ("cache_control", "metadata", "output_config", "thinking", "tool_choice")
_ROLES = ("user", "assistant", "system")


def shape_faults(body: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield why a body cannot even be read: missing fields, values of the wrong kind."""
    for name in ("model", "messages", "max_tokens"):
        if name not in body:
            yield Fault(f"/{name}", "missing", f"{name}: Field required")
    if not isinstance(body.get("model", ""), str):
        yield Fault("/model", "shape", "model: Input should be a valid string")
    if "max_tokens" in body and (not isinstance(body["max_tokens"], int) or isinstance(body["max_tokens"], bool)):
        yield Fault("/max_tokens", "shape", "max_tokens: Input should be a valid integer")
    for name in _OBJECTS:
        if body.get(name) is not None and not isinstance(body[name], Mapping):  # (u)
            yield Fault(f"/{name}", "shape", f"{name}: Input should be an object")
    if not isinstance(body.get("messages", []), Sequence) or isinstance(body.get("messages"), str):
        yield Fault("/messages", "shape", "messages: Input should be a valid array")
        return
    for name in ("tools", "system"):
        if not _is_blocks(body.get(name, [])) and not (name == "system" and isinstance(body[name], str)):
            yield Fault(f"/{name}", "shape", f"{name}: Input should be a valid array")
        elif name == "system" and not isinstance(body.get(name), str):
            yield from _system_shape(body.get(name, []))
    messages = body.get("messages", [])
    faults = [fault for number, message in enumerate(messages) for fault in _message_shape(number, message)]
    yield from faults or block_faults(messages)


def _system_shape(blocks: Sequence[Mapping[str, Any]]) -> Iterator[Fault]:
    for number, block in enumerate(blocks):
        if block.get("type") != "text":  # (u)
            yield Fault(f"/system/{number}", "shape", f"system.{number}.type: Input should be 'text'")
        elif not isinstance(block.get("text"), str):  # (u)
            yield Fault(f"/system/{number}", "shape", f"system.{number}.text: Field required")


def _message_shape(number: int, message: Any) -> Iterator[Fault]:
    if not isinstance(message, Mapping):
        yield Fault(f"/messages/{number}", "shape", f"messages.{number}: Input should be an object")
        return
    if message.get("role") not in _ROLES:
        text = f"messages.{number}.role: Input should be 'user', 'assistant' or 'system'"
        yield Fault(f"/messages/{number}/role", "shape", text)
    content = message.get("content")
    if isinstance(content, str):
        return
    if not _is_blocks(content) or not all("type" in block for block in content or ()):
        text = f"messages.{number}.content: Input should be a valid string or array of content blocks"
        yield Fault(f"/messages/{number}/content", "shape", text)


def _is_blocks(value: Any) -> bool:
    return (
        isinstance(value, Sequence) and not isinstance(value, str) and all(isinstance(item, Mapping) for item in value)
    )


def _some_message(request: Request) -> Iterator[Fault]:
    if not request.messages:
        yield Fault("/messages", "no_messages", "messages: at least one message is required")


def _no_unknown_field(request: Request) -> Iterator[Fault]:  # (u)
    for name in request.body:
        if name not in KNOWN_FIELDS:
            yield Fault(f"/{name}", "unknown_field", f"{name}: Extra inputs are not permitted")


SHAPE_RULES = (_some_message, _no_unknown_field)
