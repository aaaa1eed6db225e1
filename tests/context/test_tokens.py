"""Token estimates: bounds, and no empty text that costs."""

from __future__ import annotations

import pytest
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


@pytest.mark.parametrize(
    ("text", "o200k_tokens", "factor"),
    [
        ("The scheduler starts a task when all the tasks that it depends on are merged and verified. ", 361, 1.5),
        ("def total(items: list[Item]) -> int:\n    return sum(item.price for item in items)\n", 420, 1.3),
        ('{"segment_id":"L6:project:src/a.py@0","tokens":12,"spans":[{"block":"/system/0/text"}]}', 640, 1.35),
        ("2026-11-30T12:04:07.037Z INFO worker-3 task T17 state=running tokens=15589\n", 600, 1.35),
        ("调度器在所有依赖的任务都已合并并验证之后才会启动一个任务。", 440, 1.1),
    ],
    ids=["prose", "code", "json", "log", "chinese"],
)
def test_known_kinds_of_text_lie_within_the_range_of_the_newest_tokenizer(
    text: str, o200k_tokens: int, factor: float
) -> None:
    """Counts of o200k for the text twenty times, and what the newest tokenizer makes of one, by kind (2026-11)."""
    bounds = estimate_range(estimate_tokens(text * 20, _ESTIMATOR), _ESTIMATOR)

    assert bounds.low <= o200k_tokens * factor <= bounds.high
