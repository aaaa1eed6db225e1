"""Why a candidate was let in: what is written into a manifest is read back as it was, whatever files are called."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from aircoding.records.selections import CONVERSATION, Selection, in_words, read_selection

NAMES = st.one_of(
    st.text(),
    st.lists(st.sampled_from([", imported by ", ", imported", " by ", '"', "\\", "`", ",", " ", "a", "project:"])).map(
        "".join
    ),
)


@given(by=st.sampled_from(["profile", "trigger", "path", "tag"]), what=NAMES, importer=st.none() | NAMES)
@example(by="path", what="a, imported by b", importer="project:c")
@example(by="path", what='"a" and b', importer=None)
def test_what_is_written_is_read_back(by: str, what: str, importer: str | None) -> None:
    selection = Selection(by=by, what=what, importer=importer)
    assert read_selection(in_words(selection)) == selection


@given(NAMES)
def test_whatever_stands_there_is_read(words: str) -> None:
    assert isinstance(read_selection(words), Selection)


@pytest.mark.parametrize(
    ("selection", "words"),
    [
        (Selection(by="profile", what="executor"), "profile executor"),
        (Selection(by="trigger", what="roll out"), "trigger `roll out`"),
        (Selection(by="path", what="src/a.py"), "path src/a.py"),
        (Selection(by="tag", what="db, web"), "tag db, web"),
        (Selection(by=CONVERSATION), "conversation"),
        (
            Selection(by="profile", what="main", importer="project:CLAUDE.md"),
            "profile main, imported by project:CLAUDE.md",
        ),
    ],
)
def test_the_words_are_those_of_the_manifests_that_are_on_record(selection: Selection, words: str) -> None:
    assert in_words(selection) == words
    assert read_selection(words) == selection
