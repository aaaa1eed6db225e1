"""Short forms keep whole lines from both ends and say exactly what is missing."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aircoding.records.layers import SegmentKind
from aircoding.sources.excerpts import EXCERPT_BYTES, reference_line, shorten

GAP = re.compile(r"\n\[… (.+) left out, (\d+) of (\d+) bytes …\]\n")
OUTPUTS = (SegmentKind.DIAGNOSTIC, SegmentKind.FAILURE, SegmentKind.TOOL_RESULT)

kinds = st.sampled_from([SegmentKind.FILE, SegmentKind.RULE, *OUTPUTS])
short_lines = st.lists(st.text(alphabet="abc äß名🙂\t", max_size=60), min_size=1, max_size=300).map("\n".join)
endless_lines = st.lists(
    st.tuples(st.text(alphabet="aé名🙂", min_size=1, max_size=5), st.integers(1, 1500)), min_size=1, max_size=4
).map(lambda parts: "\n".join(piece * times for piece, times in parts))
texts = st.tuples(st.one_of(short_lines, endless_lines), st.sampled_from(["", "\n", "\n\n"])).map("".join)


@given(texts, st.integers(1, 10_000), kinds)
@settings(deadline=None)
def test_an_excerpt_is_head_and_tail_of_the_text_and_a_line_that_accounts_for_the_rest(
    text: str, start_line: int, kind: SegmentKind
) -> None:
    short = shorten(text, start_line, kind=kind)
    size_bytes = len(text.encode())
    if short is None:
        assert size_bytes <= EXCERPT_BYTES * 1.25
        return
    found = GAP.search(short)
    assert found is not None
    named, left_out, total = found[1], int(found[2]), int(found[3])
    head, tail = short[: found.start()], short[found.end() :]
    if not text.startswith(head + "\n") or "end of line" in named or "middle" in named:
        assert text.startswith(head), "the head is cut inside its line"
    else:
        head += "\n"
    assert text.endswith(tail)
    assert total == size_bytes
    assert left_out == size_bytes - len(head.encode()) - len(tail.encode())
    missing = text[len(head) : len(text) - len(tail)]
    first = start_line + head.count("\n")
    last = first + missing.removesuffix("\n").count("\n")
    numbers = [int(number) for number in re.findall(r"\d+", named)]
    assert (numbers[0], numbers[-1]) == (first, last)
    assert len(short.encode()) < size_bytes
    assert shorten(short, start_line, kind=kind) is None, "an excerpt is not cut again"


@given(short_lines, kinds)
@settings(deadline=None)
def test_lines_that_fit_are_never_cut_inside(text: str, kind: SegmentKind) -> None:
    short = shorten(text, kind=kind)
    if short is not None:
        shown = [line for line in short.split("\n") if not line.startswith("[…")]
        assert set(shown) <= set(text.split("\n"))


@pytest.mark.parametrize("kind", OUTPUTS)
def test_of_an_output_the_end_is_worth_more_than_the_beginning(kind: SegmentKind) -> None:
    text = "".join(f"line {number} of the build\n" for number in range(1, 1001))
    output, code = shorten(text, kind=kind), shorten(text, kind=SegmentKind.FILE)

    assert output is not None
    assert code is not None
    assert output.endswith("line 1000 of the build\n")
    (head, tail), (code_head, code_tail) = (GAP.split(short)[::4] for short in (output, code))
    assert len(tail) > 3 * len(head)
    assert len(code_head) > 2 * len(code_tail)


def test_a_huge_last_line_of_an_output_is_cut_at_a_character_and_its_end_is_kept() -> None:
    text = "running\n" + "é" * 4_000 + " AssertionError\n"

    short = shorten(text, kind=SegmentKind.FAILURE)

    assert short is not None
    assert short.startswith("running\n[… the start of line 2 left out, ")
    assert short.endswith("é AssertionError\n")


def test_one_endless_line_keeps_both_ends_and_its_number() -> None:
    short = shorten("a" + "名" * 4_000 + "z", 7)

    assert short is not None
    assert "\n[… the middle of line 7 left out, " in short
    assert (short[0], short[-1]) == ("a", "z")


def test_a_reference_names_source_and_lines() -> None:
    assert reference_line("src/a.py", start_line=3, end_line=9) == (
        "[not shown here; the text stands in src/a.py, lines 3-9]"
    )
