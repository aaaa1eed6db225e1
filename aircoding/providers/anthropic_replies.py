"""A message of the SDK as a canonical reply."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from aircoding.providers.failures import silent_end
from aircoding.records.calls import Reply
from aircoding.records.usage import Usage

if TYPE_CHECKING:
    from anthropic.types import ParsedMessage
    from anthropic.types import Usage as SdkUsage

__all__ = ["reply_from"]

_FIELDS: Mapping[str, tuple[str, ...]] = {
    "text": ("type", "text"),
    "thinking": ("type", "thinking", "signature"),
    "redacted_thinking": ("type", "data"),
    "tool_use": ("type", "id", "name", "input"),
}
"""What of a block is sent back with the next request. Thinking must go back byte for byte."""

_MAY_BE_EMPTY = frozenset({"refusal"})


def reply_from(message: ParsedMessage[Any], *, request_id: str | None) -> Reply:
    """Return the reply that a finished stream gave. Texts that say nothing are left out: no request may hold one.

    Raises:
        ProviderError: it has no stop reason, or says nothing at all (`silent_end`).
    """
    if message.stop_reason is None:
        raise silent_end("there is no stop reason")
    blocks = (_block(block.model_dump(mode="json", exclude_unset=True)) for block in message.content)
    content = tuple(block for block in blocks if block["type"] != "text" or block["text"].strip())
    if not content and message.stop_reason not in _MAY_BE_EMPTY:
        raise silent_end(f"it stopped with {message.stop_reason} and holds nothing")
    return Reply(
        content=content,
        stop_reason=message.stop_reason,
        usage=_usage(message.usage),
        model=message.model,
        request_id=request_id,
    )


def _block(block: Mapping[str, Any]) -> Mapping[str, Any]:
    """A block of a kind that is not known here is kept as it came."""
    fields = _FIELDS.get(block["type"])
    return dict(block) if fields is None else {name: block[name] for name in fields if name in block}


def _usage(usage: SdkUsage) -> Usage:
    """The split by life of the writes comes at the start of a stream only; the total may be newer."""
    written = usage.cache_creation_input_tokens or 0
    long_lived = usage.cache_creation.ephemeral_1h_input_tokens if usage.cache_creation is not None else 0
    return Usage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=usage.cache_read_input_tokens or 0,
        cache_write_5m_tokens=max(written - long_lived, 0),
        cache_write_1h_tokens=long_lived,
    )
