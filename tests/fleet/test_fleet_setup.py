"""Set-up of worktrees and commands of ours: once each, judged, with the worker's index; a failure is nobody's work."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fleet.worlds import Fleet, done, script, use, write

from aircoding.errors import ConfigError

Make = Callable[..., Fleet]
CHANGE = [script("executor", "A", write("a.txt", "good\n"), done())]


def task(**more: Any) -> dict[str, Any]:
    return {"id": "A", "title": "Word", "write_area": ["a.txt", "*.cache"], "verify": ["grep -q good a.txt"], **more}


def test_set_up_runs_once_in_each_worktree_that_runs_commands(fleet: Make) -> None:
    config = "[worktree]\nsetup = ['cp a.txt ready.cache']\n"
    other = {"id": "B", "title": "Other", "write_area": ["b.txt", "*.cache"], "verify": ["grep -q one ready.cache"]}
    run = fleet(
        [task(verify=["grep -q one ready.cache"]), other],
        [*CHANGE, script("executor", "B", write("b.txt", "b\n"), done())],
        config=config,
    )

    assert run.drive() == "done"

    worktrees = run.root / ".air/local/worktrees/r1"
    assert {path.parent.name for path in worktrees.glob("*/ready.cache")} == {"A-1", "B-1", "integration"}
    assert len(run.events("worktree.prepared")) == 3


def test_files_that_git_ignores_are_copied(fleet: Make) -> None:
    run = fleet([task(verify=["grep -q secret key.cache"])], CHANGE, config="[worktree]\ncopy = ['*.cache']\n")
    (run.root / "key.cache").write_text("a secret\n")

    assert run.drive() == "done"


def test_files_are_copied_through_no_link_of_the_worktree(fleet: Make, tmp_path: Path) -> None:
    run = fleet([task()], CHANGE)
    work, outside = tmp_path / "work", tmp_path / "outside"
    work.mkdir()
    outside.mkdir()
    (work / "key.cache").symlink_to(outside / "key")
    (run.root / "key.cache").write_text("a secret\n")
    run.deps().copy_files(("*.cache",), str(work))
    assert not (outside / "key").exists()

    (work / "sub").symlink_to(outside)
    (run.root / "sub").mkdir()
    (run.root / "sub/key.cache").write_text("a secret\n")
    with pytest.raises(ConfigError, match="sub is a link that leads out"):
        run.deps().copy_files(("sub/*.cache",), str(work))
    assert list(outside.iterdir()) == []


def test_failed_set_up_is_tried_twice_then_blocks_the_task_and_asks_no_agent(fleet: Make) -> None:
    run = fleet([task()], CHANGE, config="[worktree]\nsetup = ['cat nowhere.txt']\n")

    assert run.drive() == "failed"

    failures = run.events("setup.failed")
    assert [one.payload["command"] for one in failures] == ["cat nowhere.txt"] * 2
    assert "nowhere.txt" in (run.store.texts.get(failures[0].payload["output"]) or "")
    assert run.roles("A") == []
    assert run.state("A") == ("blocked", 1, "set-up `cat nowhere.txt`: exit code 1")


def test_a_set_up_command_that_the_policy_refuses_is_not_tried_again(fleet: Make) -> None:
    run = fleet([task()], CHANGE, config="[worktree]\nsetup = ['sudo true']\n")

    assert run.drive() == "failed"

    (denied,) = run.events("permission.denied")
    assert denied.payload["tool"] == "orchestrator"
    assert "sudo true" in denied.payload["act"]
    assert len(run.events("setup.failed")) == 1
    assert run.state("A")[2].startswith("set-up `sudo true`: the policy refuses it: ")


def test_set_up_that_changes_files_of_the_project_is_refused_with_the_way_out(fleet: Make) -> None:
    """Else the agent would have to answer for them, and they would be committed as its work."""
    run = fleet([task(write_area=["a.txt", "new.txt"])], CHANGE, config="[worktree]\nsetup = ['touch new.txt']\n")

    assert run.drive() == "failed"

    assert run.state("A")[2] == (
        "set-up changed files that git does not ignore: new.txt; commit them, or add them to .gitignore"
    )
    assert run.roles("A") == []


def test_commands_know_which_worker_they_serve(fleet: Make) -> None:
    tasks = [
        {"id": name, "title": name, "write_area": [f"{name}.txt"], "verify": ["printenv AIR_WORKER_INDEX COLOUR"]}
        for name in ("A", "B")
    ]
    scripts = [
        script(
            "executor",
            name,
            {**use("shell", command="printenv AIR_WORKER_INDEX COLOUR"), "delay_seconds": 0.5},
            done(),
        )
        for name in ("A", "B")
    ]
    run = fleet(
        tasks,
        scripts,
        config="[worktree]\nenv = {COLOUR = 'blue'}\n",
        files={".air/shared/permissions.yaml": "version: 1\ncommands: {allow: ['printenv *']}\n"},
    )

    assert run.drive() == "done"

    indices = {one.task_id: one.payload["worker_index"] for one in run.events("task.dispatched")}
    assert indices == {"A": 0, "B": 1}
    for name, index in indices.items():
        outputs = [run.store.texts.get(one.payload["output"]) for one in run.events("verify.finished", name)]
        assert outputs == [f"{index}\nblue\n"] * 2, "in the attempt's worktree, and after the merge"
        (call, *_) = run.store.tools.records(f"r1:{name}:1:executor:1")  # type: ignore[arg-type]
        assert call.result is not None
        assert call.result.text.startswith(f"{index}\nblue")


def test_a_verify_command_that_the_policy_refuses_blocks_the_task_and_asks_no_debugger(fleet: Make) -> None:
    run = fleet([task(verify=["sudo true"])], CHANGE)

    assert run.drive() == "failed"

    assert run.roles("A") == ["executor"]
    state, attempts, reason = run.state("A")
    assert (state, attempts) == ("blocked", 1)
    assert reason.startswith("`sudo true` failed: the policy refuses it: ")


def test_a_verify_command_without_an_end_is_stopped(fleet: Make) -> None:
    run = fleet([task(verify=["sleep 60"], retry={"max_attempts": 1, "escalate": []})], CHANGE)
    run.changes["command_timeout_seconds"] = 1.0

    assert run.drive() == "failed"
    assert run.state("A")[2] == "`sleep 60` failed: no end after 1 seconds"


def test_commands_that_the_policy_announces_are_announced(fleet: Make) -> None:
    run = fleet(
        [task(verify=["seq 3"])],
        CHANGE,
        files={".air/shared/permissions.yaml": "version: 1\ncommands: {announce: ['seq *']}\n"},
    )

    assert run.drive() == "done"

    assert all("seq 3" in one.payload["act"] for one in run.events("permission.announced"))
    assert run.events("permission.announced")
