"""Estimates learn from what came back and stay safe on the high side."""

from __future__ import annotations

from functools import reduce

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aircoding.context.calibration import ENOUGH_SAMPLES, Calibration, calibrated, estimator_named, observe
from aircoding.context.tokens import estimate_range
from aircoding.records.snapshot import Estimator
from aircoding.records.usage import UsageSample

PLAIN = Estimator()

ratios = st.floats(0.5, 2.5)


def sample(ratio: float, *, estimator: Estimator = PLAIN, raw_tokens: int = 50_000) -> UsageSample:
    """A request of so many raw tokens that turned out to have `ratio` times as many."""
    return UsageSample(
        estimator=estimator.name,
        expected_tokens=round(raw_tokens * estimator.factor),
        actual_tokens=round(raw_tokens * ratio),
    )


def learned(*seen: float) -> Estimator:
    return calibrated(reduce(observe, (sample(ratio) for ratio in seen), Calibration()))


def test_without_samples_the_estimator_is_the_plain_one() -> None:
    assert learned() == PLAIN


@given(st.lists(ratios, min_size=1, max_size=ENOUGH_SAMPLES - 1))
def test_few_samples_never_lower_an_estimate_and_its_upper_end_holds_all_of_them(seen: list[float]) -> None:
    estimator = learned(*seen)

    assert estimator.factor >= 1.0
    assert estimator.high >= PLAIN.high
    assert estimator.low <= PLAIN.low
    assert estimator.factor * estimator.high >= max(seen) - 1e-4


@given(st.lists(ratios, min_size=ENOUGH_SAMPLES, max_size=300))
def test_many_samples_leave_at_most_one_in_twenty_of_the_newest_above_the_upper_end(seen: list[float]) -> None:
    estimator = learned(*seen)

    newest = seen[-200:]
    above = sum(ratio > estimator.factor * estimator.high + 1e-4 for ratio in newest)
    assert above <= len(newest) * 0.05
    assert estimator.high >= 1.15
    assert min(seen) - 1e-3 <= estimator.factor <= max(seen) + 1e-3


@pytest.mark.parametrize("true_ratio", [0.7, 1.0, 1.4])
def test_a_model_that_is_always_off_by_the_same_ratio_is_learned(true_ratio: float) -> None:
    estimator = learned(*[true_ratio] * 60)

    assert estimator.factor == pytest.approx(true_ratio, abs=2e-3)
    assert estimate_range(10_000, estimator).high == pytest.approx(11_500, abs=20)


def test_a_change_of_the_tokenizer_is_followed_within_some_thirty_calls() -> None:
    assert learned(*[1.0] * 100, *[1.4] * 30).factor > 1.37


@given(st.lists(ratios, min_size=1, max_size=30), ratios)
def test_a_sample_that_was_measured_by_a_learned_estimator_says_the_same(seen: list[float], ratio: float) -> None:
    before = reduce(observe, (sample(one) for one in seen), Calibration())

    plain = observe(before, sample(ratio, raw_tokens=900_000))
    scaled = observe(before, sample(ratio, raw_tokens=900_000, estimator=calibrated(before)))

    assert scaled.mean == pytest.approx(plain.mean, rel=1e-4)


@pytest.mark.parametrize(
    "strange",
    [
        UsageSample(estimator="byte-class-1", expected_tokens=5_000, actual_tokens=9_000),
        UsageSample(estimator=PLAIN.name, expected_tokens=200, actual_tokens=700),
        UsageSample(estimator=PLAIN.name, expected_tokens=5_000, actual_tokens=0),
        UsageSample(estimator=PLAIN.name, expected_tokens=5_000, actual_tokens=50_000),
        UsageSample(estimator=PLAIN.name, expected_tokens=0, actual_tokens=10),
    ],
)
def test_what_cannot_be_compared_teaches_nothing(strange: UsageSample) -> None:
    state = observe(Calibration(), sample(1.2))

    assert observe(state, strange) == state


@given(st.lists(ratios, max_size=40))
def test_the_name_of_an_estimator_is_enough_to_have_it_back(seen: list[float]) -> None:
    estimator = learned(*seen)

    assert estimator_named(estimator.name) == estimator
    assert estimator_named("byte-class-1") is None
