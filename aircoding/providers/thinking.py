"""Signatures of thinking blocks: what each block was bound to, and whether that still stands before it; pure.

Models with preserved thinking bind a thinking block to its prefix: top-level `system`, `tools` and every earlier
message, cache marks left out, and to the thinking block before it. A leading run of thinking blocks may be removed, one
between others may not (platform.claude.com, preserved-thinking/prefix-checks, read 2026-11). Our signatures are made by
the scripted model and the emulator, so that a session of one can go on with the other. They are no secret and prove
nothing to anybody else; a signature of another maker is opaque here.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aircoding.providers.validation_request import as_blocks
from aircoding.records.digests import sorted_json

__all__ = ["THINKING_KINDS", "CheckedBlock", "check_thinking", "sign_thinking", "without_blocks"]

THINKING_KINDS = ("thinking", "redacted_thinking")

_MAGIC = b"air1"
_PART_BYTES = 8
_PARTS = ("system", "tools", "messages", "chain")
_SEAL_BYTES = 16
_BILLING_LINE = "x-anthropic-billing-header:"
"""A line that the Claude command-line client puts first in `system`: for the provider, no part of the prompt."""


@dataclass(frozen=True, slots=True)
class CheckedBlock:
    """A thinking block of a request, and what is wrong with it.

    `fault` is empty, `foreign` (not signed here), `changed` (its text is not what was signed), or what differs before
    it: `system`, `tools`, `messages`, `chain` (the thinking block before it is another one, or is missing), or `after`
    (it directly follows a block that fails, and falls with it).
    """

    message: int
    block: int
    fault: str

    @property
    def path(self) -> str:
        """Where it is, as the API writes it."""
        return f"messages.{self.message}.content.{self.block}"

    @property
    def is_unbound(self) -> bool:
        """Whether it is whole, but stands in a conversation that is not its own."""
        return self.fault in (*_PARTS, "after")


def sign_thinking(body: Mapping[str, Any], thinking: str) -> str:
    """Return the signature of a thinking block that answers `body` (whose thinking blocks are all in order)."""
    walk = _Walk(body)
    for _ in walk.blocks():
        pass
    prefix = b"".join(walk.prefix())
    return base64.b64encode(_MAGIC + prefix + _seal(prefix, thinking)).decode("ascii")


def check_thinking(body: Mapping[str, Any]) -> Iterator[CheckedBlock]:
    """Yield every `thinking` block of a request with what is wrong with it.

    Each is judged as if the ones that fail before it had been removed, as `drop_block` does; so thinking that was made
    after a change stays in order. The data of `redacted_thinking` is not looked into.
    """
    yield from _Walk(body).blocks()


def without_blocks(body: Mapping[str, Any], dropped: Sequence[CheckedBlock]) -> dict[str, Any]:
    """Return a request without some thinking blocks; the request that was given is left as it is."""
    places = {(block.message, block.block) for block in dropped}
    messages = [
        message
        if isinstance(message["content"], str)
        else {**message, "content": [b for n, b in enumerate(message["content"]) if (number, n) not in places]}
        for number, message in enumerate(body["messages"])
    ]
    return {**body, "messages": messages}


class _Walk:
    """Goes once through a request and knows at each thinking block what stands before it."""

    def __init__(self, body: Mapping[str, Any]) -> None:
        self._body = body
        self._system = _digest([block for block in as_blocks(body.get("system")) if not _is_billing(block)])
        self._tools = _digest(body.get("tools") or ())
        self._messages = hashlib.sha256()
        self._before = b""
        """The signature of the last thinking block that was in order; empty where none came."""

    def prefix(self) -> tuple[bytes, ...]:
        """Return the digests of what came so far, in the order of `_PARTS`."""
        chain = hashlib.sha256(self._before).digest()[:_PART_BYTES] if self._before else bytes(_PART_BYTES)
        return (self._system, self._tools, self._messages.digest()[:_PART_BYTES], chain)

    def blocks(self) -> Iterator[CheckedBlock]:
        for number, message in enumerate(self._body["messages"]):
            failing = False
            # A block is bound to the messages before its own, not to its neighbours.
            earlier = self._messages.copy()
            for index, block in enumerate(as_blocks(message["content"])):
                if block["type"] not in THINKING_KINDS:
                    failing = False
                    earlier.update(f"\n{message['role']}\n".encode() + sorted_json(_plain(block)))
                elif block["type"] == "thinking":
                    checked = CheckedBlock(number, index, "after" if failing else self._fault(block))
                    failing = checked.is_unbound
                    if not failing:
                        self._before = str(block.get("signature", "")).encode()
                    yield checked
            self._messages = earlier

    def _fault(self, block: Mapping[str, Any]) -> str:
        signed = _decoded(str(block.get("signature", "")))
        if signed is None:
            return "foreign"
        prefix, seal = signed
        if seal != _seal(prefix, str(block.get("thinking", ""))):
            return "changed"
        then = [prefix[start : start + _PART_BYTES] for start in range(0, len(prefix), _PART_BYTES)]
        for name, before, now in zip(_PARTS, then, self.prefix(), strict=True):
            is_first = name == "chain" and not self._before  # the oldest may be gone
            if before != now and not is_first:
                return name
        return ""


def _decoded(signature: str) -> tuple[bytes, bytes] | None:
    try:
        data = base64.b64decode(signature, validate=True)
    except (binascii.Error, ValueError):
        return None
    end = len(_MAGIC) + len(_PARTS) * _PART_BYTES
    if not data.startswith(_MAGIC) or len(data) != end + _SEAL_BYTES:
        return None
    return data[len(_MAGIC) : end], data[end:]


def _seal(prefix: bytes, thinking: str) -> bytes:
    return hashlib.sha256(b"thinking\n" + prefix + b"\n" + thinking.encode("utf-8")).digest()[:_SEAL_BYTES]


def _digest(blocks: Sequence[Mapping[str, Any]]) -> bytes:
    return hashlib.sha256(sorted_json([_plain(block) for block in blocks])).digest()[:_PART_BYTES]


def _plain(block: Mapping[str, Any]) -> dict[str, Any]:
    """Without marks, and with the two ways to write a text as one: clients move the one and change the other."""
    plain = {key: value for key, value in block.items() if key != "cache_control"}
    if plain.get("type") == "tool_result":
        plain["content"] = [_plain(part) for part in as_blocks(plain.get("content"))]
    return plain


def _is_billing(block: Mapping[str, Any]) -> bool:
    return str(block.get("text", "")).startswith(_BILLING_LINE)
