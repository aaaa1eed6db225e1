"""Token estimates: bounds, and no empty text that costs."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from aircoding.context.tokens import estimate_range, estimate_tokens
from aircoding.records.snapshot import Estimator

_ESTIMATOR = Estimator()


@given(st.text(), st.text())
def test_estimates_add_up_within_rounding(left: str, right: str) -> None:
    together = estimate_tokens(left + right, _ESTIMATOR)
    apart = estimate_tokens(left, _ESTIMATOR) + estimate_tokens(right, _ESTIMATOR)

    assert apart - 1 <= together <= apart


@given(st.text(min_size=1))
def test_no_text_is_free_and_the_range_holds_the_estimate(text: str) -> None:
    expected = estimate_tokens(text, _ESTIMATOR)
    bounds = estimate_range(expected, _ESTIMATOR)

    assert expected >= 1
    assert bounds.low <= bounds.expected <= bounds.high


def test_known_texts_are_near_their_measured_counts() -> None:
    """English prose has about 3.6 characters a token on the newest tokenizer, code about the same (2026-11)."""
    prose = "The scheduler starts a task when all the tasks that it depends on are merged and verified. " * 20
    code = "def total(items: list[Item]) -> int:\n    return sum(item.price for item in items)\n" * 20

    assert 0.8 < estimate_tokens(prose, _ESTIMATOR) / (len(prose) / 3.9) < 1.2
    assert 0.8 < estimate_tokens(code, _ESTIMATOR) / (len(code) / 3.3) < 1.2
