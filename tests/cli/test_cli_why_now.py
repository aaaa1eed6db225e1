"""`context why-not --now` and `--path`: the question of a missing rule where nothing is on record."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.demo_runs import air
from support.projects import make_commit, make_project

RULE = ".cursor/rules/tests.mdc"
FILES = {
    "AGENTS.md": "# House\n\nUse spaces.\n",
    RULE: '---\nglobs: "**/test_*.py"\nalwaysApply: false\n---\n# One\n\nName it.\n\n## Two\n\nRun it.\n',
    "src/test_a.py": "A = 1\n",
    "src/helpers.py": "B = 2\n",
    ".air/shared/plan/tasks.yaml": (
        "version: 1\ngoal: g\ntasks:\n  - {id: T1, title: One, write_area: [src/test_a.py]}\n"
    ),
}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_commit(make_project(tmp_path_factory.mktemp("now") / "project", FILES))


def test_a_rule_that_would_stay_out_says_why_once_for_all_its_sections(root: Path) -> None:
    ended = air(root, "context", "why-not", RULE, "--path", "src/helpers.py")

    assert ended.code == 0
    assert f"now  executor: {RULE}, 2 parts, was omitted (path_not_matched)" in ended.output
    assert "its globs are **/test_*.py; the task plans to write src/helpers.py" in ended.output
    assert f"decided at: {RULE}:2" in ended.output
    assert not (root / ".air/local/air.db").exists(), "nothing is recorded"


def test_a_rule_that_would_be_in_says_so(root: Path) -> None:
    by_path = air(root, "context", "why-not", RULE, "--path", "src/test_a.py", "--json").result
    by_task = air(root, "context", "why-not", RULE, "--task", "T1", "--now", "--json").result

    for answer in (by_path, by_task):
        assert {one["outcome"]["outcome"] for one in answer["considerations"]} == {"included"}  # type: ignore[attr-defined,index]
        assert (answer["now"], answer["run_id"]) == (True, None)
    assert json.dumps(by_task).count("T1") > json.dumps(by_path).count("T1") == 0


def test_what_would_never_be_considered_says_who_would_have_to_name_it(root: Path) -> None:
    ended = air(root, "context", "why-not", "src/helpers.py", "--path", "src/test_a.py")

    assert (ended.code, "was never considered" in ended.output) == (0, True)
    assert ".air/shared/plan/tasks.yaml" in ended.output


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--manifest", "m-1"], "leave out --manifest"),
        (["--since", "7d"], "leave out --manifest"),
        (["--task", "T1"], "leave out --task"),
    ],
)
def test_what_asks_for_the_record_is_refused(root: Path, more: list[str], said: str) -> None:
    ended = air(root, "context", "why-not", RULE, "--path", "src/helpers.py", *more)

    assert (ended.code, said in ended.output) == (2, True)
