"""`aircoding conflicts`: a task is held, a person rules, the next run does it."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest
from support.demo_runs import air

SCRIPT = "scripted:.air/script.yaml"
PLAN = """version: 1
goal: g
tasks:
- {id: T1, title: One, write_area: [api.txt]}
- {id: T2, title: Two, write_area: [b.txt]}
"""
RECORD = "---\nid: ADR-1\nstatus: accepted\ninterfaces: [api.txt]\n---\n# The interface is settled\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A trusted project: two tasks, one of them against a decision, and rules that contradict."""
    root = tmp_path / "project"
    shared = root / ".air/shared"
    (shared / "plan/adr").mkdir(parents=True)
    (shared / "rules").mkdir()
    (shared / "plan/tasks.yaml").write_text(PLAN)
    (shared / "plan/adr/0001.md").write_text(RECORD)
    (root / "AGENTS.md").write_text("Use tabs for indentation.\n\nRun `sudo make install` first.\n")
    (shared / "rules/project-rules.md").write_text("---\nkind: project\n---\nUse spaces for indentation.\n")
    scripts = [{"match": {"task": task}, "turns": _turns(path)} for task, path in (("T1", "api.txt"), ("T2", "b.txt"))]
    (root / ".air/script.yaml").write_text(json.dumps({"scripts": scripts}))
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


def _turns(path: str) -> list[dict[str, object]]:
    result = {"status": "done", "summary": "Written.", "changed_files": [path], "verification": []}
    tools = [
        {"name": "fs_write", "input": {"path": path, "content": "x\n"}},
        {"name": "finish", "input": result},
    ]
    return [{"text": "Now.", "tools": [tool]} for tool in tools]


def states(ended: object) -> dict[str, tuple[str, str]]:
    return {task["task_id"]: (task["state"], task["reason"]) for task in ended.result["tasks"]}  # type: ignore[attr-defined]


def test_only_the_blocked_task_is_held_and_a_ruling_lets_the_next_run_do_it(root: Path) -> None:
    first = air(root, "run", "--allow-dirty", "--provider", SCRIPT, "--json")
    assert first.code == 1, first.output
    held = states(first)
    assert held["T2"][0] == "done"
    assert held["T1"][0] == "blocked"
    assert "an interface of ADR ADR-1" in held["T1"][1]

    listed = air(root, "conflicts", "list", "--state", "open", "--kind", "architecture", "--json").result
    (entry,) = listed["conflicts"]
    name = entry["conflict"]["conflict_id"]
    assert (listed["schema_version"], listed["total"], entry["tasks"]) == (1, 1, ["T1"])
    run_id = entry["run_id"]

    shown = air(root, "conflicts", "show", name[:-3]).output
    assert f'rule on it with: aircoding conflicts rule {name} --accept "why"' in shown
    assert "goes to: main, architecture_designer" in shown

    told = air(root, "context", "build", "--role", "main", "--run", str(run_id), "--json").output
    assert "It stops its task. A person can rule" in told
    assert air(root, "context", "build", "--role", "main", "--run", "none").code == 2

    ruled = air(root, "conflicts", "rule", name, "--accept", "the owner agreed")
    assert ruled.code == 0, ruled.output
    assert "start a new one: aircoding run" in ruled.output
    checked = air(root, "plan", "check")
    assert checked.code == 0
    second = air(root, "run", "--allow-dirty", "--provider", SCRIPT, "--json")
    assert second.code == 0, second.output
    assert {state for state, _ in states(second).values()} == {"done"}
    (after,) = air(root, "conflicts", "list", "--kind", "architecture", "--json").result["conflicts"]
    assert (after["conflict"]["state"], after["conflict"]["ruling"]) == ("ruled", "the owner agreed")


def test_a_ruling_between_rules_is_told_and_takes_out_a_loser_that_says_nothing_else(root: Path) -> None:
    build = ["context", "build", "--role", "executor", "--task", "T2", "--json"]
    before = air(root, *build).result["context"]
    (conflict,) = [one for one in before["conflicts"] if one["kind"] == "user_rule"]
    assert "tabs" in json.dumps(before["system"])

    assert f"conflict {conflict['conflict_id']}: " in air(root, "plan", "check").output
    missing = air(root, "conflicts", "rule", "c-user_rule-0000000000", "--winner", "1", "why")
    assert missing.code == 2, "no run and no plan has met it"

    air(root, "run", "--allow-dirty", "--provider", SCRIPT)
    winner = next(party for party in conflict["parties"] if "project-rules" in party)
    third = air(root, "conflicts", "rule", conflict["conflict_id"], "--winner", "3", "why")
    assert (third.code, "has 2 parties, and none is called 3" in third.output) == (2, True)
    both = air(root, "conflicts", "rule", conflict["conflict_id"], "--winner", "project:", "why")
    assert "more than one is called project:" in both.output
    ruled = air(
        root, "conflicts", "rule", conflict["conflict_id"], "--winner", "project-rules", "ours counts", "--json"
    )
    assert ruled.result["ruling"]["conflict"]["winner"] == winner

    shown = air(root, "conflicts", "show", conflict["conflict_id"]).output
    assert f"what holds: {winner} holds\nwhy: user: ours counts" in shown
    listed = air(root, "conflicts", "list", "--kind", "user_rule").output
    assert f"{winner} holds" in listed
    table = air(root, *build[:-1]).output
    assert f"{winner} holds  user: ours counts" in table

    told = air(root, *build).result["context"]
    assert "sudo make install" in json.dumps(told["system"]), "the other sentence of the loser is kept"
    assert "ours counts" in json.dumps(told["messages"])

    (root / "AGENTS.md").write_text("Use tabs for indentation.\n")
    after = air(root, *build).result["context"]
    assert "ours counts" not in json.dumps(after["messages"])
    assert "tabs" not in json.dumps(after["system"])
    (lost,) = [note for note in after["omissions"] if note["outcome"] == "overridden"]
    assert (lost["by"], lost["reason"]) == (f"ruling:{conflict['conflict_id']}", "overridden")


