"""fs_read, fs_edit, fs_write through the gate."""

import os

import pytest
from agents.conftest import Session
from agents.doubles import MARKED_SECRET, SECRET
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aircoding.records.digests import sha256_text


async def test_a_file_is_read_with_line_numbers_and_its_digest_is_remembered(session: Session) -> None:
    result = await session.use("fs_read", path="src/a.py", start_line=5, end_line=6)

    assert result.text == "     5\tdef two():\n     6\t    return 2\n[lines 5 to 6 of 6]"
    assert result.read_digests == {"src/a.py": sha256_text(session.text("src/a.py"))}


async def test_paths_are_taken_by_what_they_resolve_to(session: Session) -> None:
    os.symlink("a.py", session.root / "src" / "link.py")

    assert list((await session.use("fs_read", path="./src/../src/a.py")).read_digests) == ["src/a.py"]
    assert list((await session.use("fs_read", path="src/link.py")).read_digests) == ["src/a.py"]


@pytest.mark.parametrize(
    ("given_input", "told"),
    [
        ({"path": "src/none.py"}, "src/none.py"),
        ({"path": "src/a.py", "start_line": 9}, "src/a.py: It has 6 lines: start_line 9 is beyond the end."),
        ({"path": "src/a.py", "start_line": 3, "end_line": 2}, "lines count from 1, and start comes first"),
        ({"path": "src/a.py", "start_line": 0}, "The input of fs_read is not in order: start_line: 0 is less than"),
        ({"file": "src/a.py"}, "'path' is a required property"),
        ({"path": 3}, "path: 3 is not of type string"),
    ],
)
async def test_a_read_that_cannot_be_says_why(session: Session, given_input: dict[str, object], told: str) -> None:
    result = await session.use("fs_read", **given_input)

    assert result.is_error
    assert told in result.text
    assert result.read_digests == {}


async def test_bytes_that_are_no_text(session: Session) -> None:
    session.write("src/latin.py", b"name = '\xe9t\xe9'\n")
    session.write("src/wide.py", "name = 1\n".encode("utf-16"))
    session.write("src/data.bin", b"\x00\x01")

    latin = await session.use("fs_read", path="src/latin.py")
    edited = await session.use("fs_edit", path="src/latin.py", old_text="name", new_text="title")

    assert "not UTF-8" in latin.text
    assert edited.is_error
    assert "would damage it" in edited.text
    assert (session.root / "src" / "latin.py").read_bytes() == b"name = '\xe9t\xe9'\n"
    assert "name = 1" in (await session.use("fs_read", path="src/wide.py")).text
    assert "would damage it" in (await session.use("fs_write", path="src/wide.py", content="x")).text
    assert (await session.use("fs_read", path="src/data.bin")).text == (
        "fs_read: src/data.bin is binary. only text files can be read; use a command that describes it."
    )


async def test_what_the_policy_denies_is_not_read_and_the_denial_is_an_event(session: Session) -> None:
    result = await session.use("fs_read", path="key.pem")

    assert result.is_error
    assert result.text.startswith("Denied: ")
    assert "(`*.pem`, .air/shared/permissions.yaml:5)" in result.text
    assert "two secrets" not in result.text
    ((kind, payload),) = session.events
    assert kind == "permission.denied"
    assert (payload["tool"], payload["rule"], payload["line"]) == ("fs_read", "*.pem", 5)
    assert payload["file"] == "project:.air/shared/permissions.yaml"


async def test_a_path_outside_the_worktree_is_refused(session: Session) -> None:
    os.symlink("/etc", session.root / "src" / "etc")

    for path in ("/etc/hostname", "../outside.txt", "src/etc/hostname"):
        result = await session.use("fs_read", path=path)
        assert result.is_error, path


async def test_a_file_is_edited_after_it_was_read(session: Session) -> None:
    await session.use("fs_read", path="src/a.py")
    result = await session.use("fs_edit", path="src/a.py", old_text="return 1", new_text="return 10")

    assert result.text == "Edited src/a.py: line 2 is new."
    assert session.text("src/a.py") == "def one():\n    return 10\n\n\ndef two():\n    return 2\n"
    assert result.written_digests == {"src/a.py": sha256_text(session.text("src/a.py"))}


async def test_edits_in_a_row_need_one_read(session: Session) -> None:
    await session.use("fs_read", path="src/a.py", start_line=1, end_line=2)
    first = await session.use("fs_edit", path="src/a.py", old_text="return 1", new_text="return 1 + 0")
    second = await session.use("fs_edit", path="src/a.py", old_text="def two():\n    return 2\n", new_text="")

    assert not first.is_error
    assert second.text == "Edited src/a.py: text removed at line 5."
    assert session.text("src/a.py") == "def one():\n    return 1 + 0\n\n\n"


async def test_a_file_that_was_not_read_is_not_changed(session: Session) -> None:
    edited = await session.use("fs_edit", path="src/a.py", old_text="return 1", new_text="return 10")
    written = await session.use("fs_write", path="src/a.py", content="")

    assert edited.text == written.text
    assert "Read it with fs_read first" in edited.text
    assert "return 1\n" in session.text("src/a.py")


async def test_a_file_that_changed_meanwhile_is_not_changed(session: Session) -> None:
    await session.use("fs_read", path="src/a.py")
    session.write("src/a.py", "def one():\n    return 1\n# new\n")

    edited = await session.use("fs_edit", path="src/a.py", old_text="return 1", new_text="return 10")
    assert "has changed since you last read it" in edited.text

    await session.use("fs_read", path="src/a.py")
    again = await session.use("fs_edit", path="src/a.py", old_text="return 1", new_text="return 10")
    assert not again.is_error
    assert session.text("src/a.py") == "def one():\n    return 10\n# new\n"


