"""A reply with its secrets masked: before the ledger, the conversation or a tool sees it (DESIGN section 7)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from aircoding.agents.tools.workbench import in_utf8
from aircoding.ports import Screener
from aircoding.records.calls import Reply

__all__ = ["mask_reply"]

_NOTHING_SAID = {"type": "text", "text": "(empty answer)"}


def mask_reply(reply: Reply, screener: Screener) -> tuple[Reply, int]:
    """Return the reply as it may be kept, and how many thinking blocks were dropped.

    A thinking block is signed and cannot be changed, so one with a secret is dropped whole. Texts that are
    empty are dropped too, since no provider takes them back; an answer with nothing left says so.
    """
    kept: list[Mapping[str, Any]] = []
    dropped = 0
    for block in reply.content:
        if block["type"] == "thinking":
            if _mask(str(block.get("thinking", "")), screener) == block.get("thinking", ""):
                kept.append(block)
            else:
                dropped += 1
        elif block["type"] == "text":
            text = _mask(str(block["text"]), screener)
            if text.strip():
                kept.append({**block, "text": text})
        elif block["type"] == "tool_use":
            kept.append({**block, "input": _mask_strings(block["input"], screener)})
        else:
            kept.append(block)
    return replace(reply, content=tuple(kept) or (_NOTHING_SAID,)), dropped


def _mask(text: str, screener: Screener) -> str:
    return screener.mask(in_utf8(text))


def _mask_strings(value: Any, screener: Screener) -> Any:
    if isinstance(value, str):
        return _mask(value, screener)
    if isinstance(value, Mapping):
        return {_mask(str(key), screener): _mask_strings(item, screener) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_mask_strings(item, screener) for item in value]
    return value
