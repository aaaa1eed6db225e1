"""A rehearsal from the page: its script carries a task through; a refused result is the reason why a session ends."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.demo_runs import air
from support.projects import make_commit, make_project
from support.texts import REPOSITORY

from aircoding.homes import air_home
from aircoding.sources.trust import trust_project

PAGE = REPOSITORY / "docs" / "how-to" / "rehearse-a-plan.md"
PLAN = """\
version: 1
goal: g
tasks:
- {id: T1, title: One, write_area: [NOTES.md], retry: {max_attempts: 1, escalate: []}}
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (script,) = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(), re.DOTALL)
    files = {"a.txt": "a\n", ".air/shared/plan/tasks.yaml": PLAN, ".air/rehearsal.yaml": script}
    root = make_commit(make_project(tmp_path / "project", files))
    trust_project(air_home(), root)
    return root


def test_the_script_of_the_page_carries_a_task_through(root: Path) -> None:
    ended = air(root, "run", "--provider", "scripted:.air/rehearsal.yaml")
    assert ended.code == 0, ended.output


def test_a_script_that_ends_after_a_refused_finish_says_what_was_refused(root: Path) -> None:
    script = root / ".air/rehearsal.yaml"
    text = script.read_text()
    assert "verification: []" in text
    script.write_text(text.replace(", verification: []", ""))
    ended = air(root, "run", "--provider", "scripted:.air/rehearsal.yaml", "--allow-dirty")
    assert ended.code == 1, ended.output
    (run, *_) = re.findall(r"\d{8}-\d{6}-\w{4}", air(root, "status").output)
    status = air(root, "status", run)
    for said in (ended.output, status.output):
        assert "Its finish was refused: " in said, said
        assert "verification" in said
