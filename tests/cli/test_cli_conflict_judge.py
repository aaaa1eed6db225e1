"""`[conflicts] judge`: a model names contradictions that code cannot see; a person rules; later runs obey."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from support.demo_runs import Ended, air, rows

from aircoding.records.digests import sha256_text

SCRIPT = "scripted:.air/script.yaml"
RUN = ("run", "--allow-dirty", "--provider", SCRIPT, "--json")
SINGLE = "Keep every pull request to a single commit."
STEPS = "Commit each step on its own, so that reviewers can follow a change."
PLAN = "version: 1\ngoal: g\ntasks:\n- {id: T1, title: One, write_area: [b.txt]}\n"
WORK = {"status": "done", "summary": "Written.", "changed_files": ["b.txt"], "verification": []}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A trusted project with two rules that no worker can both follow, and the judge on."""
    root = tmp_path / "project"
    shared = root / ".air/shared"
    (shared / "plan").mkdir(parents=True)
    (shared / "rules").mkdir()
    (shared / "plan/tasks.yaml").write_text(PLAN)
    (root / "AGENTS.md").write_text(f"{SINGLE}\n\nNever use `sudo make install`.\n")
    (shared / "rules/project-rules.md").write_text(f"---\nkind: project\n---\n{STEPS}\n")
    (root / ".air/config.toml").write_text("[conflicts]\njudge = true\n")
    (root / ".air/script.yaml").write_text("scripts: []\n")
    for arguments in (
        ["init", "-q", "-b", "main"],
        ["config", "user.name", "T"],
        ["config", "user.email", "t@localhost"],
        ["add", "-f", "."],
        ["commit", "-q", "-m", "Start"],
    ):
        subprocess.run(["git", *arguments], cwd=root, check=True)
    assert air(root, "permissions", "trust").code == 0
    return root


def rule_ids(root: Path) -> dict[str, str]:
    """The ids under which the judge is told of the rules, by the uri of their file."""
    built = air(root, "context", "build", "--role", "conflict_judge", "--json").result["context"]
    segments = built["manifest"]["segments"]  # type: ignore[index]
    places = [(one["source"]["uri"], one["segment_id"].rsplit("@", 1)[0]) for one in segments if one["layer"] == "L3"]
    return {uri: f"R-{sha256_text(place)[:8]}" for uri, place in places}


def finish(**given: Any) -> dict[str, Any]:
    return {"text": "Now.", "tools": [{"name": "finish", "input": given}]}


def script(root: Path, *judge: dict[str, Any]) -> None:
    """Let the model answer as the judge, and do the one task."""
    write = {"text": "Now.", "tools": [{"name": "fs_write", "input": {"path": "b.txt", "content": "x\n"}}]}
    scripts = [
        {"match": {"role": "conflict_judge"}, "turns": list(judge)},
        {"match": {"task": "T1"}, "turns": [write, finish(**WORK)]},
    ]
    (root / ".air/script.yaml").write_text(json.dumps({"scripts": scripts}))


def pair(one: str, one_words: str, other: str, other_words: str) -> dict[str, Any]:
    return {
        "one": {"rule": one, "words": one_words},
        "other": {"rule": other, "words": other_words},
        "subject": "commits of a change",
        "why": "A change of several steps cannot be one commit and one commit for each step.",
    }


def judged(root: Path) -> list[dict[str, Any]]:
    """What the record holds of the judge, one entry for each run."""
    found = rows(root, "SELECT payload FROM events WHERE type = 'conflict.judged' ORDER BY run_id")
    return [json.loads(str(payload)) for (payload,) in found]


def judge_calls(root: Path) -> list[tuple[object, ...]]:
    query = "SELECT call_key, state FROM model_calls WHERE call_key LIKE '%conflict_judge%' ORDER BY 1"
    return rows(root, query)


def built_for_executor(root: Path) -> dict[str, Any]:
    return air(root, "context", "build", "--role", "executor", "--task", "T1", "--json").result["context"]  # type: ignore[return-value]


def ended_well(ended: Ended) -> None:
    assert ended.code == 0, ended.output
    assert [task["task_id"] for task in ended.result["tasks"]] == ["T1"]  # type: ignore[index, attr-defined]


