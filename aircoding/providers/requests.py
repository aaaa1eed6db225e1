"""A canonical request as the body of a Messages API call, and a scripted turn as its answer."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from aircoding.providers.script import Turn
from aircoding.providers.thinking import sign_thinking
from aircoding.records.calls import CallRequest
from aircoding.records.ids import CallKey

__all__ = ["messages_body", "scripted_content"]


def messages_body(call: CallRequest) -> dict[str, Any]:
    """Return the request body: the canonical parts unchanged, empty `tools` and `system` left out.

    There are no sampling parameters: API version 2026-10-21 refuses them even at their defaults.
    """
    request = call.request
    body: dict[str, Any] = {"model": call.model, "max_tokens": call.max_output_tokens}
    for part in ("tools", "system"):
        if request.get(part):
            body[part] = request[part]
    body["messages"] = request["messages"]
    return body | {name: request[name] for name in request if name not in {"tools", "system", "messages"}}


def scripted_content(turn: Turn, key: CallKey, body: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    """Return the blocks that a scripted turn answers to `body`.

    Ids follow from the call key alone. Thinking is signed for this request, and comes without its words where the
    request asks for that (`thinking.display: omitted`).
    """
    blocks: list[Mapping[str, Any]] = []
    if turn.thinking is not None:
        config = body.get("thinking")
        is_omitted = isinstance(config, Mapping) and config.get("display") == "omitted"
        words = "" if is_omitted else turn.thinking
        blocks.append({"type": "thinking", "thinking": words, "signature": sign_thinking(body, words)})
    if turn.text is not None:
        blocks.append({"type": "text", "text": turn.text})
    for index, tool in enumerate(turn.tools):
        tool_use_id = f"toolu_{_hash(f'{key}#{index}').hex()[:24]}"
        blocks.append({"type": "tool_use", "id": tool_use_id, "name": tool.name, "input": tool.input})
    return tuple(blocks)


def _hash(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8")).digest()
