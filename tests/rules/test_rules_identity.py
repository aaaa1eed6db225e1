"""The text of an identity: the line that mode minimal keeps, and where a text that is too long is cut."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aircoding.rules.identity import MAX_IDENTITY_CHARS, cut_identity, identity_line
from aircoding.sources.resources import read_resource


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("You are kind. Be brief.", "You are kind."),
        ("# Soul\n\nYou are kind! Really.\nMore.", "You are kind!"),
        ("One line without an end\nand another", "One line without an end"),
        ("Version 3.11 is meant. Yes.", "Version 3.11 is meant."),
        ("\u4f60\u5f88\u597d\u3002\u77ed\u4e00\u70b9\u3002", "\u4f60\u5f88\u597d\u3002"),
        ("#hashtag people", "#hashtag people"),
        ("", None),
        ("# Only\n## headings\n", None),
    ],
)
def test_the_line_of_an_identity_is_its_first_sentence(text: str, line: str | None) -> None:
    assert identity_line(text) == line


def test_the_line_of_the_packaged_identity_says_who_the_agent_is() -> None:
    assert identity_line(read_resource("init/soul.md")) == "You are a helpful personal agent."


@given(st.text())
def test_the_line_is_one_line_of_the_text_and_never_long(text: str) -> None:
    line = identity_line(text)
    if line is None:
        return
    assert 0 < len(line) <= 200
    assert len(line.splitlines()) == 1
    assert line in text or line.removesuffix("\u2026") in text


@given(st.text(), st.integers(0, 30_000))
def test_a_text_that_is_cut_says_how_much_is_left_out(text: str, more: int) -> None:
    whole = (text + "\nline" * (more // 5)).strip()
    kept, left_out = cut_identity(f"\n {text}" + "\nline" * (more // 5))
    assert len(kept) <= MAX_IDENTITY_CHARS
    assert whole.startswith(kept)
    assert len(kept) + left_out == len(whole)
    assert (left_out > 0) == (len(whole) > MAX_IDENTITY_CHARS)
