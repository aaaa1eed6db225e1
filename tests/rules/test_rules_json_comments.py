"""JSON with comments: what editors write is read, what is no JSON is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aircoding.rules.json_comments import parse_json_with_comments

VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(alphabet='a/*",\\\n}] ')),
    lambda inner: st.one_of(st.lists(inner), st.dictionaries(st.text(alphabet='a/*"'), inner)),
    max_leaves=8,
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1, // one\n}', {"a": 1}),
        ('[1, /* two\n, */ 2,]', [1, 2]),
        ('{"u": "https://x/*"}', {"u": "https://x/*"}),
        ('{"a": "b,}" , }', {"a": "b,}"}),
    ],
)  # fmt: skip
def test_comments_and_trailing_commas_are_passed_over(text: str, value: Any) -> None:
    assert parse_json_with_comments(text) == value


@pytest.mark.parametrize("text", ["", "{", "[,]", "/* open", "[" * 100_000])
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        parse_json_with_comments(text)


@given(VALUES)
def test_plain_json_stays_what_it_is(value: Any) -> None:
    assert parse_json_with_comments(json.dumps(value, indent=1)) == value
