"""Commands that need a person's approval: `plan check` says what `run` will ask, and what to type settles both."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.demo_runs import air, demo_project

PLAN = """version: 1
goal: g
tasks:
- {id: A, title: a, write_area: [a.txt], verify: ["python3 tools/look.py"]}
- {id: B, title: b, write_area: [b.txt], verify: ["python3 tools/look.py"]}
"""


@pytest.mark.parametrize("backend", ["auto", "none"])
def test_what_a_run_would_ask_is_said_by_the_check_and_settled_by_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, backend: str
) -> None:
    monkeypatch.setenv("AIR_SANDBOX__BACKEND", backend)
    root = demo_project(tmp_path / "p")
    (root / "p.yaml").write_text(PLAN)
    (root / "s.json").write_text(json.dumps({"scripts": [{"match": {}, "turns": [{"text": "No."}]}]}))

    checked = air(root, "plan", "check", "--plan", "p.yaml")
    refused = air(root, "run", "--plan", "p.yaml", "--provider", "scripted:s.json", "--allow-dirty")

    assert checked.code == 0, checked.output
    assert "run will ask about `python3 tools/look.py` (task A, verify; task B, verify)" in checked.output
    assert "`python`" not in checked.output
    assert "to approve them now: aircoding permissions trust --plan p.yaml" in checked.output
    assert refused.code == 2
    assert "type `aircoding permissions trust --plan p.yaml` first" in refused.output

    assert air(root, "permissions", "trust", "--plan", "p.yaml").code == 0
    assert "will ask about" not in air(root, "plan", "check", "--plan", "p.yaml").output
    started = air(root, "run", "--plan", "p.yaml", "--provider", "scripted:s.json", "--allow-dirty")
    assert "need approval" not in started.output


def test_a_denied_set_up_command_fails_the_check(tmp_path: Path) -> None:
    root = demo_project(tmp_path / "p")
    (root / ".air/config.toml").write_text('[worktree]\nsetup = ["sudo true"]\n')

    checked = air(root, "plan", "check")

    assert checked.code == 1
    assert "the policy denies `sudo true` (task T01, [worktree] setup; " in checked.output
