"""What a model call used and cost."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Cost", "TokenEstimate", "Usage", "UsageSample"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one call. `input_tokens` excludes cached ones (Anthropic's meaning)."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_5m_tokens: int = 0
    cache_write_1h_tokens: int = 0

    @property
    def prompt_tokens(self) -> int:
        """All tokens of the request, cached or not."""
        return self.input_tokens + self.cache_read_tokens + self.cache_write_5m_tokens + self.cache_write_1h_tokens

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cache_read_tokens=self.cache_read_tokens + other.cache_read_tokens,
            cache_write_5m_tokens=self.cache_write_5m_tokens + other.cache_write_5m_tokens,
            cache_write_1h_tokens=self.cache_write_1h_tokens + other.cache_write_1h_tokens,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Money of one call; `usd` is None when the price is not known, never 0 in its place."""

    usd: float | None
    price_source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenEstimate:
    """A count before sending; `high` is safe for hard limits."""

    low: int
    expected: int
    high: int


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageSample:
    """A request that was estimated and then counted: by which estimator, how many tokens, how many they were."""

    estimator: str
    expected_tokens: int
    actual_tokens: int
