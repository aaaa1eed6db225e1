"""Recall by topic: what a request is about, and which entries speak of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aircoding.rules.memory_recall import recall, request_topics, topic_entries

WORDS = st.sampled_from(["parser", "cache", "redis", "tea", "the", "fix", "parseHeader", "money", "\u7f13\u5b58"])
TEXTS = st.lists(WORDS, max_size=8).map(" ".join)


def topics(title: str, *, description: str = "", tags: tuple[str, ...] = (), paths: tuple[str, ...] = ()) -> set[str]:
    return set(request_topics(title=title, description=description, tags=tags, paths=paths))


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        (topics("Fix the parser in all files"), {"parser"}),
        (topics("Change it"), set()),
        (topics("Make parseHeader 2 faster"), {"parseheader", "parse", "header", "faster"}),
        (
            topics("x", tags=("money",), paths=("src/billing/**", "tests/test_vat.py:1-80")),
            {"money", "billing", "vat", "test_vat"},
        ),
        (topics("\u7f13\u5b58"), {"\u7f13\u5b58"}),
    ],
)
def test_topics_are_the_words_that_not_every_request_has(asked: set[str], found: set[str]) -> None:
    assert asked == found


def matches(request: str, *entries: tuple[str, str], wide: bool = True) -> list[tuple[str, ...]]:
    return [one.topics for one in recall(frozenset(topics(request)), entries, wide=wide)]


@pytest.mark.parametrize(
    ("request_text", "title", "text", "shared"),
    [
        ("Cache the parser", "Parser", "Nothing else.", ("parser",)),
        ("Cache the parser", "", "The parser has a cache.", ("cache", "parser")),
        ("Cache the parser", "", "The parser is slow.", ()),
        ("Mend the parser", "", "The parser is slow.", ()),
        ("The parser", "", "The parser is slow.", ("parser",)),
        ("Cache the parser", "Printing", "Paper is in the cellar.", ()),
        ("Fix it", "Fix", "How to fix it.", ()),
    ],
    ids=["title", "two words", "one word of two", "one of two again", "the only topic", "nothing", "stop words"],
)
def test_an_entry_matches_by_its_title_or_by_two_topics(
    request_text: str, title: str, text: str, shared: tuple[str, ...]
) -> None:
    assert matches(request_text, (title, text)) == [shared]


def test_an_entry_of_a_small_store_matches_by_one_topic() -> None:
    assert matches("Cache the parser", ("", "The parser is slow."), ("", "tea"), wide=False) == [("parser",), ()]


def test_what_says_more_of_the_request_ranks_first() -> None:
    entries = [("", "parser " + "other " * 30), ("", "parser cache"), ("", "parser cache redis " * 2)]
    scores = [one.score for one in recall(frozenset({"parser", "cache", "redis"}), entries, wide=False)]
    assert scores.index(max(scores)) == 2
    assert scores[0] == min(scores)


@given(TEXTS, TEXTS, TEXTS, TEXTS)
def test_a_longer_request_loses_no_match_by_title(request_text: str, more: str, title: str, text: str) -> None:
    if set(topics(request_text)) & set(topics(title)):
        assert matches(f"{request_text} {more}", (title, text)) != [()]


@given(TEXTS, st.lists(st.tuples(TEXTS, TEXTS), max_size=6), st.booleans())
def test_what_matches_shares_topics_and_the_rest_shares_too_few(
    request_text: str, entries: list[tuple[str, str]], wide: bool
) -> None:
    asked = frozenset(topics(request_text))
    said = recall(asked, entries, wide=wide)
    assert len(said) == len(entries)
    for one, (title, text) in zip(said, entries, strict=True):
        assert set(one.topics) <= asked
        assert 0 <= one.score <= 1
        if not one.topics:
            assert one.score == 0
            assert not asked & topics(title)
            assert len(asked & topics(text)) < (min(2, len(asked)) or 1)


FILE = """---
description: x
---
One thing
on two lines.

```
a

b
```

## Section ##

Words.

More words.
"""


def test_a_topic_file_is_its_paragraphs_and_then_its_sections() -> None:
    found = topic_entries(FILE, "a.md")
    assert [(one.name, one.title, one.start_line, one.end_line) for one in found] == [
        ("_1", "", 4, 5),
        ("_2", "", 7, 11),
        ("section", "Section", 13, 17),
    ]
    lines = FILE.split("\n")
    assert all(one.text == "\n".join(lines[one.start_line - 1 : one.end_line]) for one in found)


def test_an_unclosed_header_is_text_like_any_other() -> None:
    """E04: nothing of a note is lost for a header that cannot be read."""
    assert [one.text for one in topic_entries("---\nkey: value\n\nWords.", "a.md")] == ["---\nkey: value", "Words."]


@given(st.text(alphabet=st.sampled_from("ab#`~ \n-"), max_size=80))
def test_no_words_of_a_file_without_a_header_are_lost(text: str) -> None:
    entries = topic_entries("\n" + text, "a.md")
    shown = {number for one in entries for number in range(one.start_line, one.end_line + 1)}
    for number, line in enumerate(("\n" + text).split("\n"), 1):
        assert number in shown or not line.strip()
    assert len({one.name for one in entries}) == len(entries)
