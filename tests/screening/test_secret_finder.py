"""Each kind of secret is found, whatever stands around it, and the quick looks before a rule hide nothing from it."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.planted_secrets import KINDS, planted

from aircoding.records.secret_spans import SecretSpan
from aircoding.screening.screener import TextScreener
from aircoding.screening.secret_finder import RuleFinder, rule_finder
from aircoding.screening.secret_rules import SECRET_RULES, SecretRule

SCREENER = TextScreener(key=b"k")
AROUND = ("import os\n\n", "\nx = 1\n")
_POSSESSIVE = re.compile(r"(?<=[}*+?])\+")


@pytest.mark.parametrize("kind", KINDS)
def test_planted_secrets_of_a_kind_are_masked_whole(kind: str) -> None:
    missed = [one.line for one in planted(kind, 20) if one.value in SCREENER.mask(one.line.join(AROUND))]
    assert len(missed) <= 1, missed


@pytest.mark.parametrize("kind", KINDS)
def test_what_stands_around_a_secret_stays(kind: str) -> None:
    for one in planted(kind, 5):
        before, after = one.line.split(one.value, 1)
        masked = SCREENER.mask(f"é💥 = 'ü'\n{one.line}\nlast é\n")
        if before.endswith(("=", '"', "'", " ", ":")):
            assert masked.startswith(f"é💥 = 'ü'\n{before}[REDACTED:")
        assert masked.endswith(f"]{after}\nlast é\n")


def plainly(rule: SecretRule, text: str) -> Iterator[SecretSpan]:
    """Search a text with the rule's own pattern from each place on, without any quick look."""
    at = 0
    while (match := rule.pattern.search(text, at)) is not None:
        if rule.check(match):
            yield SecretSpan(*match.span("value"), rule.kind)
            at = match.end("value")
        else:
            at = match.start() + 1


@pytest.mark.parametrize("rule", SECRET_RULES, ids=[f"{rule.kind}-{n}" for n, rule in enumerate(SECRET_RULES)])
@given(data=st.data())
@settings(max_examples=10, deadline=None)
def test_the_quick_looks_hide_nothing(rule: SecretRule, data: st.DataObject) -> None:
    loose = re.sub(r"\(\?<?[!=](?:\[[^\]]*\]|[^()])*\)", "", _POSSESSIVE.sub("", rule.pattern.pattern))
    made = data.draw(st.from_regex(re.compile(loose, rule.pattern.flags)))
    text = (
        data.draw(st.sampled_from(["", "é💥 ", "x = 1\n", "token: "]))
        + made
        + data.draw(st.sampled_from(["", " ", "\n"]))
    )
    found = {(span.start, span.end) for span in RuleFinder([rule]).find(text)}
    assert {(span.start, span.end) for span in plainly(rule, text)} <= found


def test_the_same_rules_are_compiled_once() -> None:
    assert rule_finder(SECRET_RULES) is rule_finder(tuple(SECRET_RULES))


def test_half_of_a_secret_is_masked_where_only_a_part_is_shown() -> None:
    key = next(iter(planted("rsa private key", 1))).value
    text = f"a = 1\n{key}\nb = 2\n"
    lines = text.split("\n")
    start = len("\n".join(lines[:5])) + 1
    shown = SCREENER.mask_part(text, start, start + len("\n".join(lines[5:8])))
    assert shown.startswith("[REDACTED:private_key:")
    assert lines[6] not in shown
    assert SCREENER.mask_part(text, 0, 5) == "a = 1"
    assert SCREENER.mask_part(text, 0, len(text)) == SCREENER.mask(text)
