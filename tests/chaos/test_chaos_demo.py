"""Kill the demo at random moments: nothing recorded is lost, nothing committed is done twice."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from support.demo_runs import demo_project, final_tree, kill_and_resume, rows
from support.recorded_demo import recorded_demo
from support.replays import assert_all_replayed, changed_program


@pytest.fixture(scope="module")
def undisturbed_tree(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The tree that the demo leaves when nobody disturbs it."""
    return final_tree(recorded_demo(tmp_path_factory))


@pytest.fixture(scope="module")
def other_program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program with other prompts, rules and tools."""
    return changed_program(tmp_path_factory.mktemp("other") / "program")


def _check(root: Path, tree: str, other_program: Path) -> None:
    assert final_tree(root) == tree
    states = dict(rows(root, "SELECT task_id, state FROM tasks"))  # type: ignore[arg-type]
    assert [task for task, state in states.items() if state != "done"] == ["T12"]
    committed = rows(root, "SELECT call_key, count(*) FROM model_calls WHERE state = 'committed' GROUP BY 1")
    assert {count for _, count in committed} == {1}, "a committed call was repeated"
    open_calls = rows(root, "SELECT call_key FROM model_calls WHERE state = 'intended'")
    assert not open_calls, "a call in flight at a kill is not marked"
    unmarked = rows(root, "SELECT call_key FROM model_calls WHERE state = 'abandoned' AND NOT maybe_billed")
    assert not unmarked
    applied = rows(root, "SELECT tool_key, count(*) FROM tool_runs GROUP BY 1 HAVING count(*) > 1")
    assert not applied
    merges = rows(root, "SELECT task_id, count(*) FROM events WHERE type = 'task.done' GROUP BY 1 HAVING count(*) > 1")
    assert not merges
    assert_all_replayed(root, other_program)


@pytest.mark.parametrize("seed", [1, 2])
def test_a_run_that_is_killed_twice_ends_as_if_nothing_had_happened(
    tmp_path: Path, undisturbed_tree: str, other_program: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AIR_SANDBOX__ALLOW_UNCONFINED", "true")
    root = demo_project(tmp_path / "project")

    ended = kill_and_resume(root, 2, random.Random(seed), longest_seconds=4.0)

    assert ended.code == 1, ended.output
    _check(root, undisturbed_tree, other_program)


@pytest.mark.chaos
@pytest.mark.parametrize("seed", range(10))
def test_twenty_kills(
    tmp_path: Path, undisturbed_tree: str, other_program: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ten runs, each killed twice or more: twenty kills at random moments in all."""
    monkeypatch.setenv("AIR_SANDBOX__ALLOW_UNCONFINED", "true")
    root = demo_project(tmp_path / "project")

    ended = kill_and_resume(root, 2 + seed % 3, random.Random(100 + seed), longest_seconds=4.0)

    assert ended.code == 1, ended.output
    _check(root, undisturbed_tree, other_program)
