"""The demo as a user sees it, and the questions that its record answers."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.demo_runs import RUN, air, final_tree, rows, run
from support.recorded_demo import demo_copy
from support.replays import assert_all_replayed, changed_program

from aircoding.app.demo import make_demo_project, own_command

RULE = ".air/shared/rules/licence-header.md"


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project after the demo."""
    return demo_copy(tmp_path_factory)


def test_it_tells_its_story(demo: Path) -> None:
    text = (demo / "transcript.txt").read_text()

    assert "11 of 12 executors; not T12" in text
    assert f"decided at {RULE}:4" in text
    assert "11 of 12 tasks done in 4 waves" in text
    assert "T02: debugger looks at it" in text
    assert "T08: review: changes_requested" in text
    assert "T09: denied run `scp supplier.example" in text
    assert "T06: merge conflict in stock/registry.py" in text
    assert "(simulated)" in text


def test_the_merged_work_passes_its_own_tests(demo: Path) -> None:
    done = subprocess.run(
        ["python3", "-m", "unittest", "discover", "-s", "tests", "-t", "."], cwd=demo, capture_output=True, check=False
    )

    assert done.returncode == 0, done.stderr
    assert '"value",\n    "shortage",' in (demo / "stock/registry.py").read_text()


def test_every_recorded_request_is_replayed_after_tree_rules_and_program_have_changed(
    demo: Path, tmp_path: Path
) -> None:
    before = final_tree(demo)
    other = tmp_path / "project"
    shutil.copytree(demo, other, symlinks=True)
    program = changed_program(tmp_path / "program")

    assert_all_replayed(other, program)

    assert final_tree(other) == before
    first = rows(other, "SELECT manifest_id FROM assemblies WHERE turn = 1 LIMIT 1")[0][0]
    asked = air(other, "context", "replay", str(first), "--without", "licence-header", "--json", program=program)
    answer: dict[str, dict[str, str]] = asked.result["what_if"]  # type: ignore[assignment]
    assert asked.code == 0, asked.output
    assert answer["same_program"], "prompts are taken from the record, not from the program"
    assert answer["now"]["prompts"] != answer["recorded"]["manifest"]["versions"]["prompts"]  # type: ignore[index]
    said = air(other, "context", "replay", str(first), "--without", "licence-header", program=program).output
    assert "the program's own prompts are others by now; those on record were used" in said


def test_who_saw_and_why_not_have_machine_readable_answers(demo: Path) -> None:
    saw = air(demo, "context", "who-saw", RULE, "--role", "executor", "--json").result["witnesses"]
    missed = air(demo, "context", "why-not", RULE, "--task", "T12", "--role", "executor", "--json")

    assert [one["task_id"] for one in saw if not one["saw"]] == ["T12"]  # type: ignore[attr-defined]
    (one,) = missed.result["considerations"]  # type: ignore[misc]
    assert one["outcome"]["reason"] == "path_not_matched"  # type: ignore[index]
    assert one["outcome"]["by"].endswith(":4")  # type: ignore[index]


def test_why_names_the_source_of_a_text(demo: Path) -> None:
    ended = air(demo, "context", "why", "SPDX-License-Identifier: Apache-2.0`", "--json")

    uris = {place["segment"]["source"]["uri"] for place in ended.result["places"] if place["segment"]}  # type: ignore[attr-defined]
    assert f"project:{RULE}" in uris


def test_two_attempts_can_be_compared(demo: Path) -> None:
    query = (
        "SELECT manifest_id FROM assemblies WHERE task_id = 'T08' AND role = 'executor' AND turn = 1 ORDER BY attempt"
    )
    first, second = (str(row[0]) for row in rows(demo, query))

    ended = air(demo, "context", "diff", first, second)

    assert ended.code == 0
    assert "finding" in ended.output
    assert air(demo, "context", "diff", first, second, "--exit-code").code == 1


def test_status_tells_where_each_task_stands(demo: Path) -> None:
    runs = air(demo, "status", "--json").result["runs"]
    state = air(demo, "status", runs[0]["run_id"], "--json").result["run"]  # type: ignore[index]

    assert {task["task_id"]: task["state"] for task in state["tasks"]}["T12"] == "failed"  # type: ignore[index]


def test_the_prefix_of_all_workers_of_a_role_is_the_same(demo: Path) -> None:
    """The fleet and run marks close the same bytes for every executor, whatever its task, worktree and hour."""
    from aircoding.store import open_store

    store = open_store(demo / ".air/local/air.db", read_only=True)
    prefixes = set()
    for (manifest,) in rows(demo, "SELECT manifest_id FROM assemblies WHERE role = 'executor' AND turn = 1"):
        context = store.assemblies.get(str(manifest))  # type: ignore[arg-type]
        prefixes.add(json.dumps([context.tools, [{**block, "cache_control": None} for block in context.system]]))
    store.close()

    assert len(prefixes) == 1


