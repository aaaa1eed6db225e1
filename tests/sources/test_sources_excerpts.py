"""Short forms keep whole lines and say what is missing."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from aircoding.sources.excerpts import EXCERPT_BYTES, shorten

GAP = re.compile(r"\[… lines (\d+)-(\d+) left out, (\d+) of (\d+) bytes …\]")

lines = st.lists(st.text(alphabet="abc äß名 \t", max_size=60), min_size=1, max_size=400)


@given(lines, st.integers(1, 10_000))
def test_head_and_tail_are_lines_of_the_text_and_the_gap_names_all_that_lies_between(
    text_lines: list[str], start_line: int
) -> None:
    text = "\n".join(text_lines)
    short = shorten(text, start_line)
    size_bytes = len(text.encode())
    if short is None:
        assert size_bytes <= EXCERPT_BYTES * 1.25
        return
    shown = short.split("\n")
    gap = next(number for number, line in enumerate(shown) if GAP.fullmatch(line))
    first, last, left_out, total = map(int, GAP.fullmatch(shown[gap]).groups())  # type: ignore[union-attr]
    tail = len(shown) - gap - 1
    assert shown[:gap] == text_lines[:gap]
    assert shown[gap + 1 :] == text_lines[len(text_lines) - tail :]
    assert (first, last) == (start_line + gap, start_line + len(text_lines) - tail - 1)
    assert left_out == len("\n".join(text_lines[gap : len(text_lines) - tail]).encode())
    assert total == size_bytes
    assert len(short.encode()) < size_bytes


@given(st.text(alphabet="aé名", min_size=1, max_size=9))
def test_one_endless_line_is_cut_at_a_character(piece: str) -> None:
    line = piece * 4_000
    short = shorten(line, 7)
    assert short is not None
    kept, note = short.split("\n")
    assert line.startswith(kept)
    assert "cut in line 7" in note
    assert len(short.encode()) < EXCERPT_BYTES
