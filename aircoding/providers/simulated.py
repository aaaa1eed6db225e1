"""SIMULATED usage: token counts by a byte rule, and the accounting of a prompt cache as the provider documents it.

No number from here was measured at a provider. Written from Anthropic's prompt caching page (copy of September 2026,
https://platform.claude.com/docs/en/build-with-claude/prompt-caching) alone, and on purpose without the model that
predicts (`context/prompt_cache`): the two check each other. Here a cache is a tree: from the root of a workspace and
model each block leads one step down, and a step at which a request had a mark may hold an entry.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from aircoding.records.digests import canonical_json, sorted_json
from aircoding.records.usage import Usage

__all__ = ["BYTES_PER_TOKEN", "Asked", "SimulatedCache", "byte_tokens", "prompt_tokens"]

BYTES_PER_TOKEN = 4
"""Bytes of canonical JSON for one token: a round number near the 3.6 to 4.7 that was measured of English and code."""

_LOOK_BACK = 20
"""Positions that are checked from a mark, the mark's own counted as the first."""

_LIFE_SECONDS = {"5m": 300.0, "1h": 3600.0}

_STRIPS_THINKING = re.compile(r"claude-(3-|haiku-4-5|sonnet-4-5|sonnet-4-20|opus-4-1|opus-4-20)")
"""Models that drop earlier thinking when a user speaks: Haiku through 4.5, Sonnet before 4.6, Opus before 4.5."""

_DEFAULT_EFFORT = {"claude-opus-5-5": "medium"}


@dataclass(slots=True)
class _Step:
    """One step of the tree: where it leads, and the entry that ends here, if one was ever written."""

    next: dict[bytes, _Step] = field(default_factory=dict)
    ttl: str | None = None
    expires_at_seconds: float = -math.inf

    def is_warm(self, now_seconds: float) -> bool:
        return now_seconds < self.expires_at_seconds

    def keep(self, ttl: str, started_at_seconds: float) -> None:
        """Write or refresh; an entry that lives longer already stays as it is."""
        expires = started_at_seconds + _LIFE_SECONDS[ttl]
        if self.ttl is None or (expires, _LIFE_SECONDS[ttl]) > (self.expires_at_seconds, _LIFE_SECONDS[self.ttl]):
            self.ttl, self.expires_at_seconds = ttl, expires


