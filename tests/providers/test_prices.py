"""Prices: the two worked cases of the price table, and unknown stays unknown."""

from __future__ import annotations

import pytest

from aircoding.providers.prices import cost_of
from aircoding.records.usage import Usage


@pytest.mark.parametrize(("hour_tokens", "usd"), [(0, 10.375), (200_000, 11.125)])
def test_reads_and_both_kinds_of_writes_have_their_own_price(hour_tokens: int, usd: float) -> None:
    usage = Usage(
        input_tokens=1_000_000,
        cache_read_tokens=2_000_000,
        cache_write_5m_tokens=300_000 - hour_tokens,
        cache_write_1h_tokens=hour_tokens,
        output_tokens=100_000,
    )
    cost = cost_of("claude-opus-4-7", usage)
    assert cost.usd == pytest.approx(usd)
    assert cost.price_source.startswith("genai-prices ")
    assert "anthropic/claude-opus-4-7: $5/input MTok, $25/output MTok" in cost.price_source


def test_an_unknown_price_is_unknown_and_not_nothing() -> None:
    cost = cost_of("claude-none-9", Usage(input_tokens=1))
    assert cost.usd is None
    assert "no price for anthropic/claude-none-9" in cost.price_source


def test_no_tokens_cost_nothing() -> None:
    assert cost_of("claude-sonnet-5-5", Usage()).usd == 0
