"""The README's transcript in somebody else's repository: its commands give what it shows."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.texts import REPOSITORY, assert_file_equals

TREES = REPOSITORY.parent / "shared" / "data" / "rule-trees"
README = REPOSITORY / "README.md"
SHOWN_LINES = 12
"""Of a longer answer the first lines are shown."""

pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not TREES.is_dir(), reason=f"the rule trees are not beside the checkout ({TREES.name})"),
]


@pytest.fixture
def koku(tmp_path: Path) -> Path:
    """The repository that the transcript clones: its rule files, and all its paths as empty files."""
    root = tmp_path / "koku"
    shutil.copytree(TREES / "koku", root, symlinks=True)
    for name in filter(None, (TREES / "koku.paths.txt").read_text().split("\n")):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@t.invalid"]
    for arguments in (["init", "-q"], ["add", "--all"], ["commit", "-q", "-m", "Start"]):
        subprocess.run([*git, *arguments], cwd=root, check=True, capture_output=True)
    return root


def test_the_transcript_is_true(koku: Path) -> None:
    """With AIR_UPDATE=1 it is written anew."""
    page = README.read_text()
    (block,) = re.findall(r"```text\n(\$ git clone .*?)```", page, re.DOTALL)
    clone, *commands = re.findall(r"^\$ (.*)$", block, re.MULTILINE)
    shown = [f"$ {clone}\n"]
    for command in commands:
        words = command.split()
        assert words[0] == "aircoding"
        done = subprocess.run(
            [sys.executable, "-m", *words], cwd=koku, capture_output=True, text=True, check=False, timeout=30
        )
        assert done.returncode == 0, done.stderr
        shown.append(f"$ {command}\n{_shortened(done.stdout)}")
    assert "decided at" in shown[-1], "it ends at the reason"
    assert_file_equals(README, page.replace(block, "".join(shown)))


def _shortened(text: str) -> str:
    lines = text.splitlines()
    kept = lines if len(lines) <= SHOWN_LINES else [*lines[:SHOWN_LINES], "…"]
    return "".join(f"{line}\n" for line in kept)
