"""The quick look never hides a match: what a pattern finds, it finds with the look before it."""

from __future__ import annotations

import re
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aircoding.screening.stems import fold, may_match
from aircoding.screening.text_rules import TEXT_RULES

_POSSESSIVE = re.compile(r"(?<=[}*+?])\+")


def test_whatever_is_a_letter_to_a_pattern_is_that_letter_when_folded() -> None:
    letters = "abcdefghijklmnopqrstuvwxyz"
    pattern = re.compile(f"[{letters}]", re.IGNORECASE)
    alike = [char for char in map(chr, range(0x30000)) if pattern.match(char)]

    assert len(alike) > 2 * len(letters), "there are more such characters than the ASCII ones"
    for char in alike:
        assert fold(char) in letters
        assert re.match(fold(char), char, re.IGNORECASE)


def test_a_dotted_capital_is_folded_inside_a_word_too() -> None:
    assert fold("\u0130GNORE \u017fy\u017ftem") == "ignore system"


RULES = list(TEXT_RULES)


@pytest.mark.parametrize("rule", RULES, ids=[f"{getattr(rule, 'code', rule.kind)}-{n}" for n, rule in enumerate(RULES)])
@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_every_match_of_a_rule_holds_one_of_its_stems(rule: object, data: st.DataObject) -> None:
    # Strings are made from a pattern without its possessive marks and looks around, then put to the true one. A rule of
    # several patterns matches only where all of them do, so its stem may stand in any of them.
    patterns: list[re.Pattern[str]] = [rule.pattern, *getattr(rule, "then", ())]  # type: ignore[attr-defined]
    texts = []
    for pattern in patterns:
        loose = re.sub(r"\(\?<?[!=](?:\[[^\]]*\]|[^()])*\)", "", _POSSESSIVE.sub("", pattern.pattern))
        texts.append(data.draw(st.from_regex(re.compile(loose, pattern.flags))) + " ")  # what some look ahead for
    for change in (str.upper, str.lower, str.title, str):
        found = [[match[0] for match in one.finditer(change(text))] for one, text in zip(patterns, texts, strict=True)]
        for whole in product(*found):
            assert may_match(rule.stems, fold("\n".join(whole)))  # type: ignore[attr-defined]
