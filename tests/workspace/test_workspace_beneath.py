"""The path that was checked is the path that is used, while someone swaps folders for links the whole time."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from aircoding.errors import PathRefusedError, WorkspaceError
from aircoding.workspace import beneath
from aircoding.workspace.worktree import GitWorktree

TRIES = 3_000
SWAP = """
import ctypes, sys
exchange = ctypes.CDLL(None).renameat2
folder, link = (one.encode() for one in sys.argv[1:])
print("ready", flush=True)
while True:
    exchange(-100, folder, -100, link, 2)
"""
"""Exchanges two names in one step, so that neither is ever missing."""


@contextmanager
def swapped(root: Path, outside: Path) -> Iterator[None]:
    """Let `root/folder` be now a folder, now a link to `outside`, as fast as a process can."""
    at, link = root / "folder", root / "link"
    os.symlink(outside, link)
    (at / "deep").mkdir(parents=True)
    (at / "deep" / "file").write_text("own")
    swapping = [sys.executable, "-I", "-S", "-c", SWAP, str(at), str(link)]
    with subprocess.Popen(swapping, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        try:
            yield
        finally:
            process.kill()


@pytest.mark.parametrize("kernel", [True, False], ids=["openat2", "walked"])
def test_no_swap_leads_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kernel: bool) -> None:
    if kernel and not beneath._has_openat2():
        pytest.skip("this kernel has no openat2")
    monkeypatch.setattr(beneath, "_has_openat2", lambda: kernel)
    monkeypatch.setattr(os, "fsync", lambda _descriptor: None)  # what is tried is where it writes, not when
    root, outside = tmp_path / "root", tmp_path / "outside"
    root.mkdir()
    (outside / "deep").mkdir(parents=True)
    (outside / "deep" / "file").write_text("planted")
    files = GitWorktree(str(root))
    got, refused = 0, 0

    with swapped(root, outside):
        for number in range(TRIES):
            try:
                if number % 2:
                    files.write("folder/deep/file", b"own")
                else:
                    assert files.read("folder/deep/file").text == "own"
                got += 1
            except (PathRefusedError, WorkspaceError):
                refused += 1

    assert (outside / "deep" / "file").read_text() == "planted"
    assert sorted(os.listdir(outside / "deep")) == ["file"]
    assert got > 0
    assert refused > 0


def test_a_file_with_two_names_and_what_is_no_file_are_refused(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "outside").write_text("planted")
    os.link(tmp_path / "outside", root / "mine")
    os.mkfifo(root / "pipe")
    files = GitWorktree(str(root))
    for path in ("mine", "pipe"):
        with pytest.raises(PathRefusedError):
            files.write(path, b"x")
    with pytest.raises(PathRefusedError, match="a pipe"):
        files.read("pipe")
    for path in (".GIT/config", ".Git/hooks/x", "src/.gIt/config", ".git ./x", ".g\u200bit/config"):
        with pytest.raises(PathRefusedError, match="belongs to git"):
            files.write(path, b"x")
    assert (tmp_path / "outside").read_text() == "planted"
