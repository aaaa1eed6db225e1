"""Rules on the conversation: who follows whom, how it ends, what a block may say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from aircoding.providers.thinking import THINKING_KINDS
from aircoding.providers.validation_pairing import runs
from aircoding.providers.validation_request import Fault, Request, as_blocks

__all__ = ["MESSAGE_RULES"]

_DIRECTIVE = "; the directive-only form (content: [] with output_config) is accepted at any position"


def _text_not_empty(request: Request) -> Iterator[Fault]:
    for place in request.places:
        if place.value["type"] == "text":
            yield from _said(place.value, "messages", place.pointer)
        if place.value["type"] == "tool_result" and not isinstance(place.value.get("content"), str):
            for number, part in enumerate(as_blocks(place.value.get("content"))):
                if part["type"] == "text":
                    yield from _said(part, "messages", f"{place.pointer}/content/{number}", blank=True)
    for number, block in enumerate(request.system):
        yield from _said(block, "system", f"/system/{number}")


def _said(block: Mapping[str, Any], where: str, pointer: str, *, blank: bool = False) -> Iterator[Fault]:
    """A text says something; inside a tool result it may be `blank` (u)."""
    words = block.get("text", "")
    if not words:
        yield Fault(pointer, "empty_text", f"{where}: text content blocks must be non-empty")
    elif not blank and not words.strip():
        yield Fault(pointer, "empty_text", f"{where}: text content blocks must contain non-whitespace text")


def _message_not_empty(request: Request) -> Iterator[Fault]:  # (u)
    last = len(request.messages) - 1
    for number, message in enumerate(request.messages):
        is_prefill = number == last and message["role"] == "assistant"
        if not as_blocks(message["content"]) and not is_prefill and not _is_directive(message):
            text = (
                f"messages.{number}: all messages must have non-empty content except for the optional final "
                "assistant message"
            )
            yield Fault(f"/messages/{number}/content", "empty_message", text)


def _errors_are_text(request: Request) -> Iterator[Fault]:
    for place in request.places:
        if place.value["type"] != "tool_result" or not place.value.get("is_error"):
            continue
        if any(part.get("type") != "text" for part in as_blocks(place.value.get("content"))):
            yield Fault(place.pointer, "error_content", "all content must be type 'text' if 'is_error' is true")


def _is_directive(message: Mapping[str, Any]) -> bool:
    """Whether it only sets how the next turns are answered; such a system message may stand anywhere."""
    return message["role"] == "system" and not message["content"] and bool(message.get("output_config"))


def _system_turns(request: Request) -> Iterator[Fault]:
    """A system turn follows a user turn and is last or followed by an assistant; neighbours are joined."""
    messages = list(enumerate(request.messages))
    if not request.row.system_turns:
        for number, message in messages:
            if message["role"] == "system":
                yield Fault(f"/messages/{number}", "system_turn", "role 'system' is not supported on this model")
        return
    said = [(number, message) for number, message in messages if not _is_directive(message)]
    for place, (number, message) in enumerate(said):
        if message["role"] != "system":
            continue
        before = next((other for _, other in reversed(said[:place]) if other["role"] != "system"), None)
        after = next((other for _, other in said[place + 1 :] if other["role"] != "system"), None)
        if before is None:
            text = "use the top-level 'system' parameter for the initial system prompt"
        elif before["role"] != "user" and not _last_kind(before).endswith("_tool_result"):
            text = "role 'system' must follow a 'user' message or an 'assistant' message ending in a server tool result"
        elif after is not None and after["role"] != "assistant":
            text = "role 'system' must precede an 'assistant' message or end the array"
        else:
            continue
        yield Fault(f"/messages/{number}", "system_turn", f"messages.{number}: {text}{_DIRECTIVE}")


def _last_kind(message: Mapping[str, Any]) -> str:
    blocks = as_blocks(message["content"])
    return str(blocks[-1]["type"]) if blocks else ""


def _prefill(request: Request) -> Iterator[Fault]:
    said = [(number, message) for number, message in enumerate(request.messages) if not _is_directive(message)]
    if not said or said[-1][1]["role"] != "assistant":
        return
    number, last = said[-1]
    if _last_kind(last).endswith(("_tool_result", "server_tool_use", "mcp_tool_use")):
        return  # a turn that paused at one of the provider's own tools goes on
    if not request.row.prefill:
        text = "This model does not support assistant message prefill. The conversation must end with a user message."
        yield Fault(f"/messages/{number}", "prefill", text)
        return
    blocks = as_blocks(last["content"])
    final = blocks[-1].get("text", "") if blocks and blocks[-1]["type"] == "text" else ""
    if final != final.rstrip():  # (u)
        text = f"messages.{number}: final assistant content cannot end with trailing whitespace"
        yield Fault(f"/messages/{number}", "prefill", text)


def _thinking_first(request: Request) -> Iterator[Fault]:
    thinking = request.body.get("thinking")
    if not isinstance(thinking, Mapping) or thinking.get("type") != "enabled":
        return
    last = next((run for run in reversed(runs(request)) if run.role == "assistant"), None)
    if last is None or not any(place.value["type"] == "tool_use" for place in last.places):
        return
    first = last.places[0]
    if first.value["type"] not in THINKING_KINDS:
        text = (
            f"{first.dotted}: Expected `thinking` or `redacted_thinking`, but found `{first.value['type']}`. When "
            "`thinking` is enabled, a final `assistant` message must start with a thinking block (preceding the "
            "lastmost set of `tool_use` and `tool_result` blocks)."
        )
        yield Fault(first.pointer, "thinking_first", text)


def _current_version(request: Request) -> Iterator[Fault]:
    if not request.is_current:
        return
    for place in request.places:
        if place.role == "assistant" and place.value["type"] == "document":  # (u)
            text = f"{place.dotted}: `document` blocks are not allowed in assistant messages"
            yield Fault(place.pointer, "document", text)
        if place.role == "user":
            yield from _cited(place.value, place.pointer, place.dotted)


def _cited(block: Mapping[str, Any], pointer: str, dotted: str) -> Iterator[Fault]:
    """Citations are the model's: none may stand on a user's text, nor on one inside a search result."""
    if block["type"] == "text" and block.get("citations"):  # (u)
        yield Fault(pointer, "citations", f"{dotted}.text.citations: Extra inputs are not permitted")
    if block["type"] in {"search_result", "tool_result"} and not isinstance(block.get("content"), str):
        for number, part in enumerate(as_blocks(block.get("content"))):
            yield from _cited(part, f"{pointer}/content/{number}", f"{dotted}.{block['type']}.content.{number}")


MESSAGE_RULES = (
    _text_not_empty,
    _message_not_empty,
    _errors_are_text,
    _system_turns,
    _prefill,
    _thinking_first,
    _current_version,
)
