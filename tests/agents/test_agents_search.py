"""fs_glob and fs_grep through the gate."""

import os

from agents.conftest import Session
from agents.doubles import MARKED_SECRET, SECRET


async def test_a_glob_lists_what_git_would_track(session: Session) -> None:
    session.write("src/deep/b.py", "")
    session.write("src/c.log", "ignored")

    assert (await session.use("fs_glob", pattern="*.py")).text == "src/a.py\nsrc/deep/b.py"
    assert (await session.use("fs_glob", pattern="src/*.py")).text == "src/a.py"
    assert (await session.use("fs_glob", pattern="*.log")).text.startswith("No file matches *.log.")


async def test_a_glob_shows_at_most_its_limit(session: Session) -> None:
    for number in range(5):
        session.write(f"src/f{number}.txt", "")

    result = await session.use("fs_glob", pattern="*.txt", limit=2)

    assert result.text == "src/f0.txt\nsrc/f1.txt\n[3 more files match: narrow the pattern or raise limit]"


async def test_globs_that_cannot_be_read_are_named(session: Session) -> None:
    assert "'!x'" in (await session.use("fs_glob", pattern="!x")).text
    grepped = await session.use("fs_grep", text="x", paths=["src/**", "!x"])
    assert grepped.is_error
    assert "Write globs like" in grepped.text


async def test_a_text_is_found_literally_in_what_may_be_read(session: Session) -> None:
    session.write("src/b.py", "x = 'two()'\r\n")

    result = await session.use("fs_grep", text="two(")

    assert result.text == (
        "src/a.py:5: def two():\nsrc/b.py:1: x = 'two()'\n[1 files not searched: the policy does not let them be read]"
    )
    assert (await session.use("fs_grep", text="tw.")).text.startswith("No line with 'tw.' in ")


async def test_an_expression_is_matched_when_asked_for(session: Session) -> None:
    result = await session.use("fs_grep", text=r"^def \w+\(", regex=True, paths=["src/**"])
    broken = await session.use("fs_grep", text="(", regex=True, paths=["src/**"])

    assert result.text == "src/a.py:1: def one():\nsrc/a.py:5: def two():"
    assert broken.is_error
    assert "Leave regex out" in broken.text


async def test_a_search_says_what_it_left_out(session: Session) -> None:
    session.write("src/data.bin", b"one\x00")
    session.write("src/large.txt", b"one\n" * 600_000)
    session.write("src/many.txt", "one\n" * 9)

    result = await session.use("fs_grep", text="one", paths=["src/**"], limit=3)

    assert result.text.splitlines()[3:] == [
        "[more than 3 lines match: narrow the text or paths, or raise limit]",
        "[not searched, binary or over 2 MB: src/data.bin, src/large.txt]",
    ]


async def test_a_secret_is_neither_found_nor_shown(session: Session) -> None:
    session.write("src/conf.py", f"KEY = '{SECRET}' # the key\n")

    assert "No line" in (await session.use("fs_grep", text=SECRET[:12], paths=["src/**"])).text
    assert MARKED_SECRET in (await session.use("fs_grep", text="the key")).text


async def test_lines_are_searched_one_by_one_and_long_ones_cut(session: Session) -> None:
    session.write("src/long.txt", "needle" + "x" * 5_000 + "\n")

    assert (await session.use("fs_grep", text="a\nb")).is_error
    assert len((await session.use("fs_grep", text="needle", paths=["src/**"])).text) < 400


async def test_searching_changes_nothing_and_counts_as_no_read(session: Session) -> None:
    await session.use("fs_grep", text="return 1")
    edited = await session.use("fs_edit", path="src/a.py", old_text="return 1", new_text="return 3")

    assert "You have not read src/a.py" in edited.text


async def test_a_link_opens_no_way_round_the_policy(session: Session) -> None:
    os.symlink("../key.pem", session.root / "src" / "open.txt")

    assert (await session.use("fs_grep", text="two secrets")).text.startswith("No line with")
    assert (await session.use("fs_read", path="src/open.txt")).text.startswith("Denied: ")


async def test_file_names_that_are_not_utf_8_do_no_harm(session: Session) -> None:
    name = os.fsdecode(b"caf\xe9.txt")
    session.write(f"src/{name}", "coffee\n")
    session.write(name, "coffee\n")
    os.symlink(name, session.root / "src" / "plain.txt")

    assert "src/caf\ufffd.txt" in (await session.use("fs_glob", pattern="src/**")).text
    assert "src/caf\ufffd.txt:1: coffee" in (await session.use("fs_grep", text="coffee")).text
    assert "not UTF-8" in (await session.use("fs_read", path="src/plain.txt")).text
    assert "changed: caf\ufffd.txt." in (await session.use("shell", command="echo")).text
