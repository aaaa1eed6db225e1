"""Real repositories in a temporary folder, and a git of the tests' own that is not hardened."""

from __future__ import annotations

import asyncio
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from aircoding.workspace.repository import GitRepository, open_repository


def plain_git(root: Path, *arguments: str, check: bool = True) -> str:
    """Run git as a person would, and return its output."""
    done = subprocess.run(["git", *arguments], cwd=root, check=check, capture_output=True)
    return done.stdout.decode("utf-8", "surrogateescape").rstrip("\n")


async def until(holds: Callable[[], bool], seconds: float = 10.0) -> bool:
    """Wait until something holds, or say that it did not."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if holds():
            return True
        await asyncio.sleep(0.02)
    return False


def sleepers(seconds: str) -> list[str]:
    """Return the processes that are `sleep SECONDS`, wherever they run."""
    found = []
    for folder in Path("/proc").iterdir():
        try:
            if (folder / "cmdline").read_bytes() == f"sleep\0{seconds}\0".encode():
                found.append(folder.name)
        except OSError:
            continue
    return found


@pytest.fixture(autouse=True)
def own_git_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let no git of a test read the settings of the person who runs it."""
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text(
        "[user]\n\tname = Pat\n\temail = pat@example.invalid\n[init]\n\tdefaultBranch = main\n"
    )
    monkeypatch.setenv("HOME", str(home))
    for name in [name for name in os.environ if name.startswith(("GIT_", "XDG_"))]:
        monkeypatch.delenv(name)
    return home


@pytest.fixture
def project(tmp_path: Path, own_git_home: Path) -> Path:
    """A repository with one commit."""
    root = tmp_path / "project"
    (root / "src").mkdir(parents=True)
    (root / "src" / "a.py").write_text("one\ntwo\nthree\n")
    (root / "README.md").write_text("Words.\n")
    (root / ".gitignore").write_text("*.log\n")
    plain_git(root, "init", "-q")
    plain_git(root, "add", "-A")
    plain_git(root, "commit", "-q", "-m", "First")
    return root


@pytest.fixture
def repository(project: Path) -> GitRepository:
    return open_repository(project)


@pytest.fixture
def make_worktree(repository: GitRepository) -> Callable[..., Path]:
    """Makes the worktree of an attempt at HEAD or another commit."""

    def make(name: str = "t-1", commit: str | None = None) -> Path:
        root = repository.add_worktree(f"r1/{name}", branch=f"air/r1/{name}", commit=commit or repository.head())
        return Path(root)

    return make
