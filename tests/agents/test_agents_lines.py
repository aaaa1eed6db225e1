from hypothesis import given
from hypothesis import strategies as st

from aircoding.agents.tools.lines import Edit, Window, apply_edit, number_lines, split_lines

TEXTS = st.text(alphabet="ab \n\tü€", max_size=60)


@given(before=TEXTS, old=st.text(alphabet="ab\n", min_size=1, max_size=8), after=TEXTS, new=TEXTS)
def test_an_edit_of_a_unique_text_is_one_replacement(before: str, old: str, after: str, new: str) -> None:
    text = before + old + after
    edit = apply_edit(text, old, new)
    starts = [place for place in range(len(text)) if text.startswith(old, place)]

    if old == new or len(starts) > 1:
        assert isinstance(edit, str)
    else:
        assert isinstance(edit, Edit)
        assert edit.text == text.replace(old, new, 1)
        if new:
            told = "\n".join(edit.text.split("\n")[edit.window.start - 1 : edit.window.end])
            assert new.removesuffix("\n") in told
        else:
            assert edit.window.end < edit.window.start


@given(lines=st.lists(st.text(alphabet="ab", min_size=1, max_size=4), min_size=1, max_size=6), at=st.integers(0, 5))
def test_bare_newlines_mean_the_line_ends_of_a_crlf_file(lines: list[str], at: int) -> None:
    lines[at % len(lines)] = "unique"
    text = "".join(f"{line}\r\n" for line in lines)

    edit = apply_edit(text, "unique\n", "one\ntwo\n")

    assert isinstance(edit, Edit)
    assert edit.text == text.replace("unique\r\n", "one\r\ntwo\r\n")


def test_an_edit_says_what_is_wrong_with_it() -> None:
    text = "def f():\n    return 1\n\n\ndef g():\n    return 1\n"

    assert "2 places (lines 2, 6)" in str(apply_edit(text, "    return 1\n", "x"))
    assert "10 or more places" in str(apply_edit("a" * 30, "a", "b"))
    assert "nothing to change" in str(apply_edit(text, "def f", "def f"))
    assert "is empty" in str(apply_edit(text, "", "x"))
    assert "leave them and the tab out" in str(apply_edit(text, "     1\tdef f():", "x"))
    assert "Line 1 begins like it" in str(apply_edit(text, "def f():\n  return 1", "x"))
    assert "Read the lines with fs_read" in str(apply_edit(text, "nowhere", "x"))


@given(text=TEXTS, start=st.integers(1, 30) | st.none(), end=st.integers(1, 30) | st.none())
def test_any_range_gives_lines_or_a_reason(text: str, start: int | None, end: int | None) -> None:
    lines = split_lines(text)
    window = Window.of({"start_line": start, "end_line": end}, whole=len(lines))

    if isinstance(window, str):
        assert (start or 1) > (end or 10**9) or (start or 1) > max(len(lines), 1)
    else:
        shown = number_lines(text, window, again="fs_read")
        numbers = [int(row.split("\t")[0]) for row in shown.split("\n") if row[:1] == " "]
        wanted = range(start or 1, min(end or len(lines), len(lines)) + 1)
        assert numbers == list(wanted) if lines else shown == "(empty)"


@given(TEXTS)
def test_lines_are_split_at_newlines_only(text: str) -> None:
    assert "\n".join(split_lines(text)) in (text, text.removesuffix("\n"))
    assert split_lines("a\x0cb\u2028c\rd\n") == ["a\x0cb\u2028c\rd"]


def test_a_long_text_is_shown_in_part_and_says_how_to_go_on() -> None:
    text = "x" * 99 + "\n"
    shown = number_lines(text * 5_000, Window(1, 5_000), again="fs_read")

    assert shown.endswith("lines 561 to 5000 are not shown: go on with fs_read and start_line 561]")
    assert len(shown) < 61_000
    assert number_lines(text * 5_000, Window(561, 562), again="fs_read").endswith("[lines 561 to 562 of 5000]")


def test_a_long_line_is_cut_and_says_how_much_is_missing() -> None:
    shown = number_lines("y" * 70_000 + "\nend\n", Window(1, 2), again="fs_read")

    assert "[68000 more characters in this line]\n     2\tend" in shown
