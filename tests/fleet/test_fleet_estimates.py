"""Estimates: a case worked out by hand, and what holds of all of them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aircoding.fleet.estimates import Assumption, Bound, SessionShape, assumptions_for, bound_of, drivers_of
from aircoding.records.usage import TokenEstimate, UnitPrices

PRICES = UnitPrices(input=10, output=100, cache_read=1, cache_write_5m=20, cache_write_1h=40)


def exactly(tokens: int) -> TokenEstimate:
    return TokenEstimate(low=tokens, expected=tokens, high=tokens)


def shape(role: str = "executor", *, tasks: int = 2, shared: int = 1_000, own: int = 100) -> SessionShape:
    part = "failure" if role == "debugger" else "always"
    return SessionShape(role=role, model="m", part=part, tasks=tasks, shared=exactly(shared), own=exactly(own))


def assumed(**values: float) -> list[Assumption]:
    """All assumptions at one value each: no failures, one attempt, nothing cold or late."""
    names = {
        "turns of one session: executor": 3,
        "turns of one session: debugger": 1,
        "output tokens of one turn": 10,
        "tokens of tool results of one turn": 40,
        "evidence tokens of a debugger or reviewer": 500,
        "attempts of one task": 1,
        "share of attempts whose verification fails": 0,
        "share of sessions that find the shared prefix cold": 0,
        "share of turns after more than 5 minutes": 0,
    }
    names |= {name.replace("_", " "): value for name, value in values.items()}
    return [Assumption(name=name, low=one, expected=one, high=one, basis="test") for name, one in names.items()]


def bound(*shapes: SessionShape, prices: UnitPrices | None = PRICES, **values: float) -> Bound:
    return bound_of("expected", shapes, assumed(**values), lambda _model, _tokens: prices)


def test_two_sessions_of_three_turns_by_hand() -> None:
    """Prompts 1,100, 1,150, 1,200; the first session writes the shared 1,000 for both, so each writes half of it.

    Read: 500, 1,100, 1,150. Written: 600, 50, 50. Output: 10 each.
    """
    found = bound(shape())

    assert (found.sessions, found.calls) == (2, 6)
    assert (found.prompt_tokens, found.cached_tokens, found.output_tokens) == (2 * 3_450, 2 * 2_750, 60)
    assert found.cost_usd == pytest.approx(2 * (2_750 * 1 + 700 * 20 + 30 * 100) / 1_000_000)
    assert found.cost_without_cache_usd == pytest.approx(2 * (3_450 * 10 + 30 * 100) / 1_000_000)


def test_a_debugger_comes_only_where_verification_fails_and_brings_its_evidence() -> None:
    both = [shape(), shape("debugger", tasks=2)]
    assert bound(*both) == bound(shape())

    found = bound(*both, share_of_attempts_whose_verification_fails=0.5)

    assert found.sessions == 3
    assert found.prompt_tokens == 2 * 3_450 + 1_000 + 100 + 500


def test_a_model_without_a_cache_reads_nothing() -> None:
    found = bound(replace(shape(), caches=False))
    assert found.cached_tokens == 0
    assert found.cost_usd == found.cost_without_cache_usd


def test_an_unknown_price_makes_the_money_unknown() -> None:
    found = bound(shape(), prices=None)
    assert (found.cost_usd, found.cost_without_cache_usd) == (None, None)
    assert found.prompt_tokens == 2 * 3_450


@settings(max_examples=50)
@given(
    st.lists(st.sampled_from(["executor", "reviewer", "debugger", "miner"]), min_size=1, max_size=4, unique=True),
    st.integers(1, 60),
    st.integers(1, 5),
    st.integers(1, 200),
    st.integers(0, 20_000),
    st.integers(1, 20_000),
)
def test_low_is_below_expected_is_below_high(
    roles: list[str], max_turns: int, attempts: int, tasks: int, shared: int, own: int
) -> None:
    shapes = [shape(role, tasks=tasks, shared=shared, own=own) for role in roles]
    assumptions = assumptions_for(roles, max_turns=max_turns, max_attempts=attempts)
    low, middle, high = (
        bound_of(side, shapes, assumptions, lambda _model, _tokens: PRICES) for side in ("low", "expected", "high")
    )
    for name in ("sessions", "calls", "prompt_tokens", "output_tokens", "cost_usd"):
        assert getattr(low, name) <= getattr(middle, name) <= getattr(high, name)
    for one in (low, middle, high):
        assert 0 <= one.cached_tokens <= one.prompt_tokens


def test_the_high_end_is_a_bound_that_a_plan_may_come_to_and_says_what_it_rests_on() -> None:
    shapes = (shape("executor", tasks=3, shared=5_000), shape("debugger", tasks=3, shared=5_000))
    given_ = assumptions_for(("executor", "debugger"), max_turns=40, max_attempts=2)
    prices = UnitPrices(input=2, output=10, cache_read=0.2, cache_write_5m=2.5, cache_write_1h=4)
    expected, high = (bound_of(side, shapes, given_, lambda _model, _tokens: prices) for side in ("expected", "high"))

    drivers = drivers_of(shapes, given_, lambda _model, _tokens: prices)

    assert expected.cost_usd is not None
    assert high.cost_usd is not None
    assert high.cost_usd < 10 * expected.cost_usd
    assert drivers[0].name == "turns of one session: executor"
    assert [one.times for one in drivers] == sorted((one.times for one in drivers), reverse=True)
    assert all(1 < one.times < high.cost_usd / expected.cost_usd for one in drivers)
    unpriced = drivers_of(shapes, given_, lambda _model, _tokens: None)
    assert unpriced[0].name == "turns of one session: executor"
