"""The provider's prompt cache as it crosses rooms: its rules, a forecast of one call, and how the call compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from aircoding.records.ids import SegmentId

__all__ = ["CacheCheck", "CacheForecast", "CacheRules", "MarkForecast", "Shortfall"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheRules:
    """How the cache of one model works at one API version.

    `minimum_tokens` is the shortest prefix that is kept; `look_back_positions` how many positions a lookup checks from
    a mark, the mark's own as the first; a run of consecutive blocks of one of `one_position_kinds` is one position.
    `life_seconds` is by TTL word ("5m", "1h"), from the start of the request that last wrote or read the entry.
    `keeps_thinking` says whether thinking of earlier turns stays in the prompt when a person speaks again;
    `thinking_invalidates` what a change of thinking or effort costs ("messages", or "all" where the setting stands
    before the tools); `default_effort` is the effort that is the same as none. `as_of` is the day on which `source`
    was read.
    """

    model: str
    api_version: str
    minimum_tokens: int
    look_back_positions: int
    one_position_kinds: frozenset[str]
    life_seconds: Mapping[str, float]
    keeps_thinking: bool
    thinking_invalidates: str
    default_effort: str
    as_of: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkForecast:
    """What a mark does: `state` is read, written, or none (below the minimum)."""

    mark: str
    prefix_tokens: int
    state: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheForecast:
    """What a request will use by the rules, in tokens of the estimate; the four parts add up to the prompt.

    It is a floor: what other processes have sent is not known here, and may be read as well.
    `boundaries_tokens` are the lengths at which an earlier request ended an entry, whether it still lives or not:
    what is read in fact is one of them, or 0.
    """

    read_tokens: int
    write_5m_tokens: int
    write_1h_tokens: int
    uncached_tokens: int
    marks: tuple[MarkForecast, ...]
    boundaries_tokens: tuple[int, ...] = ()

    @property
    def prompt_tokens(self) -> int:
        """All tokens of the request."""
        return self.read_tokens + self.write_5m_tokens + self.write_1h_tokens + self.uncached_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortfall:
    """Why a request reads less than an earlier one left for it.

    `reason` is model_changed, settings_changed, tools_changed, system_changed, messages_changed, expired, not_begun,
    below_minimum, look_back_exceeded, not_marked, or not_sent. `block` is the pointer of the first block whose bytes
    differ, `offset_bytes` where in its text (UTF-8) they begin to.
    """

    expected_tokens: int
    reason: str
    detail: str
    block: str | None = None
    offset_bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheCheck:
    """How a call compared with what should have been read, in tokens as the provider counts them.

    `kind` is hit, partial, miss, or none (nothing was to be read). `reason` is that of the shortfall, or `not_found`
    when the rules say that it is there and the provider did not find it. `segment_id` is the first segment whose bytes
    differ.
    """

    kind: str
    expected_tokens: int
    predicted_tokens: int
    measured_tokens: int
    reason: str = ""
    detail: str = ""
    block: str | None = None
    offset_bytes: int | None = None
    segment_id: SegmentId | None = None
