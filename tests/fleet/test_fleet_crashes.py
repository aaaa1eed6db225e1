"""A run whose process is killed after each kind of event: nothing recorded is lost, and nothing is done twice."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from fleet.worlds import Fleet, done, fixed, git, script, use, verdict, write
from support.replays import change_tree
from support.warm import run_warm

from aircoding.app.questions.replays import replay_contexts

Make = Callable[..., Fleet]

TASKS = [
    {
        "id": "A",
        "title": "First",
        "write_area": ["a.txt"],
        "verify": ["grep -q good a.txt"],
        "roles": ["reviewer"],
    },
    {"id": "B", "title": "Second", "write_area": ["a.txt"], "verify": ["grep -q B a.txt"]},
    {"id": "C", "title": "Last", "depends_on": ["A", "B"], "write_area": ["c.txt"]},
]
SCRIPTS = [
    script("executor", "A", write("a.txt", "bad\n"), done(), attempt=1),
    script("debugger", "A", write("a.txt", "good\n"), use("shell", command="cat a.txt"), fixed()),
    script("reviewer", "A", verdict("changes_requested", "say more"), attempt=1),
    script("executor", "A", write("a.txt", "good, more\n"), done(), attempt=2),
    script("reviewer", "A", verdict("approve"), attempt=2),
    script("executor", "B", write("a.txt", "B\n"), done()),
    script("debugger", "B", write("a.txt", "good, more, B\n"), fixed()),
    script("executor", "C", write("c.txt", "c\n"), done()),
]
DEADLY = (
    "task.dispatched",
    "worktree.prepared",
    "session.started",
    "session.finished",
    "commit.created",
    "verify.finished",
    "review.finished",
    "merge.finished",
    "attempt.finished",
    "run.finished",
)


def drive_in_a_process(root: Path, deadly: str | None) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    arguments = [str(root), *([deadly] if deadly else [])]
    return run_warm("fleet.driven", arguments, cwd=root, env=environment, timeout_seconds=120)


def rows(root: Path, query: str) -> list[tuple[object, ...]]:
    connection = sqlite3.connect(f"file:{root}/.air/local/air.db?mode=ro", uri=True)
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


def check_that_nothing_was_done_twice(run: Fleet) -> None:
    root = run.root
    committed = rows(root, "SELECT call_key, count(*) FROM model_calls WHERE state = 'committed' GROUP BY 1")
    assert {count for _, count in committed} == {1}
    assert not rows(root, "SELECT 1 FROM model_calls WHERE state = 'intended'"), "a call in flight is marked"
    assert not rows(root, "SELECT key FROM events WHERE key IS NOT NULL GROUP BY key HAVING count(*) > 1")
    assert not rows(root, "SELECT 1 FROM tool_runs GROUP BY tool_key HAVING count(*) > 1")
    subjects = git(root, "log", "--format=%s", f"{run.run.base_commit}..main").splitlines()
    assert sorted(one for one in subjects if one.startswith("Merge ")) == [
        "Merge A: First",
        "Merge B: Second",
        "Merge C: Last",
    ]


def check_the_end(run: Fleet) -> None:
    assert (run.file("a.txt"), run.file("c.txt")) == ("good, more, B", "c")
    assert [run.state(name)[0] for name in "ABC"] == ["done"] * 3
    assert run.roles("A") == ["executor", "debugger", "reviewer", "executor", "reviewer"]
    assert run.roles("B") == ["executor", "debugger"]
    check_that_nothing_was_done_twice(run)
    change_tree(run.root)
    replays = replay_contexts(run.root, None, whole_run=True)
    assert len(replays) == rows(run.root, "SELECT count(*) FROM assemblies")[0][0]
    assert [one for one in replays if not one.equal] == []


def test_a_run_that_is_killed_after_each_kind_of_event_ends_like_one_that_is_not(fleet: Make) -> None:
    run = fleet(TASKS, SCRIPTS)

    for deadly in DEADLY:
        ended = drive_in_a_process(run.root, deadly)
        assert ended.returncode == -signal.SIGKILL, f"{deadly}: {ended.stdout}{ended.stderr}"
    ended = drive_in_a_process(run.root, None)

    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "done\n", "")
    check_the_end(run)


@pytest.mark.chaos
@pytest.mark.parametrize("deadly", DEADLY)
def test_a_run_that_is_killed_again_and_again_at_one_kind_of_event_comes_to_an_end(fleet: Make, deadly: str) -> None:
    """Each life does something that is kept. Only the end itself is said again by each life that is killed at it."""
    run = fleet(TASKS, SCRIPTS)

    for _ in range(30):
        ended = drive_in_a_process(run.root, None if run.events("run.finished") else deadly)
        if ended.returncode == 0:
            break

    assert (ended.stdout, ended.stderr) == ("done\n", "")
    check_the_end(run)
