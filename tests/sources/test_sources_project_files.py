"""Files below a project's root are written there and nowhere else, whatever links a repository holds."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from aircoding.errors import ConfigError
from aircoding.sources.project_files import (
    create_project_text,
    project_folder,
    replace_project_text,
    require_project_place,
)

NAME = ".air/shared/rules/house.md"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    (tmp_path / "outside").mkdir()
    return tmp_path / "project"


def test_a_file_is_made_once_and_replaced_with_its_rights(root: Path) -> None:
    assert create_project_text(root, NAME, "one\n")
    assert not create_project_text(root, NAME, "two\n")
    assert (root / NAME).read_text() == "one\n"
    (root / NAME).chmod(0o640)
    replace_project_text(root, NAME, "three\n")
    assert (root / NAME).read_text() == "three\n"
    assert (root / NAME).stat().st_mode & 0o777 == 0o640
    assert os.listdir((root / NAME).parent) == ["house.md"]
    replace_project_text(root, "new.md", "x")
    assert (root / "new.md").stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize("above", [".air", ".air/shared", ".air/shared/rules"])
@pytest.mark.parametrize("leads", ["outside", ".git"])
def test_nothing_is_written_below_a_link_that_leads_out_or_into_git(root: Path, above: str, leads: str) -> None:
    target = root.parent / "outside" if leads == "outside" else root / ".git"
    target.mkdir(exist_ok=True)
    (root / above).parent.mkdir(parents=True, exist_ok=True)
    (root / above).symlink_to(os.path.relpath(target, (root / above).parent))
    for write in (create_project_text, replace_project_text):
        with pytest.raises(ConfigError, match=above) as refused:
            write(root, NAME, "x")
        assert refused.value.hint
    with pytest.raises(ConfigError):
        project_folder(root, NAME)
    with pytest.raises(ConfigError):
        require_project_place(root, NAME, replaced=False)
    assert os.listdir(target) == []


@pytest.mark.parametrize("target", ["../outside/file", "inside", "nowhere", "house.md"])
def test_a_link_in_the_place_of_the_file_is_not_followed(root: Path, target: str) -> None:
    (root / "inside").write_text("inside")
    (root.parent / "outside" / "file").write_text("of the user")
    (root / "house.md").symlink_to(target)
    with pytest.raises(ConfigError, match=r"house\.md is a link"):
        replace_project_text(root, "house.md", "x")
    with pytest.raises(ConfigError, match=r"house\.md is a link"):
        require_project_place(root, "house.md", replaced=True)
    assert not create_project_text(root, "house.md", "x")
    assert (root / "inside").read_text() == "inside"
    assert (root.parent / "outside" / "file").read_text() == "of the user"
    assert not (root / "nowhere").exists()


def test_a_folder_may_be_a_link_that_stays_inside(root: Path) -> None:
    (root / "docs").mkdir()
    (root / ".air/shared").mkdir(parents=True)
    (root / ".air/shared/rules").symlink_to("../../docs")
    require_project_place(root, NAME, replaced=True)
    replace_project_text(root, NAME, "x")
    assert (root / "docs/house.md").read_text() == "x"
    assert project_folder(root, NAME) == (root / "docs").resolve()


@pytest.mark.parametrize("odd", ["file", "loop", "fifo"])
def test_what_is_no_folder_is_named(root: Path, odd: str) -> None:
    place = root / ".air"
    if odd == "file":
        place.write_text("x")
    elif odd == "loop":
        place.symlink_to(".air")
    else:
        os.mkfifo(place)
    for refuse in (
        lambda: require_project_place(root, NAME, replaced=False),
        lambda: create_project_text(root, NAME, "x"),
        lambda: replace_project_text(root, NAME, "x"),
    ):
        with pytest.raises(ConfigError, match=r"\.air is"):
            refuse()


def test_a_hard_link_keeps_its_other_name_as_it_was(root: Path) -> None:
    other = root.parent / "outside" / "file"
    other.write_text("of the user")
    os.link(other, root / "house.md")
    replace_project_text(root, "house.md", "x")
    assert (other.read_text(), (root / "house.md").read_text()) == ("of the user", "x")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_failure_leaves_nothing_behind(root: Path) -> None:
    root.chmod(0o500)
    try:
        with pytest.raises(OSError, match="denied"):
            replace_project_text(root, "house.md", "x")
        assert os.listdir(root) == []
    finally:
        root.chmod(0o700)