def test_what_the_model_found_is_listed_routed_ruled_and_obeyed_by_the_next_run(root: Path) -> None:
    ids = rule_ids(root)
    agents, rules = ids["project:AGENTS.md"], ids["project:.air/shared/rules/project-rules.md"]
    script(root, finish(contradictions=[pair(agents, SINGLE, rules, STEPS)]))

    first = air(root, *RUN)
    ended_well(first)
    (entry,) = air(root, "conflicts", "list", "--json").result["conflicts"]  # type: ignore[misc]
    conflict = entry["conflict"]
    assert (conflict["kind"], conflict["state"], conflict["blocking"]) == ("user_rule", "open", False)
    assert (conflict["route"], conflict["winner"], conflict["ruled_by"]) == ("experience_miner", None, None)
    assert conflict["detail"].startswith("found by the model scripted")
    assert f"AGENTS.md:1 says `{SINGLE}`" in conflict["detail"]
    assert entry["tasks"] == ["T1"], "the worker's prompt had both rules, and the judge's session is no task"
    assert "found by the model" in air(root, "conflicts", "show", conflict["conflict_id"]).output

    run_id = str(entry["run_id"])
    told = air(root, "context", "build", "--role", "main", "--run", run_id, "--json").output
    assert "found by the model scripted" in told
    replayed = air(root, "context", "replay", "--all", run_id, "--json")
    assert replayed.code == 0, replayed.output
    assert len(judge_calls(root)) == 1
    assert rows(root, "SELECT count(*) FROM assemblies WHERE role = 'conflict_judge'") == [(1,)]
    assert first.result["calls"] == 3, "the judge's call counts in the run"

    ruled = air(root, "conflicts", "rule", conflict["conflict_id"], "--winner", "project-rules", "small commits")
    assert ruled.code == 0, ruled.output
    script(root, finish(contradictions=[]))
    ended_well(air(root, *RUN))
    prompts = rows(root, "SELECT assembly FROM assemblies WHERE role = 'executor'")
    assert len(prompts) == 4
    beside = built_for_executor(root)
    assert SINGLE in json.dumps(beside["system"]), "the file says more than what lost: it stays whole"
    assert "small commits" in json.dumps(beside["messages"])
    (root / "AGENTS.md").write_text(f"{SINGLE}\n")
    assert SINGLE not in json.dumps(built_for_executor(root)["system"]), "a text that says only what lost is left out"
    query = """SELECT DISTINCT a.run_id, c.state FROM conflicts c JOIN assemblies a USING (assembly)
        WHERE a.role = 'executor' ORDER BY 1"""
    assert [state for _, state in rows(root, query)] == ["open", "ruled"]


def test_without_the_setting_no_model_reads_the_rules(root: Path) -> None:
    (root / ".air/config.toml").unlink()
    script(root, finish(contradictions=[]))

    ended_well(air(root, *RUN))
    assert not judged(root)
    assert not judge_calls(root)


def test_what_does_not_hold_is_left_out_and_said_once(root: Path) -> None:
    ids = rule_ids(root)
    agents, rules = ids["project:AGENTS.md"], ids["project:.air/shared/rules/project-rules.md"]
    script(
        root,
        finish(
            contradictions=[
                pair(agents, SINGLE, "R-00000000", "Squash everything."),
                pair(agents, "Keep each commit to one line.", rules, STEPS),
                pair(agents, SINGLE, agents, SINGLE),
                pair(agents, SINGLE, "air:policy", "Commands are denied."),
            ]
        ),
    )

    ended = air(root, *RUN[:-1])
    assert ended.code == 0, ended.output
    said = "rules: 0 more contradictions found by scripted"
    assert ended.output.count(said) == 1
    assert "; 4 left out (no such rules, or code has decided)" in ended.output
    assert "rules: conflict_judge looks at it" in ended.output
    assert air(root, "conflicts", "list", "--json").result["total"] == 0
    assert [(one["status"], one["found"], one["left_out"]) for one in judged(root)] == [("done", [], 4)]


NONSENSE = finish(contradictions=[{"kind": "policy", "rule": "sudo"}])


@pytest.mark.parametrize(
    ("turns", "said"),
    [
        ([NONSENSE, NONSENSE], "The result was not in order twice"),
        ([{"text": "All good."}, {"text": "Really."}], "Two turns in a row ended without a tool call"),
        ([{"text": "Now.", "error": {"status": 401, "times": 9}}], "The provider answered 401"),
    ],
    ids=["no valid result", "words only", "refused by the provider"],
)
def test_a_judge_that_gives_no_answer_does_not_stop_the_run(root: Path, turns: list[dict[str, Any]], said: str) -> None:
    script(root, *turns)

    ended = air(root, *RUN[:-1])
    assert ended.code == 0, ended.output
    assert ended.output.count("the conflict judge gave no answer, and the run goes on without: ") == 1
    (found,) = judged(root)
    assert (found["status"], found["found"]) == ("failed", [])
    assert said in found["reason"]
