"""What counts as being about a task."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.contexts import TASK, segment

from aircoding.context.relevance import NEUTRAL, relevance
from aircoding.rules.word_match import words_of

TASK_OF_PARSER = replace(
    TASK,
    title="Let parse_header accept folded lines",
    description="A header may go on in the next line.",
    acceptance=("folded headers are joined",),
    write_area=("src/mail/**",),
    reads=("src/mail/header.py:1-40", "docs/rfc.md"),
)


def of(*segments: object, touched: tuple[str, ...] = ()) -> list[float]:
    return relevance(segments, TASK_OF_PARSER, touched)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("parse_header", {"parse_header", "parse", "header"}),
        ("parseHTTPHeader2", {"parsehttpheader2", "parse", "http", "header", "2"}),
        ("word", {"word"}),
        ("größe_neu", {"größe_neu", "größe", "neu"}),
        ("調度器", {"調度器", "調度", "度器"}),
    ],
)
def test_a_name_counts_as_a_whole_and_in_its_parts(name: str, parts: set[str]) -> None:
    assert set(words_of(name).counts) == parts


def test_the_nearer_the_path_the_more_relevant() -> None:
    text = "nothing in common"
    inside, beside, above, away = of(
        segment(text, uri="project:src/mail/body/mime.py"),
        segment(text, uri="project:src/mail.py"),
        segment(text, uri="project:README.md"),
        segment(text, uri="project:web/app.js"),
    )

    assert inside > beside > above == away


def test_a_file_that_the_session_has_touched_is_as_near_as_one_that_the_task_names() -> None:
    away = segment("zebra", uri="project:web/[id].js")

    assert of(away, touched=("web/[id].js",)) == [0.5]
    assert of(away, touched=("web/other.js",)) == [0.25]
    assert of(away) == [0.0]


def test_of_two_texts_at_one_place_the_one_with_the_rarer_words_of_the_task_wins() -> None:
    common = "the lines of a text go on in the next of the lines"
    folded = segment("join folded header lines", uri="project:docs/a.md")
    others = [segment(f"{common} {n}", uri=f"project:docs/{n}.md") for n in range(5)]

    first, *rest = of(folded, *others)
    assert first > max(rest)


def test_length_and_repetition_win_little() -> None:
    short = segment("folded header", uri="project:docs/a.md")
    spam = segment("header " * 500, uri="project:docs/b.md")

    first, second = of(short, spam)
    assert first > second


def test_without_a_task_everything_is_equal() -> None:
    assert relevance([segment("a"), segment("b")], None, ()) == [NEUTRAL, NEUTRAL]


@given(st.lists(st.text("ab cdHeader_folded/ \n", max_size=40), max_size=12), st.randoms(use_true_random=False))
def test_it_lies_between_0_and_1_and_knows_no_order(texts: list[str], chance: random.Random) -> None:
    segments = [segment(text, uri=f"project:src/{number}.py") for number, text in enumerate(texts)]
    found = dict(zip([one.segment_id for one in segments], of(*segments), strict=True))

    assert all(0 <= value <= 1 for value in found.values())
    chance.shuffle(segments)
    assert dict(zip([one.segment_id for one in segments], of(*segments), strict=True)) == found
