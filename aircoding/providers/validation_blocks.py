"""Rules on the blocks of a conversation: of which kind, with which fields, in whose message.

Kinds and fields are those of SDK 2.14.0, beta ones included; a test holds the table against it. Blocks of the
provider's own tools are known by their kind alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from aircoding.providers.validation_request import Fault, as_blocks

__all__ = ["BLOCK_FIELDS", "BLOCK_KINDS", "RESULT_KINDS", "block_faults"]

BLOCK_FIELDS: Mapping[str, tuple[str, ...]] = {
    "text": ("text", "cache_control", "citations"),
    "thinking": ("thinking", "signature"),
    "redacted_thinking": ("data",),
    "tool_use": ("id", "name", "input", "cache_control", "caller", "toolset_name"),
    "tool_result": ("tool_use_id", "content", "is_error", "cache_control", "toolset_name"),
    "image": ("source", "cache_control", "transformations"),
    "document": ("source", "cache_control", "citations", "context", "title"),
    "search_result": ("content", "source", "title", "cache_control", "citations"),
}
"""Fields of a block beside `type`."""

_REQUIRED: Mapping[str, tuple[str, ...]] = {
    "text": ("text",),
    "thinking": ("thinking", "signature"),
    "redacted_thinking": ("data",),
    "tool_use": ("id", "name", "input"),
    "tool_result": ("tool_use_id",),
    "image": ("source",),
    "document": ("source",),
    "search_result": ("content", "source", "title"),
}

BLOCK_KINDS = frozenset(BLOCK_FIELDS) | {
    "advisor_tool_result",
    "bash_code_execution_tool_result",
    "code_execution_tool_result",
    "compaction",
    "connector_text",
    "container_upload",
    "fallback",
    "mcp_tool_listing",
    "mcp_tool_result",
    "mcp_tool_use",
    "mid_conv_system",
    "server_tool_use",
    "text_editor_code_execution_tool_result",
    "tool_addition",
    "tool_removal",
    "tool_search_tool_result",
    "web_fetch_tool_result",
    "web_search_tool_result",
}
"""Kinds of blocks in messages. The SDK lacks `connector_text` and `mid_conv_system`; the API's own 400 names both."""

RESULT_KINDS = frozenset({"browser_state", "document", "image", "search_result", "text", "tool_reference"})
"""Kinds of blocks inside a `tool_result`."""

_ASSISTANT_ONLY = frozenset({"thinking", "redacted_thinking", "tool_use"})
_SYSTEM_KINDS = frozenset({"text", "tool_addition", "tool_removal"})
_MESSAGE_FIELDS = {
    "user": ("role", "content"),
    "assistant": ("role", "content"),
    "system": ("role", "content", "output_config", "clear_at"),
}
_TEXTS = ("text", "thinking", "signature", "data", "id", "name", "tool_use_id")
_CITABLE = frozenset({"document", "search_result"})
"""Kinds whose `citations` switch them on; on a text they are what the model cited."""
_TOOL_USE_ID = re.compile(r"[a-zA-Z0-9_-]+")


def block_faults(messages: Sequence[Mapping[str, Any]]) -> Iterator[Fault]:
    """Yield what is wrong with messages (of a known role, their content a text or a list of mappings)."""
    for number, message in enumerate(messages):
        role = str(message["role"])
        for name in message:
            if name not in _MESSAGE_FIELDS[role]:  # (u)
                text = f"messages.{number}.{name}: Extra inputs are not permitted"
                yield Fault(f"/messages/{number}/{name}", "unknown_field", text)
        for index, block in enumerate(as_blocks(message["content"])):
            where = f"messages.{number}.content.{index}"
            yield from _block(block, where, BLOCK_KINDS)
            yield from _in_its_place(block, role, number, index)


def _block(block: Mapping[str, Any], where: str, kinds: frozenset[str]) -> Iterator[Fault]:
    kind, pointer = str(block["type"]), "/" + where.replace(".", "/")
    if kind not in kinds:
        tags = ", ".join(f"'{name}'" for name in sorted(kinds))
        text = f"{where}: Input tag '{kind}' found using 'type' does not match any of the expected tags: {tags}"
        yield Fault(pointer, "block_kind", text)
        return
    if kind not in BLOCK_FIELDS:
        return
    for name in _REQUIRED[kind]:
        if name not in block:
            yield Fault(f"{pointer}/{name}", "block_field", f"{where}.{kind}.{name}: Field required")
    for name, value in block.items():
        if name != "type" and name not in BLOCK_FIELDS[kind]:
            text = f"{where}.{kind}.{name}: Extra inputs are not permitted"
            yield Fault(f"{pointer}/{name}", "unknown_field", text)
        elif name in _TEXTS and not isinstance(value, str):  # (u)
            yield Fault(f"{pointer}/{name}", "block_field", f"{where}.{kind}.{name}: Input should be a valid string")
        elif name == "citations" and kind in _CITABLE and not (value is None or isinstance(value, Mapping)):  # (u)
            yield Fault(f"{pointer}/{name}", "block_field", f"{where}.{kind}.{name}: Input should be an object")
    if kind == "tool_use":
        yield from _tool_use(block, where, pointer)
    if kind == "tool_result":
        yield from _tool_result(block, where, pointer)


def _tool_use(block: Mapping[str, Any], where: str, pointer: str) -> Iterator[Fault]:
    if "input" in block and not isinstance(block["input"], Mapping):
        text = f"{where}.tool_use.input: Input should be a valid dictionary"  # (u)
        yield Fault(f"{pointer}/input", "block_field", text)
    if isinstance(block.get("id"), str) and not _TOOL_USE_ID.fullmatch(block["id"]):
        text = f"{where}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"
        yield Fault(f"{pointer}/id", "tool_use_id", text)


def _tool_result(block: Mapping[str, Any], where: str, pointer: str) -> Iterator[Fault]:
    content = block.get("content")
    if content is None or isinstance(content, str):
        return
    if not isinstance(content, Sequence) or not all(isinstance(part, Mapping) and "type" in part for part in content):
        text = f"{where}.tool_result.content: Input should be a valid string or array of content blocks"  # (u)
        yield Fault(f"{pointer}/content", "block_field", text)
        return
    for index, part in enumerate(content):
        yield from _block(part, f"{where}.tool_result.content.{index}", RESULT_KINDS)


def _in_its_place(block: Mapping[str, Any], role: str, number: int, index: int) -> Iterator[Fault]:
    kind, pointer = str(block["type"]), f"/messages/{number}/content/{index}"
    if role == "user" and kind in _ASSISTANT_ONLY:
        yield Fault(pointer, "block_role", f"messages.{number}: `{kind}` blocks can only be in `assistant` messages")
    if role == "system" and kind not in _SYSTEM_KINDS:  # (u)
        yield Fault(pointer, "block_role", f"messages.{number}: a 'system' message may only hold text")
