"""Texts of evidence: the right files, and never so much that a session cannot start."""

from __future__ import annotations

import subprocess
from pathlib import Path

from aircoding.fleet.briefs import cut_text, only_paths
from aircoding.workspace.worktree import GitWorktree


def test_only_the_parts_of_the_named_paths_are_kept(tmp_path: Path) -> None:
    names = ["a.txt", "dir/a.txt", "b.txt", "with space.txt"]
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"old {name}\n")
    identity = ("-c", "user.name=t", "-c", "user.email=t@t.invalid")
    for arguments in (("init", "-q"), ("add", "-A"), (*identity, "commit", "-qm", "x")):
        subprocess.run(["git", *arguments], cwd=tmp_path, check=True)
    for name in names:
        (tmp_path / name).write_text(f"diff --git a/b.txt b/b.txt\nnew {name}\n")
    diff = GitWorktree(str(tmp_path)).diff("HEAD")

    kept = only_paths(diff, ("a.txt", "with space.txt"))

    assert [line for line in kept.splitlines() if line.startswith("+new")] == ["+new a.txt", "+new with space.txt"]
    assert only_paths(diff, ()) == ""
    assert only_paths(diff, tuple(names)) == diff


def test_a_text_that_is_too_long_ends_at_a_line_and_says_what_is_left_out() -> None:
    text = "".join(f"line {number}\n" for number in range(20_000))

    cut = cut_text(text)

    *kept, note = cut.splitlines()
    assert text.startswith("\n".join(kept))
    assert note == f"[... {20_000 - len(kept)} more lines are left out; read the files themselves ...]"
    assert len(cut) < 61_000
    assert cut_text("short\n") == "short\n"
