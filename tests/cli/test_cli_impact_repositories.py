"""Repositories that do not hold all that they name: what is said of it, and that nothing stays behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from support.projects import make_commit, make_project, write_tree

from aircoding.app.impact import ImpactRequest, find_impact
from aircoding.cli.main import main

POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "0" * 64 + "\nsize 10\n"


def git(root: Path, *arguments: str) -> str:
    settings = ["-c", "protocol.file.allow=always", "-c", "user.name=t", "-c", "user.email=t@t.invalid"]
    return subprocess.run(
        ["git", "-C", str(root), *settings, *arguments], check=True, capture_output=True, text=True
    ).stdout


def ended(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 2) -> str:
    """Return what the command said when it ended with a code."""
    with pytest.raises(SystemExit) as found:
        main(["context", "impact", *arguments])
    assert found.value.code == code
    said = capsys.readouterr().err
    assert "Traceback" not in said
    return said


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = make_commit(make_project(tmp_path / "p", {"AGENTS.md": "# Rules\nBe brief.\n", "a/x.py": "x = 1\n"}))
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[str]]:
    """Give the folders that were left where private ones are made."""
    folder = tmp_path / "private"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return lambda: sorted(path.name for path in folder.iterdir())


def test_the_files_of_a_submodule_are_not_looked_at(root: Path, tmp_path: Path) -> None:
    inner = make_commit(make_project(tmp_path / "inner", {"AGENTS.md": "Inner.\n"}))
    git(root, "submodule", "--quiet", "add", str(inner), "lib")
    make_commit(root)
    write_tree(root, {"lib/AGENTS.md": "Changed inside.\n"})
    for head in (None, "HEAD"):
        found = find_impact(ImpactRequest(start=root, base="HEAD", head=head))
        assert found.effects == ()
        assert "lib is a submodule: its files are not looked at" in found.notes
    gone = find_impact(ImpactRequest(start=root, base="HEAD~1", head="HEAD"))
    assert {one.path: one.status for one in gone.files} == {".gitmodules": "added", "lib": "added"}
    assert gone.effects == ()


def test_a_pointer_of_large_file_storage_is_said_to_be_one(root: Path) -> None:
    write_tree(root, {"a/AGENTS.md": POINTER})
    make_commit(root)
    notes = find_impact(ImpactRequest(start=root, base="HEAD")).notes
    assert notes == ("a/AGENTS.md is kept in large file storage: its text was not fetched",)


def test_a_base_that_a_shallow_clone_does_not_have(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = git(root, "rev-parse", "HEAD").strip()
    write_tree(root, {"AGENTS.md": "x\n"})
    make_commit(root)
    git(tmp_path, "clone", "--quiet", "--depth", "1", f"file://{root}", "shallow")
    monkeypatch.chdir(tmp_path / "shallow")
    for base in ("HEAD~1", before):
        said = ended(capsys, "--base", base)
        assert f"{base} names no commit of this clone" in said
        assert "fetch-depth: 0" in said


def test_a_file_that_a_partial_clone_did_not_fetch(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    git(root, "config", "uploadpack.allowFilter", "true")
    write_tree(root, {"AGENTS.md": "x\n"})
    make_commit(root)
    for kind, what in (("blob:none", "AGENTS.md as it is in HEAD~1"), ("tree:0", "a folder of HEAD~1")):
        folder = kind.replace(":", "-")
        git(tmp_path, "clone", "--quiet", f"--filter={kind}", f"file://{root}", folder)
        monkeypatch.chdir(tmp_path / folder)
        said = ended(capsys, "--base", "HEAD~1", code=3)
        assert f"{what} is not in this clone" in said
        assert "git fetch --refetch" in said


def test_an_object_that_is_lost(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lost = git(root, "rev-parse", "HEAD:AGENTS.md").strip()
    (root / ".git/objects" / lost[:2] / lost[2:]).unlink()
    said = ended(capsys, "--base", "HEAD", code=3)
    assert "AGENTS.md as it is in HEAD is not in this clone" in said
    assert "git fsck" in said


def test_a_repository_without_a_commit_and_a_folder_without_a_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(make_project(tmp_path / "new", {"AGENTS.md": "x\n"}))
    assert "HEAD names no commit" in ended(capsys, "--base", "HEAD")
    (tmp_path / "plain").mkdir()
    monkeypatch.chdir(tmp_path / "plain")
    assert "is no git repository" in ended(capsys, "--base", "HEAD")


def test_nothing_stays_behind_after_an_error(
    root: Path, places: Callable[[], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []

    def broken(*_: object) -> None:
        seen.append(len(places()))
        raise RuntimeError("planted")

    monkeypatch.setattr("aircoding.app.impact._compared", broken)
    with pytest.raises(RuntimeError, match="planted"):
        find_impact(ImpactRequest(start=root, base="HEAD"))
    assert seen == [2]
    assert places() == []
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


_WAITS = """
import sys, time
from pathlib import Path
from aircoding.app.sides import open_revision, open_working_tree
with open_revision(Path(sys.argv[1]), "HEAD"), open_working_tree(Path(sys.argv[1])):
    print("open", flush=True)
    time.sleep(60)
"""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, -signal.SIGINT)], ids=str)
def test_nothing_stays_behind_when_it_is_stopped(
    number: int, code: int, root: Path, places: Callable[[], list[str]]
) -> None:
    waiting = subprocess.Popen(
        [sys.executable, "-c", _WAITS, str(root)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=dict(os.environ),
    )
    with waiting:
        assert waiting.stdout is not None
        assert waiting.stdout.readline() == b"open\n"
        assert len(places()) == 2
        waiting.send_signal(number)
        assert waiting.wait(timeout=50) == code
    assert places() == []
