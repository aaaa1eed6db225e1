"""Lines that block are taken out, and nothing else moves."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from aircoding.records.segments import Finding
from aircoding.screening.withholding import BLOCKED, withhold

LINES = st.lists(st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]), max_size=12), min_size=1)


def found(start: int, end: int, *, blocks: bool = True) -> Finding:
    return Finding(kind="override", code="x.y", start=0, end=0, start_line=start, end_line=end, blocks=blocks)


@st.composite
def screened(draw: st.DrawFn) -> tuple[list[str], list[Finding]]:
    lines = draw(LINES)
    number = st.integers(1, len(lines))
    pairs = draw(st.lists(st.tuples(number, number, st.booleans()), max_size=5))
    hits = [found(min(a, b), max(a, b), blocks=blocks) for a, b, blocks in pairs]
    return lines, sorted(hits, key=lambda one: (one.start_line, one.end_line))


@given(screened())
def test_each_line_that_blocks_is_gone_and_each_other_stands_where_it_stood(given_text: object) -> None:
    lines, hits = given_text  # type: ignore[misc]
    shown = withhold("\n".join(lines), hits, uri="project:a").split("\n")
    blocked = {n for hit in hits if hit.blocks for n in range(hit.start_line, hit.end_line + 1)}
    assert len(shown) == len(lines)
    for number, (was, now) in enumerate(zip(lines, shown, strict=True), start=1):
        if number in blocked:
            assert now == "" or BLOCKED.fullmatch(now)
        else:
            assert now == was
    starts = {n for n in blocked if n - 1 not in blocked}
    assert all(BLOCKED.fullmatch(shown[n - 1]) for n in starts)


def test_passages_that_meet_are_one_mark() -> None:
    text = "a\nb\nc\nd\ne\n"
    assert withhold(text, [found(2, 3), found(3, 4)], uri="project:x") == (
        "a\n[BLOCKED: override, project:x, lines 2-4]\n\n\ne\n"
    )
    assert withhold(text, [found(2, 3, blocks=False)], uri="project:x") == text