def test_rules_are_reported_before_anything_runs_and_a_policy_cannot_be_ruled_against(root: Path) -> None:
    (root / ".air/shared/plan/plan.md").write_text("Then run `systemctl restart web`.\n")
    for folder, command in (("docs", "ssh docs.example.com"), ("web", "scp a b:c")):
        scoped = f"---\nkind: project\npaths: ['{folder}/**', '{folder}.txt']\n---\nRun `{command}`.\n"
        (root / f".air/shared/rules/{folder}.md").write_text(scoped)
    (root / ".air/shared/plan/tasks.yaml").write_text(PLAN.replace("b.txt", "web.txt"))
    checked = air(root, "plan", "check")
    assert ".air/shared/plan/plan.md:1 asks for `systemctl restart web`" in checked.output
    assert "asks for `scp a b:c`" in checked.output
    assert "ssh docs" not in checked.output, "no task's worker gets this rule"
    assert "AGENTS.md:3 asks for `sudo make install`" in checked.output
    (line,) = [line for line in checked.output.splitlines() if "sudo make install" in line]
    name = line.split()[1].rstrip(":")

    refused = air(root, "conflicts", "rule", name, "--accept", "we trust it")
    assert refused.code == 2
    assert "nobody can rule on a conflict of kind policy" in refused.output
    assert "floor.yaml" in refused.output


def held(root: Path) -> str:
    """Return the id of the conflict that the plan would meet."""
    checked = air(root, "plan", "check")
    assert checked.code == 1
    (found,) = set(re.findall(r"c-architecture-[0-9a-f]+", checked.output))
    return str(found)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["rule", "c-nothing", "--accept", "why"], "there is no conflict c-nothing"),
        (["rule", "ID", "--winner", "1", "why"], "only --accept lifts that"),
        (["rule", "ID", "--accept", " "], "a ruling needs its reason"),
        (["rule", "ID", "--accept", "why", "--run", "r9"], "no run r9"),
        (["rule", "", "--accept", "why"], "`` is too short an id to rule on"),
        (["rule", " ", "--accept", "why"], "too short"),
        (["rule", "c-", "--accept", "why"], "too short"),
        (["rule", "c-architect", "--accept", "why"], "too short"),
        (["rule", "c-architecture-", "--accept", "why"], "too short"),
        (["rule", "5 OF ID", "--accept", "why"], "at least 6 characters after the kind"),
    ],
)
def test_what_cannot_be_ruled_says_why(root: Path, arguments: list[str], said: str) -> None:
    name = held(root)
    names = {"ID": name, "5 OF ID": name[: len("c-architecture-") + 5]}
    refused = air(root, "conflicts", *(names.get(one, one) for one in arguments))

    assert refused.code == 2
    assert said in refused.output
    assert "try: " in refused.output
    assert "Traceback" not in refused.output


def test_a_ruling_can_come_before_the_first_run(root: Path) -> None:
    assert air(root, "plan", "check").code == 1
    before = air(root, "conflicts", "list")
    assert (before.code, "no conflicts on record; `aircoding plan check` shows" in before.output) == (0, True)
    name = held(root)
    assert air(root, "conflicts", "rule", name[: len("c-architecture-") + 6], "--accept", "agreed").code == 0

    checked = air(root, "plan", "check")
    assert checked.code == 0
    assert "; ruled: the task may go on (agreed)" in checked.output
    ended = air(root, "run", "--allow-dirty", "--provider", SCRIPT, "--json")
    assert ended.code == 0, ended.output


def test_pages_of_the_list(root: Path) -> None:
    air(root, "run", "--allow-dirty", "--provider", SCRIPT)

    everything = air(root, "conflicts", "list", "--json").result
    page = air(root, "conflicts", "list", "--limit", "1", "--offset", "1", "--json").result
    text = air(root, "conflicts", "list", "--limit", "1").output

    assert everything["conflicts"][0]["conflict"]["blocking"]
    assert page["conflicts"] == everything["conflicts"][1:2]
    assert page["total"] == everything["total"] == len(everything["conflicts"])
    assert f"1 of {everything['total']} shown; go on with --offset 1" in text
    assert air(root, "conflicts", "list", "--task", "T9", "--json").result["total"] == 0
