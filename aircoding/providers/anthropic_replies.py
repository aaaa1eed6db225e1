"""A message of the SDK as a canonical reply."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from aircoding.providers.failures import silent_end, untrusted_usage
from aircoding.records.calls import Reply
from aircoding.records.usage import Usage

if TYPE_CHECKING:
    from anthropic.types import ParsedMessage
    from anthropic.types import Usage as SdkUsage

__all__ = ["MAX_TOKENS", "checked_tokens", "reply_from"]

_FIELDS: Mapping[str, tuple[str, ...]] = {
    "text": ("type", "text"),
    "thinking": ("type", "thinking", "signature"),
    "redacted_thinking": ("type", "data"),
    "tool_use": ("type", "id", "name", "input"),
}
"""What of a block is sent back with the next request. Thinking must go back byte for byte."""

MAX_TOKENS = 10**12
"""Most tokens that a count may say: far above any window, and small enough that sums stay exact in a database."""
_SHOWN_CHARS = 40

_MAY_BE_EMPTY = frozenset({"refusal"})


def reply_from(message: ParsedMessage[Any], *, request_id: str | None) -> Reply:
    """Return the reply that a finished stream gave. Texts that say nothing are left out: no request may hold one.

    Raises:
        ProviderError: it has no stop reason, or says nothing at all (`silent_end`), or its usage cannot be true.
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
    """The split by life of the writes comes at the start of a stream only; the total may be newer.

    Raises:
        ProviderError: the figures cannot be true (`untrusted_usage`): counted in, they would falsify what was spent.
    """
    total = checked_tokens(usage, "cache_creation_input_tokens", optional=True)
    split = getattr(usage, "cache_creation", None)
    short_lived = long_lived = 0
    if split is not None:
        short_lived = checked_tokens(split, "ephemeral_5m_input_tokens", optional=True) or 0
        long_lived = checked_tokens(split, "ephemeral_1h_input_tokens", optional=True) or 0
    written = short_lived + long_lived if total is None else total
    if short_lived + long_lived > written:
        raise untrusted_usage(f"cache writes of {short_lived} and {long_lived} tokens make more than {written}")
    return Usage(
        input_tokens=checked_tokens(usage, "input_tokens") or 0,
        output_tokens=checked_tokens(usage, "output_tokens") or 0,
        cache_read_tokens=checked_tokens(usage, "cache_read_input_tokens", optional=True) or 0,
        cache_write_5m_tokens=written - long_lived,
        cache_write_1h_tokens=long_lived,
    )


def checked_tokens(counted: object, name: str, *, optional: bool = False) -> int | None:
    """Return a number of tokens that the provider counted; None only where it is `optional` and not given.

    The SDK takes whatever JSON holds: nothing that comes from it has the type that it says.

    Raises:
        ProviderError: it is no whole number from 0 to `MAX_TOKENS`.
    """
    value = getattr(counted, name, None)
    if value is None and optional:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= MAX_TOKENS:
        shown = "missing" if value is None else repr(value)[:_SHOWN_CHARS]
        raise untrusted_usage(f"`{name}` is {shown}")
    return value
