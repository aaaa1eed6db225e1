"""Which directives contradict, both ways round, and which do not; and that any pair can be asked."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aircoding.rules.directives import Directive, directives_in
from aircoding.rules.opposition import agree, contradiction, subject_sides


def pairs_of(name: str) -> list[tuple[str, str]]:
    lines = (Path(__file__).parent / name).read_text(encoding="utf-8").splitlines()
    parted = (line.partition(" || ") for line in lines if not line.startswith("# "))
    return [(one, other) for one, _, other in parted]


CONTRADICT = pairs_of("contradicting_pairs.txt")
STAND_TOGETHER = pairs_of("compatible_pairs.txt")


def only(text: str) -> Directive:
    (found,) = directives_in(text)
    return found


def meet(one: Directive, other: Directive) -> bool:
    """Whether two directives stand on different sides of a subject."""
    first, second = subject_sides(one), subject_sides(other)
    return any(first[key] != second[key] for key in first.keys() & second.keys())


def contradicts(one: str, other: str) -> bool:
    return any(
        contradiction(first, second, one_text=False) is not None
        for first in directives_in(one)
        for second in directives_in(other)
    )


@pytest.mark.parametrize(("one", "other"), CONTRADICT)
def test_what_contradicts_does_so_both_ways_on_a_shared_subject(one: str, other: str) -> None:
    assert contradicts(one, other)
    assert contradicts(other, one)
    assert any(meet(first, second) for first in directives_in(one) for second in directives_in(other))


@pytest.mark.parametrize(("one", "other"), STAND_TOGETHER)
def test_what_stands_together_is_no_contradiction(one: str, other: str) -> None:
    assert not contradicts(one, other)
    assert not contradicts(other, one)


def test_a_wish_for_everything_covers_a_part_and_a_wish_for_a_part_does_not_cover_everything() -> None:
    whole, part = only("Use tabs for indentation."), only("## Python\n\nUse spaces for indentation.")

    assert contradiction(whole, part, one_text=False) is None
    assert contradiction(whole, part, one_text=False, covers=True) == "indentation"
    assert contradiction(part, whole, one_text=False, covers=True) is None


def test_two_values_side_by_side_in_one_text_are_meant_so() -> None:
    one, other = only("Use SQLite for reports."), only("Use PostgreSQL for reports.")

    assert contradiction(one, other, one_text=True) is None
    assert contradiction(one, other, one_text=False) == "report"


def test_agreement_is_in_other_words_too() -> None:
    assert agree(only("Always use tabs."), only("Use tabs for indentation."))
    assert not agree(only("Never use tabs."), only("Use tabs for indentation."))


_TEXTS = st.sampled_from([text for pair in (*CONTRADICT, *STAND_TOGETHER) for text in pair])


@given(_TEXTS, _TEXTS, st.booleans())
@settings(max_examples=300, deadline=None)
def test_a_contradiction_is_one_from_both_sides_and_has_a_subject(one: str, other: str, one_text: bool) -> None:
    for first in directives_in(one):
        for second in directives_in(other):
            found = contradiction(first, second, one_text=one_text)
            assert (found is None) == (contradiction(second, first, one_text=one_text) is None)
            assert found is None or meet(first, second)
