"""Amounts in words."""

from __future__ import annotations

import pytest

from aircoding.records.words import counted, dollars


@pytest.mark.parametrize(
    ("usd", "said"),
    [
        (0.0, "$0.00"),
        (0.0103, "$0.0103"),
        (0.00004, "$0.00"),
        (0.05, "$0.05"),
        (0.5, "$0.50"),
        (0.125, "$0.1250"),
        (0.999_96, "$1.00"),
        (1.0001, "$1.00"),
        (5.0, "$5.00"),
        (1234.5, "$1,234.50"),
    ],
)
def test_money_has_one_form(usd: float, said: str) -> None:
    assert dollars(usd) == said


def test_nouns_agree_with_their_number() -> None:
    assert [counted(number, "task") for number in (0, 1, 2)] == ["0 tasks", "1 task", "2 tasks"]