async def test_a_new_file_is_written_with_its_folders_and_a_known_one_replaced(session: Session) -> None:
    created = await session.use("fs_write", path="src/new/b.py", content="b = 1\n")
    replaced = await session.use("fs_write", path="src/new/b.py", content="b = 2\n")
    same = await session.use("fs_write", path="src/new/b.py", content="b = 2\n")

    assert created.text == "Created src/new/b.py: 1 lines."
    assert replaced.text == "Wrote src/new/b.py: 1 lines."
    assert "holds exactly this text already" in same.text
    assert session.text("src/new/b.py") == "b = 2\n"


@pytest.mark.parametrize("path", ["README.md", "src/generated/x.py", ".git/hooks/post-commit", "../x", "/no/such/x"])
async def test_nothing_is_written_where_the_task_may_not(session: Session, path: str) -> None:
    before = sorted(session.root.parent.rglob("*"))
    result = await session.use("fs_write", path=path, content="x")

    assert result.is_error
    assert sorted(session.root.parent.rglob("*")) == before
    assert [kind for kind, _ in session.events] == ["permission.denied"]


async def test_a_role_without_a_tool_cannot_use_it(session: Session) -> None:
    session.under(tools=("fs_read", "finish"), may_write=False, write_area=())

    result = await session.use("fs_write", path="src/new.py", content="x")

    assert "has no fs_write. Your tools:" in result.text
    assert not (session.root / "src" / "new.py").exists()
    assert [kind for kind, _ in session.events] == ["permission.denied"]


async def test_a_tool_that_does_not_exist_is_answered_with_those_that_do(session: Session) -> None:
    result = await session.use("bash", command="ls")

    assert result.is_error
    assert "There is no tool 'bash'. Your tools: artifact_read, finish, fs_edit," in result.text


async def test_secrets_are_masked_on_reading_and_restored_on_editing(session: Session) -> None:
    session.write("src/conf.py", f"KEY = '{SECRET}'\nNAME = 'x'\n")

    shown = await session.use("fs_read", path="src/conf.py")
    edited = await session.use(
        "fs_edit",
        path="src/conf.py",
        old_text=f"KEY = '{MARKED_SECRET}'\nNAME = 'x'",
        new_text=f"NAME = 'y'\nKEY = '{MARKED_SECRET}'",
    )

    assert SECRET not in shown.text
    assert MARKED_SECRET in shown.text
    assert not edited.is_error
    assert session.text("src/conf.py") == f"NAME = 'y'\nKEY = '{SECRET}'\n"


async def test_a_marker_goes_only_back_to_where_it_came_from(session: Session) -> None:
    await session.use("fs_read", path="src/a.py")

    edited = await session.use("fs_edit", path="src/a.py", old_text="return 1", new_text=f"return '{MARKED_SECRET}'")
    written = await session.use("fs_write", path="src/k.py", content=MARKED_SECRET)

    assert "does not stand where this file has its secret" in edited.text
    assert edited.is_error
    assert written.is_error
    assert "return 1\n" in session.text("src/a.py")
    assert not (session.root / "src" / "k.py").exists()


async def test_a_marker_that_is_moved_doubled_or_cut_is_not_written(session: Session) -> None:
    before = f"KEY = '{SECRET}'\nURL = 'x'\n"
    session.write("src/conf.py", before)
    await session.use("fs_read", path="src/conf.py")
    kept = f"KEY = '{MARKED_SECRET}'\n"

    moved = await session.use("fs_write", path="src/conf.py", content=f"KEY = ''\nURL = '{MARKED_SECRET}'\n")
    doubled = await session.use("fs_edit", path="src/conf.py", old_text="'x'", new_text=f"'{MARKED_SECRET}'")
    cut = await session.use("fs_edit", path="src/conf.py", old_text="KEY = '[REDACTED:known:", new_text="KEY = '")
    forged = await session.use("fs_write", path="src/conf.py", content=kept.replace(MARKED_SECRET[-9:], "00000000]"))
    changed = await session.use("fs_write", path="src/conf.py", content=f"# more\n{kept}URL = 'y'\n")

    assert all(one.is_error for one in (moved, doubled, cut, forged))
    assert "ends inside a [REDACTED:…] marker" in cut.text
    assert not changed.is_error
    assert session.text("src/conf.py") == f"# more\nKEY = '{SECRET}'\nURL = 'y'\n"


async def test_names_of_files_and_words_of_errors_are_masked(session: Session) -> None:
    session.write(f"src/{SECRET}.py", "x = 1\n")

    listed = await session.use("fs_glob", pattern="src/*")
    missing = await session.use("fs_read", path=f"src/{SECRET}.none")

    assert f"src/{MARKED_SECRET}.py" in listed.text
    assert SECRET not in listed.text + missing.text


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    before=st.text(alphabet="ab\n ü", max_size=30), after=st.text(alphabet="ab\n ü", max_size=30), new=st.text("ab\n")
)
async def test_an_edit_changes_the_unique_text_and_nothing_else(
    session: Session, before: str, after: str, new: str
) -> None:
    text = f"{before}@@mark@@{after}"
    session.write("src/p.txt", text)

    await session.use("fs_read", path="src/p.txt")
    result = await session.use("fs_edit", path="src/p.txt", old_text="@@mark@@", new_text=new)

    assert not result.is_error
    assert session.text("src/p.txt") == text.replace("@@mark@@", new, 1)
