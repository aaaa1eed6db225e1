"""What a call cost is split over the layers of its prompt and its answer, and nothing of it gets lost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aircoding.audit.cost_shares import OUTPUT, UNATTRIBUTED, layer_costs, split_call
from aircoding.records.accounting import PaidCall
from aircoding.records.layers import Layer
from aircoding.records.usage import UnitPrices, Usage

PRICES = UnitPrices(input=3.0, output=15.0, cache_read=0.3, cache_write_5m=3.75, cache_write_1h=6.0)
Parts = list[tuple[str, int]]
_COUNT = st.integers(0, 200_000)


@st.composite
def calls(draw: st.DrawFn) -> PaidCall:
    """A call of any shape: with and without a price, with prices that do not explain its cost, without an account."""
    layers = st.sampled_from([layer.value for layer in Layer])
    usage = Usage(
        input_tokens=draw(_COUNT),
        output_tokens=draw(_COUNT),
        cache_read_tokens=draw(_COUNT),
        cache_write_5m_tokens=draw(_COUNT),
        cache_write_1h_tokens=draw(_COUNT),
    )
    prices = draw(st.sampled_from([PRICES, UnitPrices(), UnitPrices(input=3.0)]))
    billed = prices.usd(usage)
    cost = draw(st.sampled_from([billed, None, 1.25, 0.0]))
    parts = draw(st.lists(st.tuples(layers, st.integers(0, 5_000)), max_size=12))
    return PaidCall(parts, usage, prices, cost, simulated=False)


@given(calls())
@settings(max_examples=300, deadline=None)
def test_the_parts_of_a_call_sum_up_to_what_was_billed(call: PaidCall) -> None:
    shares = split_call(call)

    assert sum(one.usd for one in shares.values()) == pytest.approx(call.cost_usd or 0.0, abs=1e-9)
    assert all(one.usd >= 0 and min(one.read, one.written, one.full) >= -1e-6 for one in shares.values())
    if sum(tokens for _, tokens in call.parts) or not call.parts:
        usage = call.usage
        written = usage.cache_write_5m_tokens + usage.cache_write_1h_tokens
        assert sum(one.read for one in shares.values()) == pytest.approx(usage.cache_read_tokens, abs=1e-3)
        assert sum(one.written for one in shares.values()) == pytest.approx(written, abs=1e-3)
        assert sum(one.full for one in shares.values()) == pytest.approx(usage.input_tokens, abs=1e-3)


@given(st.lists(calls(), max_size=8))
@settings(max_examples=100, deadline=None)
def test_the_rows_of_many_calls_sum_up_to_the_cent_and_to_the_token(found: list[PaidCall]) -> None:
    rows = layer_costs(found)
    known = [call.cost_usd for call in found if call.cost_usd is not None]

    assert sum(row.cost_usd or 0.0 for row in rows) == pytest.approx(sum(known), abs=0.005)
    assert all((row.cost_usd is None) == (not known) for row in rows)
    assert sum(row.tokens for row in rows if row.layer == OUTPUT) == sum(call.usage.output_tokens for call in found)
    assert sum(row.tokens for row in rows if row.layer != OUTPUT) == sum(call.usage.prompt_tokens for call in found)
    assert sum(row.read_tokens for row in rows) == sum(call.usage.cache_read_tokens for call in found)


@given(
    st.lists(st.tuples(calls(), st.lists(st.tuples(st.sampled_from(["L0", "L8"]), st.integers(0, 900)))), max_size=6)
)
@settings(max_examples=100, deadline=None)
def test_calls_of_one_growing_prompt_have_together_what_each_has_alone(turns: list[tuple[PaidCall, Parts]]) -> None:
    def grown() -> Iterator[PaidCall]:
        parts: Parts = [("L0", 7)]
        for call, more in turns:
            parts += more
            yield replace(call, parts=parts)

    alone: dict[str, float] = {}
    for call in grown():
        for layer, share in split_call(replace(call, parts=tuple(call.parts))).items():
            alone[layer] = alone.get(layer, 0.0) + share.usd
    together = {row.layer: row.cost_usd or 0.0 for row in layer_costs(grown())}

    assert together == pytest.approx(alone, abs=1e-9)


def test_what_was_read_from_the_cache_is_the_beginning_of_the_prompt() -> None:
    parts = [("L0", 100), ("L3", 100), ("L5", 100), ("L8", 100)]
    usage = Usage(cache_read_tokens=300, cache_write_5m_tokens=300, input_tokens=200, output_tokens=50)
    call = PaidCall(parts, usage, PRICES, PRICES.usd(usage), simulated=False)

    rows = {row.layer: (row.read_tokens, row.written_tokens, row.full_tokens) for row in layer_costs([call])}
    shares = split_call(call)

    assert rows == {
        "L0": (200, 0, 0),
        "L3": (100, 100, 0),
        "L5": (0, 200, 0),
        "L8": (0, 0, 200),
        "output": (0, 0, 0),
    }
    assert shares["L0"].usd == pytest.approx(200 * 0.3 / 1e6)
    assert shares["L3"].usd == pytest.approx((100 * 0.3 + 100 * 3.75) / 1e6)
    assert shares[OUTPUT].usd == pytest.approx(50 * 15 / 1e6)


def test_a_prompt_without_an_account_and_a_call_without_prices_are_not_lost() -> None:
    usage = Usage(input_tokens=300, output_tokens=100)

    rows = layer_costs([PaidCall((), usage, UnitPrices(), 0.4, simulated=False)])

    assert [(row.layer, row.tokens, round(row.cost_usd or 0.0, 9)) for row in rows] == [
        (UNATTRIBUTED, 300, 0.3),
        (OUTPUT, 100, 0.1),
    ]
    assert layer_costs([]) == ()
