"""Prices: the two worked cases of the price table, and unknown stays unknown."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aircoding.providers.prices import cost_of
from aircoding.records.usage import UnitPrices, Usage


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
    assert cost.price_source.endswith(" anthropic/claude-opus-4-7")
    assert cost.unit_prices == UnitPrices(input=5, output=25, cache_read=0.5, cache_write_5m=6.25, cache_write_1h=10)
    assert cost.unit_prices.usd(usage) == pytest.approx(usd)
    assert cost.unit_prices.usd_without_cache(usage) == pytest.approx(3.3 * 5 + 0.1 * 25)


def test_an_unknown_price_is_unknown_and_not_nothing() -> None:
    cost = cost_of("claude-none-9", Usage(input_tokens=1))
    assert cost.usd is None
    assert "no price for anthropic/claude-none-9" in cost.price_source


def test_no_tokens_cost_nothing() -> None:
    assert cost_of("claude-sonnet-5-5", Usage()).usd == 0


@pytest.mark.parametrize(("prompt_tokens", "factor"), [(100_000, 1), (100_001, 5)])
def test_a_prompt_above_a_tier_is_billed_by_it_whole_and_its_unit_prices_say_so(
    prompt_tokens: int, factor: int
) -> None:
    usage = Usage(input_tokens=1_000, cache_read_tokens=prompt_tokens - 1_000, output_tokens=500)

    cost = cost_of("claude-haiku-5-5", usage)

    assert cost.unit_prices is not None
    assert (cost.unit_prices.input, cost.unit_prices.output) == (0.1 * factor, 0.5 * factor)
    assert cost.usd == pytest.approx(cost.unit_prices.usd(usage))


@settings(max_examples=60)
@given(
    st.sampled_from(
        ["claude-haiku-5-5", "claude-sonnet-4-5", "claude-opus-5-5", "claude-fable-5-2", "claude-opus-4-7"]
    ),
    st.builds(
        Usage,
        input_tokens=st.integers(0, 400_000),
        output_tokens=st.integers(0, 50_000),
        cache_read_tokens=st.integers(0, 400_000),
        cache_write_5m_tokens=st.integers(0, 50_000),
        cache_write_1h_tokens=st.integers(0, 50_000),
    ),
)
def test_the_unit_prices_give_the_cost_again(model: str, usage: Usage) -> None:
    cost = cost_of(model, usage)
    assert cost.unit_prices is not None
    assert cost.usd == pytest.approx(cost.unit_prices.usd(usage))


def test_own_prices_hold_in_place_of_the_shipped_ones_and_for_models_that_have_none() -> None:
    own = {"claude-opus-4-7": UnitPrices(input=1, output=2), "house-1": UnitPrices(input=3, output=4, cache_read=1)}

    opus = cost_of("claude-opus-4-7-20260401", Usage(input_tokens=1_000_000), own)
    house = cost_of("house-1", Usage(cache_read_tokens=2_000_000, output_tokens=1_000_000), own)

    assert (opus.usd, opus.unit_prices) == (1.0, own["claude-opus-4-7"])
    assert (house.usd, house.price_source) == (6.0, 'config.toml [prices."house-1"]')


def test_tokens_of_a_kind_without_a_price_have_no_cost() -> None:
    prices = UnitPrices(input=3, output=4)
    assert prices.usd(Usage(input_tokens=1_000_000)) == 3
    assert prices.usd(Usage(cache_read_tokens=1)) is None
