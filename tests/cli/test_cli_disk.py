"""A disk that is full or read-only is said in words, and a run that met it goes on when there is room again."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.demo_runs import AIR, air, rows

from aircoding.sources.trust import trust_project

BWRAP = shutil.which("bwrap")

PLAN = """\
version: 1
goal: g
tasks:
- {id: T1, title: One, write_area: [T1.txt]}
- {id: T2, title: Two, write_area: [T2.txt]}
"""
WORDS = " ".join(f"word{number}" for number in range(1500))


def script(*tasks: str) -> str:
    """Each task looks around for twenty turns, with long texts, before it does its work."""
    lines = ["model: claude-opus-5", "scripts:"]
    for task in tasks:
        lines += [f"- match: {{task: {task}}}", "  turns:"]
        for number in range(20):
            tool = f'{{name: fs_glob, input: {{pattern: "*{number}"}}}}'
            lines.append(f'  - {{text: "{number} {WORDS}", tools: [{tool}]}}')
        lines += [
            f'  - {{tools: [{{name: fs_write, input: {{path: {task}.txt, content: "done"}}}}]}}',
            "  - {tools: [{name: finish, input: {status: done, summary: M, changed_files: [], verification: []}}]}",
        ]
    return "\n".join(lines) + "\n"


def in_bwrap(*options: str) -> list[str]:
    """A command line that runs in this file system with `options` laid over it; skips where that is not possible."""
    if BWRAP is None:
        pytest.skip("bubblewrap is not installed")
    if subprocess.run([BWRAP, "--dev-bind", "/", "/", "true"], capture_output=True).returncode != 0:
        pytest.skip("bubblewrap does not work on this machine")
    return [BWRAP, "--dev-bind", "/", "/", *options]


@pytest.fixture
def project(tmp_path: Path, guarded_environment: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "project"
    files = {".air/shared/plan/tasks.yaml": PLAN, "script.yaml": script("T1", "T2"), ".gitignore": ".air/local/\n"}
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    (root / ".air/local").mkdir()
    for arguments in (
        ["init", "-q", "-b", "main"],
        ["config", "user.name", "T"],
        ["config", "user.email", "t@localhost"],
        ["add", "-A"],
        ["commit", "-q", "-m", "Start"],
    ):
        subprocess.run(["git", *arguments], cwd=root, check=True)
    trust_project(guarded_environment, root)
    monkeypatch.setenv("AIR_SANDBOX__BACKEND", "none")
    monkeypatch.setenv("AIR_SANDBOX__ALLOW_UNCONFINED", "true")
    return root


LIFE = """
import json, os, subprocess, sys
air, room_bytes = json.loads(sys.argv[1]), int(sys.argv[2])

def say(*arguments):
    done = subprocess.run([*air, *arguments, "--json"], capture_output=True, text=True)
    return [done.returncode, json.loads(done.stdout.splitlines()[-1]), done.stderr]

with open(".air/local/filler", "wb") as filler:
    filler.write(bytes(16_000_000 - room_bytes))
told = [say("run", "--provider", "scripted:script.yaml"), say("status"), say("resume"), say("status")]
os.unlink(".air/local/filler")
print(json.dumps([*told, say("resume"), say("status")]))
"""


@pytest.mark.sandbox
@pytest.mark.parametrize("room_bytes", [1_000_000, 1_500_000])
def test_a_run_whose_disk_is_full_is_interrupted_and_goes_on_when_there_is_room(project: Path, room_bytes: int) -> None:
    """With the smaller room the record is full first, with the larger one git is; it runs for some seconds."""
    local = project / ".air/local"
    small = in_bwrap("--size", "16000000", "--tmpfs", str(local), "--chdir", str(project))
    command = [*small, sys.executable, "-c", LIFE, json.dumps(AIR), str(room_bytes)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    full, status, again, still, after, end = json.loads(done.stdout)

    assert [full[0], again[0]] == [3, 3], f"a full disk is no end of the run: {full}, {again}"
    assert "resume" in full[1]["error"]["hint"]
    assert [one[1]["runs"][0]["status"] for one in (status, still)] == ["interrupted", "interrupted"]
    assert (after[0], after[1]["status"]) == (0, "done")
    assert [task["attempt"] for task in after[1]["tasks"]] == [1, 1]
    assert end[1]["runs"][0]["done"] == 2


@pytest.mark.sandbox
def test_what_only_reads_works_on_a_read_only_disk_and_what_writes_says_so(project: Path) -> None:
    ended = air(project, "run", "--provider", "scripted:script.yaml", "--max-cost", "0.01", "--json")
    assert (ended.code, ended.result["status"]) == (5, "budget"), ended.output
    local = str(project / ".air/local")
    frozen = in_bwrap("--ro-bind", local, local, "--chdir", str(project))

    def say(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*frozen, *AIR, *arguments], capture_output=True, text=True)

    run = str(ended.result["run_id"])
    (session,) = rows(project, "SELECT session_id FROM sessions ORDER BY session_id LIMIT 1")[0]
    for arguments in (
        ["status"],
        ["status", run],
        ["conflicts", "list"],
        ["context", "list", run],
        ["context", "show", str(session)],
        ["context", "why", str(session), "a.txt"],
        ["db", "info"],
        ["db", "upgrade"],
    ):
        told = say(*arguments)
        assert "cannot be written" not in told.stderr, arguments
        assert told.returncode in {0, 1, 2}, (arguments, told.stderr)
        assert arguments[0] == "context" or told.returncode == 0, told.stderr
    for arguments in (["resume", run, "--max-cost", "1"], ["reload", run]):
        told = say(*arguments)
        assert (told.returncode, "cannot be written" in told.stderr) == (3, True), told.stderr


def test_a_limit_that_resume_is_given_holds_for_later_resumes_and_is_shown(project: Path) -> None:
    ended = air(project, "run", "--provider", "scripted:script.yaml", "--max-cost", "0.01", "--json")
    assert ended.code == 5, ended.output
    run = str(ended.result["run_id"])
    spent = float(str(ended.result["cost_usd"]))

    raised = air(project, "resume", run, "--max-cost", f"{spent + 0.01}", "--json")
    assert raised.code == 5, raised.output
    assert f"at most ${spent + 0.01:.2f}" in air(project, "status", run).output
    again = air(project, "resume", run, "--json")

    assert again.code == 5
    assert again.result["max_cost_usd"] == raised.result["max_cost_usd"] == pytest.approx(spent + 0.01)
    assert again.result["cost_usd"] == raised.result["cost_usd"], "the same limit holds"
    assert air(project, "resume", run, "--max-cost", "50", "--json").code == 0
