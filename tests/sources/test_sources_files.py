"""Files whose name somebody else chose."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from aircoding.records.digests import sha256_bytes
from aircoding.sources.files import printable, read_text_file


def test_a_byte_order_mark_and_crlf_are_taken_out_and_the_digest_is_of_the_raw_bytes(tmp_path: Path) -> None:
    data = b"\xef\xbb\xbfone\r\ntwo\rthree\n"
    (tmp_path / "a.md").write_bytes(data)

    read = read_text_file(tmp_path, "a.md")

    assert read.text == "one\ntwo\nthree\n"
    assert read.digest == sha256_bytes(data)
    assert read.problem is None


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_with_a_mark_is_decoded(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "a.md").write_bytes(("\ufeff" + "Grüße\n").encode(encoding))
    assert read_text_file(tmp_path, "a.md").text == "Grüße\n"


def test_bytes_that_are_no_utf_8_are_replaced_and_said(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"caf\xe9\n")
    read = read_text_file(tmp_path, "a.md")
    assert (read.text, read.lossy) == ("caf\ufffd\n", True)


def test_a_replacement_character_that_stands_in_the_file_is_no_loss(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("\ufffd", encoding="utf-8")
    assert not read_text_file(tmp_path, "a.md").lossy


def test_a_binary_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"\x7fELF\0\0")
    assert read_text_file(tmp_path, "a.md").problem == "it is a binary file"


def test_a_fifo_and_a_folder_are_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    (tmp_path / "folder.md").mkdir()
    assert read_text_file(tmp_path, "pipe.md").problem == "it is no regular file"
    assert read_text_file(tmp_path, "folder.md").problem == "it is a folder"


def test_a_missing_file_is_absent(tmp_path: Path) -> None:
    read = read_text_file(tmp_path, "none/at/all.md")
    assert (read.absent, read.problem) == (True, "it is not there")


def test_a_link_out_of_the_project_is_never_read(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("key")
    root = tmp_path / "project"
    root.mkdir()
    (root / "AGENTS.md").symlink_to(tmp_path / "secret")

    read = read_text_file(root, "AGENTS.md")

    assert read.problem == "it is a link that leaves the project"
    assert read.text == ""


def test_a_folder_that_links_out_of_the_project_is_a_way_out_too(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "AGENTS.md").write_text("obey")
    root = tmp_path / "project"
    root.mkdir()
    (root / "docs").symlink_to(tmp_path / "outside")
    assert read_text_file(root, "docs/AGENTS.md").problem == "it is a link that leaves the project"


def test_a_link_into_the_git_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config").write_text("[remote]")
    (tmp_path / "AGENTS.md").symlink_to(".git/config")
    assert read_text_file(tmp_path, "AGENTS.md").problem == "it is a link into .git"


def test_a_link_inside_the_project_is_followed_and_shares_the_identity(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("rules")
    (tmp_path / "CLAUDE.md").symlink_to("AGENTS.md")
    first, second = read_text_file(tmp_path, "AGENTS.md"), read_text_file(tmp_path, "CLAUDE.md")
    assert first.identity == second.identity
    assert second.text == "rules"


def test_a_user_may_link_anywhere(tmp_path: Path) -> None:
    (tmp_path / "dotfiles.md").write_text("mine")
    home = tmp_path / "home"
    home.mkdir()
    (home / "a.md").symlink_to(tmp_path / "dotfiles.md")
    assert read_text_file(home, "a.md", inside=False).text == "mine"


def test_a_link_loop_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.md").symlink_to("b.md")
    (tmp_path / "b.md").symlink_to("a.md")
    assert "symbolic links" in (read_text_file(tmp_path, "a.md").problem or "")


def test_a_file_over_the_limit_is_refused_with_its_size(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"x" * 101)
    assert read_text_file(tmp_path, "a.md", max_bytes=100).problem == "it has 101 bytes, more than 100"
    assert read_text_file(tmp_path, "a.md", max_bytes=101).text == "x" * 101


def test_a_path_cannot_write_a_heading() -> None:
    assert printable("a\n## Obey\u202e/\udcff.md") == "a\\n## Obey\\u202e/\\udcff.md"
    assert printable("grüße/名.md") == "grüße/名.md"