@dataclass(frozen=True, slots=True)
class _Place:
    """A block on its way down: its step, the tokens up to its end, its kind, the TTL of its mark, and whether an
    entry may end here at all.
    """

    step: _Step
    tokens: int
    kind: str
    ttl: str | None
    can_end: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request under way: what it reads and writes is settled at its start and takes effect when its answer begins."""

    input_tokens: int
    read_tokens: int
    write_5m_tokens: int
    write_1h_tokens: int
    _keeps: tuple[tuple[_Step, str], ...]
    _started_at_seconds: float

    def usage(self, output: Sequence[Any]) -> Usage:
        """Return what the request and its answer used."""
        return Usage(
            input_tokens=self.input_tokens,
            output_tokens=sum(byte_tokens(block) for block in output),
            cache_read_tokens=self.read_tokens,
            cache_write_5m_tokens=self.write_5m_tokens,
            cache_write_1h_tokens=self.write_1h_tokens,
        )

    def begin(self) -> None:
        """Make its entries readable: to be called when the first byte of the answer goes out, since none is before."""
        for step, ttl in self._keeps:
            step.keep(ttl, self._started_at_seconds)


def byte_tokens(value: Any) -> int:
    """Return the simulated tokens of a JSON value."""
    return math.ceil(len(canonical_json(value)) / BYTES_PER_TOKEN)


def prompt_tokens(body: Mapping[str, Any]) -> int:
    """Return the simulated tokens of a whole request (`tools`, `system`, `messages`)."""
    parts = [*(body.get("tools") or ()), *_as_blocks(body.get("system"))]
    for message in body.get("messages") or ():
        parts += _as_blocks(message["content"])
    return sum(_own_tokens(block) for block in parts)


class SimulatedCache:
    """What a provider would hold of the requests that it was sent; it starts cold."""

    def __init__(self) -> None:
        self._roots: dict[tuple[str, str], _Step] = {}

    def ask(
        self, model: str, body: Mapping[str, Any], *, minimum_tokens: int, now_seconds: float, workspace: str = ""
    ) -> Asked:
        """Return what a request that starts now reads and writes; `workspace` is what caches are isolated by.

        A prefix below `minimum_tokens` is not cached.
        """
        places = self._walk(self._roots.setdefault((workspace, model), _Step()), model, body)
        hit = _highest_hit(places, now_seconds)
        marks = [place for place in places if place.ttl is not None and place.tokens >= minimum_tokens]
        # The page names three positions: A, the highest hit; B, the highest 1-hour mark after A; C, the last mark.
        a = 0 if hit is None else hit.tokens
        b = max([place.tokens for place in marks if place.ttl == "1h" and place.tokens > a], default=a)
        c = max([b, *(place.tokens for place in marks)])
        warm = [place.step for place in (*marks, *([hit] if hit else [])) if place.step.is_warm(now_seconds)]
        keeps = [(step, step.ttl) for step in warm if step.ttl is not None]
        keeps += [(place.step, place.ttl) for place in marks if place.ttl and not place.step.is_warm(now_seconds)]
        return Asked(
            input_tokens=(places[-1].tokens if places else 0) - c,
            read_tokens=a,
            write_5m_tokens=c - b,
            write_1h_tokens=b - a,
            _keeps=tuple(keeps),
            _started_at_seconds=now_seconds,
        )

    @staticmethod
    def _walk(root: _Step, model: str, body: Mapping[str, Any]) -> list[_Place]:
        places: list[_Place] = []
        step, tokens = root, 0
        for label, block in _path(model, body):
            plain = {key: value for key, value in (block or {}).items() if key != "cache_control"}
            name = hashlib.blake2b(label + (b"" if block is None else canonical_json(plain)), digest_size=16).digest()
            step = step.next.setdefault(name, _Step())
            if block is not None:
                tokens += _own_tokens(block)
                places.append(_Place(step, tokens, str(block.get("type")), _ttl(block), _can_end(block)))
        return _with_automatic(body, places)


def _highest_hit(places: Sequence[_Place], now_seconds: float) -> _Place | None:
    """Look back from the last mark, then from the one before it. Tool calls in a row, or results, share a slot."""
    slots: list[list[_Place]] = []
    marks: list[tuple[int, int]] = []
    for place in places:
        runs_on = place.kind in {"tool_use", "tool_result"} and bool(slots) and slots[-1][-1].kind == place.kind
        if runs_on:
            slots[-1].append(place)
        else:
            slots.append([place])
        if place.ttl is not None:
            marks.append((len(slots) - 1, len(slots[-1])))
    for slot, inside in reversed(marks):
        window = [slots[slot][:inside], *reversed(slots[max(slot - _LOOK_BACK + 1, 0) : slot])]
        for places_of_slot in window:
            for place in reversed(places_of_slot):
                if place.step.is_warm(now_seconds):
                    return place
    return None


def _path(model: str, body: Mapping[str, Any]) -> Iterator[tuple[bytes, Mapping[str, Any] | None]]:
    """Yield the steps of a request: its blocks, and before each part a step for the settings that invalidate it."""
    tools = body.get("tools") or ()
    searching = [tool for tool in tools if str(tool.get("type", "")).startswith("web_search")]
    for tool in tools:
        if tool not in searching:
            yield b"tool", tool
    yield b"of system:" + sorted_json([body.get("speed"), _holds(body, _is_cited)]), None
    for tool in searching:
        yield b"search", tool
    for block in _as_blocks(body.get("system")):
        yield b"system", block
    effort = (body.get("output_config") or {}).get("effort")
    effort = None if effort == _DEFAULT_EFFORT.get(model, "high") else effort
    settings = [body.get("tool_choice"), body.get("thinking"), effort, _holds(body, _is_image)]
    yield b"of messages:" + sorted_json(settings), None
    messages = list(body.get("messages") or ())
    spoken = max([n for n, one in enumerate(messages) if _is_spoken(one)], default=0)
    for number, message in enumerate(messages):
        forgets = number < spoken and _STRIPS_THINKING.match(model) is not None
        content = _as_blocks(message["content"])
        for block in content:
            if not (forgets and block.get("type") in _THINKING):
                yield f"said by {message['role']}".encode(), block


_THINKING = frozenset({"thinking", "redacted_thinking"})


def _is_spoken(message: Mapping[str, Any]) -> bool:
    """Whether a user says something here besides returning tool results."""
    kinds = {block.get("type") for block in _as_blocks(message["content"])}
    return message["role"] == "user" and bool(kinds - {"tool_result"})


def _holds(body: Mapping[str, Any], test: Any) -> bool:
    blocks = [block for message in body.get("messages") or () for block in _as_blocks(message["content"])]
    inner = [part for block in blocks if isinstance(block.get("content"), list) for part in block["content"]]
    return any(test(block) for block in (*blocks, *inner))


def _is_image(block: Mapping[str, Any]) -> bool:
    return block.get("type") == "image"


def _is_cited(block: Mapping[str, Any]) -> bool:
    return block.get("type") == "document" and bool((block.get("citations") or {}).get("enabled"))


def _ttl(block: Mapping[str, Any]) -> str | None:
    mark = block.get("cache_control")
    ttl = (mark.get("ttl") or "5m") if isinstance(mark, Mapping) and _can_end(block) else None
    return ttl if ttl in _LIFE_SECONDS else None


def _can_end(block: Mapping[str, Any]) -> bool:
    """Whether an entry may end here: not at thinking, an empty text, or a tool whose loading is put off."""
    empty = block.get("type") == "text" and not block.get("text")
    return not (empty or block.get("type") in _THINKING or block.get("defer_loading"))


def _with_automatic(body: Mapping[str, Any], places: list[_Place]) -> list[_Place]:
    """A mark on the request itself goes to the last block that can carry one; there it changes no mark of its own."""
    automatic = body.get("cache_control")
    if not isinstance(automatic, Mapping):
        return places
    for number in range(len(places) - 1, -1, -1):
        if places[number].can_end:
            places[number] = replace(places[number], ttl=places[number].ttl or automatic.get("ttl") or "5m")
            break
    return places


def _own_tokens(block: Mapping[str, Any]) -> int:
    return byte_tokens({key: value for key, value in block.items() if key != "cache_control"})


def _as_blocks(content: Any) -> Sequence[Mapping[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content or ()
