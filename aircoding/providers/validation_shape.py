"""Rules on the outer shape: what must be there, what may be there, and of which kind."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

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
        "cache_control",
        "container",
        "context_management",
        "diagnostics",
        "inference_geo",
        "mcp_servers",
        "output_config",
        "speed",
        "temperature",
        "top_k",
        "top_p",
    }
)
"""Fields of a Messages API body (SDK 2.14.0 and the pages of 2026-11)."""

_ROLES = ("user", "assistant", "system")
_TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_SAMPLING = ("temperature", "top_p", "top_k")


def shape_faults(body: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield why a body cannot even be read: missing fields, values of the wrong kind."""
    for name in ("model", "messages", "max_tokens"):
        if name not in body:
            yield Fault(f"/{name}", "missing", f"{name}: Field required")
    if "max_tokens" in body and (not isinstance(body["max_tokens"], int) or isinstance(body["max_tokens"], bool)):
        yield Fault("/max_tokens", "shape", "max_tokens: Input should be a valid integer")
    if not isinstance(body.get("messages", []), Sequence) or isinstance(body.get("messages"), str):
        yield Fault("/messages", "shape", "messages: Input should be a valid array")
        return
    for name in ("tools", "system"):
        if not _is_blocks(body.get(name, [])) and not (name == "system" and isinstance(body[name], str)):
            yield Fault(f"/{name}", "shape", f"{name}: Input should be a valid array")
    for number, message in enumerate(body.get("messages", [])):
        yield from _message_shape(number, message)


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


def _no_sampling(request: Request) -> Iterator[Fault]:
    if not request.is_current:
        return
    for name in _SAMPLING:
        if name in request.body:
            text = f"{name}: sampling parameters are not supported in API version {request.api_version}"  # (u)
            yield Fault(f"/{name}", "sampling", text)


def _tool_names(request: Request) -> Iterator[Fault]:  # (u)
    seen: set[str] = set()
    for number, tool in enumerate(request.tools):
        name = str(tool.get("name", ""))
        pointer = f"/tools/{number}/name"
        if not _TOOL_NAME.fullmatch(name):
            yield Fault(
                pointer, "tool_name", f"tools.{number}.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'"
            )
        if name in seen:
            yield Fault(pointer, "tool_name", "tools: Tool names must be unique.")
        seen.add(name)


def _tool_schemas(request: Request) -> Iterator[Fault]:  # (u)
    for number, tool in enumerate(request.tools):
        if "type" in tool and tool["type"] != "custom":
            continue  # a tool of the provider's own brings its schema
        schema = tool.get("input_schema")
        if not isinstance(schema, Mapping):
            yield Fault(f"/tools/{number}", "tool_schema", f"tools.{number}.input_schema: Field required")
        elif schema.get("type") != "object":
            text = f"tools.{number}.input_schema.type: Input should be 'object'"
            yield Fault(f"/tools/{number}/input_schema", "tool_schema", text)


SHAPE_RULES = (_some_message, _no_unknown_field, _no_sampling, _tool_names, _tool_schemas)
