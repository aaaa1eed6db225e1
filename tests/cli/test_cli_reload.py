"""A run that goes on while its rules change: told in a notice, and taken in by `reload`."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path

import pytest
from support.demo_runs import AIR, air, rows
from support.prefixes import assert_prefixes_extend

from aircoding.records.ids import ManifestId
from aircoding.sources.trust import trust_project
from aircoding.store import open_store

PLAN = "version: 1\ngoal: g\ntasks:\n- {id: T1, title: One, write_area: [a.txt]}\n"
SCRIPT = """\
model: claude-opus-5
scripts:
- match: {}
  turns:
  - {tools: [{name: fs_glob, input: {pattern: "*"}}]}
  - {delay_seconds: 4, tools: [{name: fs_write, input: {path: a.txt, content: "one\\n"}}]}
  - {tools: [{name: fs_glob, input: {pattern: "*"}}]}
  - {tools: [{name: finish, input: {status: done, summary: Made it., changed_files: [a.txt], verification: []}}]}
"""


@pytest.fixture
def project(tmp_path: Path, guarded_environment: Path) -> Path:
    root = tmp_path / "project"
    files = {".air/shared/plan/tasks.yaml": PLAN, "script.yaml": SCRIPT, "AGENTS.md": "# House\n\nUse tabs.\n"}
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    (root / ".gitignore").write_text(".air/local/\n")
    for arguments in (
        ["init", "-q", "-b", "main"],
        ["config", "user.name", "T"],
        ["config", "user.email", "t@localhost"],
        ["add", "-A"],
        ["commit", "-q", "-m", "Start"],
    ):
        subprocess.run(["git", *arguments], cwd=root, check=True)
    trust_project(guarded_environment, root)
    return root


def start(root: Path) -> subprocess.Popen[str]:
    """Start a run and wait until its second turn is on its way."""
    run = [*AIR, "run", "--provider", "scripted:script.yaml", "--json"]
    process = subprocess.Popen(run, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        database = root / ".air/local/air.db"
        if database.exists() and rows(root, "SELECT 1 FROM sqlite_master WHERE name = 'assemblies'"):
            found = rows(root, "SELECT count(*) FROM model_calls")
            if found[0][0] == 2:
                return process
        time.sleep(0.05)
    raise AssertionError(f"the second turn was not reached: {process.communicate()[0]}")


def end(process: subprocess.Popen[str]) -> dict[str, object]:
    output, _ = process.communicate(timeout=120)
    result: dict[str, object] = json.loads(output.splitlines()[-1])
    assert result["status"] == "done", output
    return result


def requests(root: Path) -> list[tuple[int, str, str]]:
    """Return (epoch, system, messages) of each recorded request."""
    ids = rows(root, "SELECT manifest_id, epoch FROM assemblies ORDER BY assembly")
    with open_store(root / ".air/local/air.db", read_only=True) as store:
        contexts = [(epoch, store.assemblies.get(ManifestId(str(name)))) for name, epoch in ids]
    return [(int(str(epoch)), str(one.system), str(one.messages)) for epoch, one in contexts]


def test_an_edited_rule_is_told_in_a_notice_and_the_prefix_stays(project: Path) -> None:
    process = start(project)
    (project / "AGENTS.md").write_text("# House\n\nUse spaces.\n")
    end(process)

    sent = requests(project)
    assert [epoch for epoch, _, _ in sent] == [1] * 4
    assert ["Use spaces." in messages for _, _, messages in sent] == [False, False, True, True]
    assert all("Use tabs." in system and "Use spaces." not in system for _, system, _ in sent)
    assert assert_prefixes_extend(project / ".air/local/air.db") == 3


def test_a_reload_puts_the_edited_rule_in_place_in_a_new_epoch(project: Path) -> None:
    process = start(project)
    (project / "AGENTS.md").write_text("# House\n\nUse spaces.\n")
    done = air(project, "reload", "--json")
    assert (done.code, done.result["changed"]) == (0, True), done.output
    assert air(project, "reload", "--json").result["changed"] is False
    end(process)

    sent = requests(project)
    assert [epoch for epoch, _, _ in sent] == [1, 1, 2, 2]
    assert ["Use spaces." in system for _, system, _ in sent] == [False, False, True, True]
    assert not any("Use spaces." in messages for _, _, messages in sent)
    assert assert_prefixes_extend(project / ".air/local/air.db") == 2


def test_a_broken_policy_in_mid_run_changes_nothing_and_is_said(project: Path) -> None:
    process = start(project)
    (project / ".air/shared/permissions.yaml").write_text("version: 1\npaths: [\n")
    end(process)

    told = rows(project, "SELECT payload FROM events WHERE type = 'policy.invalid'")
    assert len(told) == 1
    assert "permissions.yaml" in str(told[0][0])


def test_a_run_that_has_ended_cannot_be_reloaded(project: Path) -> None:
    assert air(project, "reload").code == 2
    end(start(project))
    ended = air(project, "reload")
    assert ended.code == 2
    assert "aircoding run" in ended.output
