"""Memory as entries: what is read is what was written, limits hold, one entry changes at a time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aircoding.errors import ConfigError, NotFoundError
from aircoding.rules.memory_entries import (
    MemoryKind,
    add_entry,
    edit_entry,
    file_text,
    heading,
    read_entries,
    remove_entry,
    used_chars,
)

ENTRY = (
    st.text(st.characters(exclude_categories=("C", "Z")) | st.sampled_from(" \n"), min_size=1, max_size=80)
    .map(str.strip)
    .filter(lambda text: bool(text) and not any(line.strip() == "\u00a7" for line in text.split("\n")))
)


def texts_of(text: str) -> tuple[str, ...]:
    return tuple(entry.text for entry in read_entries(text))


@given(st.lists(ENTRY, max_size=12))
def test_what_was_written_is_read_again(texts: list[str]) -> None:
    assert texts_of(file_text(texts)) == tuple(texts)


@given(st.text(max_size=300))
def test_any_text_is_read_and_every_word_of_it_is_in_an_entry(text: str) -> None:
    entries = read_entries(text)
    lines = text.split("\n")
    for entry in entries:
        assert "\n".join(lines[entry.start_line - 1 : entry.end_line]).strip() == entry.text
    kept = [word for one in entries for word in one.text.split()]
    assert kept == [word for line in lines if line.strip() != "\u00a7" for word in line.split()]


@given(st.lists(ENTRY, max_size=60), st.sampled_from(MemoryKind))
def test_no_addition_goes_over_the_limit_or_loses_an_entry(texts: list[str], kind: MemoryKind) -> None:
    held: tuple[str, ...] = ()
    for text in texts:
        if text not in held and used_chars((*held, text)) > kind.limit_chars:
            said = f"{used_chars(held)} of {kind.limit_chars} characters in {len(held)} entries"
            with pytest.raises(ConfigError, match=said):
                add_entry(kind, held, text)
            continue
        after = add_entry(kind, held, text)
        assert after in (held, (*held, text))
        assert used_chars(after) <= kind.limit_chars
        held = after


def test_the_heading_is_that_of_the_seed() -> None:
    assert heading(MemoryKind.NOTES, ["likes oat milk"]) == "MEMORY (your notes) \u2014 1% used, 14/2200 chars"
    assert heading(MemoryKind.USER, []) == "USER (about the person) \u2014 0% used, 0/1375 chars"


def test_e45_the_heading_has_plain_whole_numbers_and_an_entry_over_the_limit_is_refused() -> None:
    """E45: the seed has no separator of thousands, so none can differ from one machine to the next."""
    assert heading(MemoryKind.NOTES, ["x" * 1_474]) == "MEMORY (your notes) \u2014 67% used, 1474/2200 chars"
    assert heading(MemoryKind.NOTES, ["x" * 2_200]) == "MEMORY (your notes) \u2014 100% used, 2200/2200 chars"
    assert heading(MemoryKind.USER, ["x" * 1_375]) == "USER (about the person) \u2014 100% used, 1375/1375 chars"
    full = ("x" * 2_190,)
    with pytest.raises(ConfigError, match="2190 of 2200 characters"):
        add_entry(MemoryKind.NOTES, full, "y" * 10)
    assert add_entry(MemoryKind.NOTES, full, "y" * 7) == (*full, "y" * 7), (
        "what just fits, with its separator, is taken"
    )


def test_one_entry_is_found_by_its_words_and_only_one() -> None:
    texts = ("likes oat milk", "likes tea", "tea")
    assert edit_entry(MemoryKind.NOTES, texts, "oat", "likes soy milk")[0] == "likes soy milk"
    assert remove_entry(texts, "tea") == ("likes oat milk", "likes tea"), "one that says just that comes first"
    with pytest.raises(NotFoundError, match="2 entries hold `likes`"):
        remove_entry(texts, "likes")
    with pytest.raises(NotFoundError, match="no entry holds `coffee`"):
        remove_entry(texts, "coffee")
    with pytest.raises(NotFoundError):
        remove_entry(texts, " ")


@pytest.mark.parametrize("text", ["", " \n", "a\n\u00a7\nb", "a\x1b[31m", "a\udce9", "a\u202eb"])
def test_what_is_no_entry_is_refused(text: str) -> None:
    with pytest.raises(ConfigError):
        add_entry(MemoryKind.NOTES, (), text)


def test_a_store_over_its_limit_may_only_shrink() -> None:
    texts = ("x" * 3_000, "short")
    with pytest.raises(ConfigError, match="808 too many"):
        add_entry(MemoryKind.NOTES, texts[:1], "short!"[:5])
    assert edit_entry(MemoryKind.NOTES, texts, "xxx", "y" * 2_900) == ("y" * 2_900, "short")


@pytest.mark.parametrize("char", "\u2028\u2029\x85\x0b\x0c\x1c\x1d\x1e\x1f\x00\x1b\u202e\ud800")
def test_ends_of_lines_that_only_some_programs_know_are_no_text(char: str) -> None:
    with pytest.raises(ConfigError, match="cannot be seen"):
        add_entry(MemoryKind.NOTES, (), f"a{char}b")
    with pytest.raises(ConfigError, match="cannot be seen"):
        edit_entry(MemoryKind.NOTES, ("one",), "one", f"a{char}b")


@pytest.mark.parametrize("char", "\n\t\u00a0\u3000 ")
def test_blanks_of_any_script_are_text(char: str) -> None:
    assert add_entry(MemoryKind.NOTES, (), f"a{char}b") == (f"a{char}b",)
