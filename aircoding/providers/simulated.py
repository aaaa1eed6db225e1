"""SIMULATED usage: token counts by a byte rule, and a small model of the provider's prompt cache.

No number from here was measured at a provider. The rules follow Anthropic's prompt caching documentation (2026-08):
an entry is written where a request carries a mark, a request reads the longest entry that ends at or up to 20 blocks
before one of its marks, an entry lives 5 minutes (or 1 hour) after its last use, and a prefix below the model's
minimum is not cached.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aircoding.records.digests import canonical_json
from aircoding.records.usage import Usage

__all__ = ["BYTES_PER_TOKEN", "SimulatedCache", "byte_tokens", "prompt_tokens"]

BYTES_PER_TOKEN = 4
"""Bytes of canonical JSON for one token: a round number near the 3.6 to 4.7 that was measured of English and code."""

LOOK_BACK_BLOCKS = 20
"""How many blocks before a mark, with its own, an entry may end to be found from it."""

_LIFE_SECONDS = {"5m": 300.0, "1h": 3600.0}


@dataclass(frozen=True, slots=True)
class _Block:
    """One block of a request in prompt order: the digest and tokens of everything up to its end."""

    prefix: bytes
    prefix_tokens: int
    ttl: str | None


@dataclass(slots=True)
class _Entry:
    ttl: str
    expires_at_seconds: float


def byte_tokens(value: Any) -> int:
    """Return the simulated tokens of a JSON value."""
    return math.ceil(len(canonical_json(value)) / BYTES_PER_TOKEN)


def prompt_tokens(body: Mapping[str, Any]) -> int:
    """Return the simulated tokens of a whole request (`tools`, `system`, `messages`)."""
    blocks = _blocks("", body)
    return blocks[-1].prefix_tokens if blocks else 0


class SimulatedCache:
    """The prefixes that this process has sent, by model. It starts cold after a restart, as a real one may."""

    def __init__(self) -> None:
        self._entries: dict[bytes, _Entry] = {}

    def usage(
        self, model: str, body: Mapping[str, Any], output: Sequence[Any], *, minimum_tokens: int, now_seconds: float
    ) -> Usage:
        """Return what a request and its answer would use, with the cache as it is now."""
        blocks = _blocks(model, body)
        marks = [number for number, block in enumerate(blocks) if block.ttl is not None]
        total = blocks[-1].prefix_tokens if blocks else 0
        read = self._longest_hit(blocks, marks, now_seconds)
        write_5m, write_1h = _written(blocks, marks, read, minimum_tokens)
        return Usage(
            input_tokens=total - read - write_5m - write_1h,
            output_tokens=sum(byte_tokens(block) for block in output),
            cache_read_tokens=read,
            cache_write_5m_tokens=write_5m,
            cache_write_1h_tokens=write_1h,
        )

    def keep(self, model: str, body: Mapping[str, Any], *, minimum_tokens: int, now_seconds: float) -> None:
        """Write the entries of a request: to be called when its answer begins, since none can be read before."""
        for block in _blocks(model, body):
            if block.ttl is not None and block.prefix_tokens >= minimum_tokens:
                self._entries[block.prefix] = _Entry(block.ttl, now_seconds + _LIFE_SECONDS[block.ttl])

    def _longest_hit(self, blocks: Sequence[_Block], marks: Sequence[int], now_seconds: float) -> int:
        for mark in reversed(marks):
            for number in range(mark, max(mark - LOOK_BACK_BLOCKS, -1), -1):
                entry = self._entries.get(blocks[number].prefix)
                if entry is not None and entry.expires_at_seconds > now_seconds:
                    entry.expires_at_seconds = now_seconds + _LIFE_SECONDS[entry.ttl]
                    return blocks[number].prefix_tokens
        return 0


def _written(blocks: Sequence[_Block], marks: Sequence[int], read: int, minimum_tokens: int) -> tuple[int, int]:
    """Return the tokens written for 5 minutes and for 1 hour: from what was read up to the last mark."""
    done, written = read, {"5m": 0, "1h": 0}
    for mark in marks:
        block = blocks[mark]
        if block.ttl is not None and block.prefix_tokens >= minimum_tokens and block.prefix_tokens > done:
            written[block.ttl] += block.prefix_tokens - done
            done = block.prefix_tokens
    return written["5m"], written["1h"]


def _blocks(model: str, body: Mapping[str, Any]) -> list[_Block]:
    blocks: list[_Block] = []
    digest, tokens = hashlib.sha256(model.encode("utf-8")), 0
    for place, block in _parts(body):
        plain = {key: value for key, value in block.items() if key != "cache_control"}
        data = canonical_json(plain)
        digest.update(f"\n{place}\n".encode())
        digest.update(data)
        tokens += math.ceil(len(data) / BYTES_PER_TOKEN)
        mark = block.get("cache_control")
        ttl = (mark.get("ttl") or "5m") if isinstance(mark, Mapping) else None
        blocks.append(_Block(digest.digest(), tokens, ttl if ttl in _LIFE_SECONDS else None))
    return blocks


def _parts(body: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    parts = [("tool", tool) for tool in body.get("tools") or ()]
    parts += [("system", block) for block in _as_blocks(body.get("system"))]
    for number, message in enumerate(body.get("messages") or ()):
        parts += [(f"{number} {message['role']}", block) for block in _as_blocks(message["content"])]
    return parts


def _as_blocks(content: Any) -> Sequence[Mapping[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content or ()
