"""The run's lock, the clock, and the facts that `doctor` shows."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from workspace.conftest import plain_git

from aircoding.errors import UsageError, WorkspaceError
from aircoding.workspace.clock import SystemClock
from aircoding.workspace.doctor_facts import machine_facts, unwritable, worktree_fault
from aircoding.workspace.locks import RunLock

HOLD = (
    "import sys, pathlib\n"
    "from aircoding.workspace.locks import RunLock\n"
    "with RunLock(pathlib.Path(sys.argv[1])):\n    print('held', flush=True)\n    sys.stdin.read()\n"
)


def test_a_second_process_is_refused_by_name_until_the_first_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "runs" / "r1.lock"
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(UsageError) as caught, RunLock(path):
            pass
        assert caught.value.code == "run.locked"
        assert f"process {holder.pid} " in caught.value.message
        holder.kill()
        holder.wait()
        with RunLock(path), pytest.raises(UsageError), RunLock(path):
            pass
    with RunLock(path):
        pass


def test_a_lock_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("a file")
    with pytest.raises(WorkspaceError, match=r"r1\.lock cannot be written"), RunLock(tmp_path / "runs" / "r1.lock"):
        pass


async def test_the_clock_says_utc_with_microseconds() -> None:
    clock = SystemClock()
    before = datetime.now(UTC)
    said = datetime.fromisoformat(clock.now())
    await clock.sleep(0)
    assert clock.now().endswith("Z")
    assert len(clock.now()) == len("2026-11-30T12:00:00.000000Z")
    assert abs((said - before).total_seconds()) < 60


def test_facts_of_this_machine(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    facts = machine_facts(project / "not" / "there", backend="none")
    assert facts.git is not None
    assert facts.git_suffices
    assert facts.free_bytes > 0
    assert facts.sandbox.backend == "none"
    monkeypatch.setenv("PATH", "/nowhere")
    assert machine_facts(project, backend="none").git is None


def test_worktrees_are_tried_without_a_trace(project: Path, tmp_path: Path) -> None:
    assert worktree_fault(project) == ""
    assert len(plain_git(project, "worktree", "list").splitlines()) == 1
    assert "not a git repository" in worktree_fault(tmp_path)


def test_whether_a_folder_can_be_written(tmp_path: Path) -> None:
    assert unwritable(tmp_path / "new" / "deep") == ""
    assert not (tmp_path / "new").exists()
    assert unwritable(Path("/proc/self")) != ""
