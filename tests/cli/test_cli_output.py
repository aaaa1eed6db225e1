"""What a terminal shows of somebody else's words: no line of ours can be forged with them."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aircoding.cli.output import table, visible, visible_line, visible_words

SEPARATORS = "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"


@pytest.mark.parametrize("char", [char for char in SEPARATORS if char != "\n"])
def test_every_end_of_a_line_but_our_own_is_an_escape(char: str) -> None:
    assert visible(f"a{char}b") == f"a\\u{{{ord(char):04x}}}b"


def test_a_cell_of_a_table_is_one_line() -> None:
    shown = table(("name", "why"), [("a\nyes  trusted", "b\u2028c")])
    assert shown.splitlines()[2:] == ["a\\nyes  trusted  b\\u{2028}c"]


@given(st.lists(st.text(st.one_of(st.sampled_from(SEPARATORS + "\t'\" "), st.characters())), min_size=1))
def test_words_stay_on_one_line(words: list[str]) -> None:
    shown = visible_words(words)
    assert len(shown.splitlines()) == 1
    assert visible_line("".join(words)).splitlines() in ([visible_line("".join(words))], [])


@given(st.lists(st.text(st.characters(min_codepoint=32, max_codepoint=126)), min_size=1))
def test_plain_words_can_be_told_apart(words: list[str]) -> None:
    assert shlex.split(visible_words(words)) == words
