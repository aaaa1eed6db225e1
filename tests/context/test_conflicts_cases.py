"""Contradictions that a person would agree with are found, and nothing is reported where there is none."""

from __future__ import annotations

from collections import Counter

import pytest
from support.conflict_cases import Case, conflicts_of, load_cases

CASES = load_cases()


def test_there_are_enough_cases() -> None:
    planted = Counter(case.kind for case in CASES if case.planted)
    assert set(planted) == {"policy", "architecture", "user_rule", "evidence", "provider"}
    assert min(planted.values()) >= 6
    assert sum(not case.planted for case in CASES) >= 40


@pytest.mark.parametrize("case", [case for case in CASES if case.planted], ids=lambda case: f"{case.kind}: {case.name}")
def test_a_planted_conflict_is_found(case: Case) -> None:
    found = conflicts_of(case.snapshot)
    assert [conflict.kind.value for conflict in found] == [case.kind], found


@pytest.mark.parametrize(
    "case", [case for case in CASES if not case.planted], ids=lambda case: f"{case.kind}: {case.name}"
)
def test_a_near_miss_is_none(case: Case) -> None:
    assert conflicts_of(case.snapshot) == ()
