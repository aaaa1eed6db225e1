"""What a model call used and cost."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Cost", "Spending", "TokenEstimate", "UnitPrices", "Usage", "UsageSample"]


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


_MILLION = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitPrices:
    """What a call was billed by, in US dollars for a million tokens of each kind.

    Of a price with tiers it is the tier that applied to the call. None: the price list has no such kind.
    """

    input: float | None = None
    output: float | None = None
    cache_read: float | None = None
    cache_write_5m: float | None = None
    cache_write_1h: float | None = None

    def usd(self, usage: Usage) -> float | None:
        """Return what `usage` costs by these prices; None where it holds tokens of a kind that has none."""
        return _sum_usd(
            (usage.input_tokens, self.input),
            (usage.cache_read_tokens, self.cache_read),
            (usage.cache_write_5m_tokens, self.cache_write_5m),
            (usage.cache_write_1h_tokens, self.cache_write_1h),
            (usage.output_tokens, self.output),
        )

    def usd_without_cache(self, usage: Usage) -> float | None:
        """Return what the same call would have cost without a cache: all of its prompt at the input price."""
        return _sum_usd((usage.prompt_tokens, self.input), (usage.output_tokens, self.output))


def _sum_usd(*parts: tuple[int, float | None]) -> float | None:
    total = 0.0
    for tokens, price in parts:
        if price is None:
            if tokens:
                return None
            continue
        total += tokens * price / _MILLION
    return total


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Money of one call; `usd` is None when the price is not known, never 0 in its place."""

    usd: float | None
    price_source: str
    unit_prices: UnitPrices | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """Sums over the calls of a run or a task: every try that was paid for, also one that was not used.

    Prompt tokens hold cached ones; `calls` counts committed ones. `cost_usd` is the cost of the calls whose price is
    known, and None where calls were paid for and no price is. `cost_without_cache_usd` is what the same calls would
    have cost without a cache; None where that cannot be told of one of them. `unpriced_models` names the models
    whose price is not known.
    """

    calls: int
    abandoned_calls: int
    failed_calls: int
    prompt_tokens: int
    cached_tokens: int
    output_tokens: int
    cost_usd: float | None
    cost_without_cache_usd: float | None
    unpriced_calls: int
    unpriced_models: tuple[str, ...] = ()
    simulated_calls: int = 0
    """Calls that no provider answered (the scripted model, the emulator): their figures are simulated."""

    @property
    def cached_share(self) -> float:
        """Which part of the prompt tokens was read from the cache (0 to 1)."""
        return self.cached_tokens / self.prompt_tokens if self.prompt_tokens else 0.0


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