def test_the_demo_works_without_a_sandbox_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AIR_SANDBOX__BACKEND", "none")

    done = run(tmp_path, "demo", "--dir", str(tmp_path / "p"))

    assert done.returncode == 0, done.stderr
    assert "no sandbox confines commands" in done.stderr
    assert "11 of 12 tasks done" in done.stdout


def test_a_contradiction_and_a_missing_rule_are_there_to_be_asked_for(demo: Path) -> None:
    conflicts = air(demo, "context", "conflicts")
    checked = air(demo, "context", "check")

    assert "project:AGENTS.md:6 asks for `scp supplier.example:prices.csv" in conflicts.output
    assert (checked.code, "1 of 2 tests failed" in checked.output) == (1, True), checked.output
    assert "decided at .air/shared/rules/licence-header.md:4" in checked.output


def test_a_name_that_nobody_knows_is_told_from_a_rule_that_stayed_out(demo: Path) -> None:
    by_id = air(demo, "context", "who-saw", "licence-header")
    unknown = air(demo, "context", "who-saw", "no-such-rule")
    task = air(demo, "context", "why-not", RULE, "--task", "T99")

    assert "executor 11 of 12, reviewer 1 of 1" in by_id.output
    assert "path_not_matched" in by_id.output
    assert "never considered for any of 16 workers" in unknown.output
    assert task.code == 2
    assert "has no task T99" in task.output


def test_a_list_says_how_much_it_leaves_out(demo: Path) -> None:
    page = air(demo, "context", "list", "--limit", "5")
    as_json = air(demo, "context", "list", "--limit", "5", "--json")

    assert "5 of 64 shown; go on with --offset 5" in page.output
    assert as_json.result["total"] == 64


@pytest.mark.parametrize(
    ("on_path", "started_as", "said"),
    [
        (True, "aircoding", "aircoding"),
        (False, "aircoding", "{folder}/aircoding"),
        (False, "x", "{python} -m aircoding"),
    ],
)
def test_commands_are_named_so_that_they_work_where_the_user_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, on_path: bool, started_as: str, said: str
) -> None:
    program = tmp_path / "aircoding"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path if on_path else tmp_path / "none"))
    monkeypatch.setattr("sys.argv", [str(tmp_path / started_as)])

    assert own_command() == said.format(folder=tmp_path, python=sys.executable)


def test_what_never_began_and_what_is_held_is_listed_with_its_title(tmp_path: Path) -> None:
    root = make_demo_project(tmp_path / "p")
    tight = air(root, *RUN, "--max-cost", "0.01")
    run = str(tight.result["run_id"])

    states = {task["task_id"]: task for task in tight.result["tasks"]}  # type: ignore[attr-defined]
    text = air(root, "status", run).output

    assert tight.code == 5, tight.output
    assert len(states) == 12
    assert {one["state"] for one in states.values()} <= {"waiting", "held", "done"}
    assert (states["T12"]["state"], states["T12"]["title"]) == ("waiting", "Release check")
    assert "held" in {one["state"] for one in states.values()}
    assert f"run {run}: budget ($" in text
    assert "of $0.01 are spent), " in text


def test_the_newest_run_is_listed_and_replayed_unless_another_is_named(demo: Path) -> None:
    (run,) = rows(demo, "SELECT run_id FROM runs")[0]
    (newest,) = rows(demo, "SELECT manifest_id FROM assemblies ORDER BY assembly DESC LIMIT 1")[0]

    listed = air(demo, "context", "list", "--limit", "1")
    replayed = air(demo, "context", "replay", "--all")
    unnamed = air(demo, "context", "replay")

    assert str(newest) in listed.output
    assert str(run) in listed.output
    assert air(demo, "context", "list", "--run", "all", "--json").result["total"] == 64
    assert "64 of 64 equal to the recorded digest" in replayed.output
    assert (unnamed.code, "no assembly is named" in unnamed.output) == (2, True)


def test_without_a_network_the_run_says_that_no_model_was_reached_and_what_to_do(
    tmp_path: Path,
) -> None:
    root = make_demo_project(tmp_path / "p")
    script = {"scripts": [{"match": {}, "turns": [{"text": "x", "error": {"status": 401}}]}]}
    (root / "s.json").write_text(json.dumps(script))

    ended = air(root, "run", "--provider", "scripted:s.json", "--allow-dirty", "--concurrency", "1")

    assert ended.code == 130
    assert "T01: waits: no model could be reached: " in ended.output
    assert "attempt ended" not in ended.output
    assert ": interrupted (no model could be reached: " in ended.output
    assert "The run is not over. Go on with: aircoding resume " in ended.output


def test_a_file_that_a_worker_read_with_a_tool_is_known(demo: Path) -> None:
    who = air(demo, "context", "who-saw", "README.md")
    why_not = air(demo, "context", "why-not", "README.md", "--task", "T12")

    for ended in (who, why_not):
        assert ended.code == 0, ended.output
        assert "it was asked for with fs_read, 1 time" in ended.output
        assert "task T12  executor, since turn 2" in ended.output
        assert "never considered" not in ended.output
