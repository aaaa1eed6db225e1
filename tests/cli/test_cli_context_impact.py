"""`aircoding context impact`: who sees what of a change, as text, JSON, and a comment on a pull request."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result
from support.projects import make_commit, make_project, write_tree

from aircoding.cli.context.impact_markdown import MAX_CHARS
from aircoding.cli.main import cli, main

DOCS = Path(__file__).parents[2] / "docs"
PLAN = (
    "version: 1\ngoal: g\ntasks:\n"
    "  - {id: T1, title: Count, write_area: ['stock/**'], roles: [reviewer]}\n"
    "  - {id: T2, title: Tell, write_area: ['docs/**']}\n"
)
FILES = {
    "AGENTS.md": "# Rules\nBegin with a licence line.\n",
    "stock/AGENTS.md": "Stock is counted in pieces.\n",
    ".cursor/rules/docs.mdc": "---\nglobs: docs/**\n---\nUse British English.\n",
    "stock/a.py": "x = 1\n",
    "stock/b.py": "x = 2\n",
    "docs/a.md": "a\n",
    ".air/shared/plan/tasks.yaml": PLAN,
}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = make_commit(make_project(tmp_path / "p", FILES))
    monkeypatch.chdir(folder)
    return folder


def impact(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["context", "impact", "--base", "HEAD", *arguments])


def document(*arguments: str) -> dict[str, Any]:
    done = impact("--json", *arguments)
    assert done.exit_code == 0, done.output
    found: dict[str, Any] = json.loads(done.output)["impact"]
    return found


def seen(found: dict[str, Any], viewer: str, kind: str) -> set[str]:
    return {
        subject
        for effect in found["effects"]
        for reader in effect["readers"]
        if (reader["viewer"], reader["kind"]) == (viewer, kind)
        for subject in reader["subjects"]
    }


def test_nothing_changed_is_nothing_seen(root: Path) -> None:
    done = impact("--exit-code")
    assert done.exit_code == 0
    assert "nobody sees a difference" in done.output


def test_each_reader_of_a_change_is_named_and_nobody_else(root: Path) -> None:
    write_tree(root, {"stock/AGENTS.md": "Stock is counted in dozens.\n"})
    found = document()
    assert seen(found, "executor", "path") == {"stock/AGENTS.md", "stock/a.py", "stock/b.py"}
    assert seen(found, "executor", "task") == {"T1"}
    assert seen(found, "reviewer", "task") == {"T1"}
    assert not [one for effect in found["effects"] for one in effect["readers"] if one["kind"] == "role"]
    done = impact("--exit-code", "--role", "executor")
    assert done.exit_code == 1
    assert "-Stock is counted in pieces." in done.output
    assert "+Stock is counted in dozens." in done.output
    assert "seen by executor for 3 of 7 paths: stock/**" in done.output


def test_a_rule_that_reaches_nobody_is_said(root: Path) -> None:
    write_tree(root, {".claude/rules/none.md": "---\npaths: nowhere/**\n---\nNever.\n", "stock/a.py": "x = 3\n"})
    done = impact()
    assert "seen by nobody who was compared:\n  .claude/rules/none.md (added)" in done.output
    states = {one["path"]: (one["source"], one["state"]) for one in document("--as", "claude")["files"]}
    assert states == {
        ".claude/rules/none.md": (True, "reaches_nobody"),
        "stock/a.py": (False, "reaches_nobody"),
    }


def test_plans_roles_and_policies_count(root: Path) -> None:
    plan = PLAN.replace("Count", "Count all").replace("T2", "T3")
    write_tree(
        root,
        {
            ".air/shared/plan/tasks.yaml": plan,
            ".air/shared/permissions.yaml": 'version: 1\ncommands: {deny: ["npm publish *"]}\n',
        },
    )
    found = document()
    assert (found["tasks_added"], found["tasks_removed"]) == (["T3"], ["T2"])
    assert seen(found, "executor", "task") == {"T1"}
    roles = {one["viewer"] for effect in found["effects"] for one in effect["readers"] if one["kind"] == "role"}
    assert {"executor", "main", "scheduler"} <= roles
    assert {one["state"] for one in found["files"]} == {"reaches"}


def test_two_commits_are_compared_without_a_look_at_the_files(root: Path) -> None:
    write_tree(root, {"AGENTS.md": "# Rules\nBegin with nothing.\n"})
    make_commit(root)
    write_tree(root, {"AGENTS.md": "not committed\n", "docs/AGENTS.md": "neither\n"})
    status = subprocess.run(["git", "status", "--porcelain"], capture_output=True, text=True, check=True).stdout
    found = CliRunner().invoke(cli, ["context", "impact", "--base", "HEAD~1", "--head", "HEAD", "--json"])
    answer = json.loads(found.output)["impact"]
    assert [one["path"] for one in answer["files"]] == ["AGENTS.md"]
    assert len(seen(answer, "executor", "path")) == answer["path_count"]
    now = subprocess.run(["git", "status", "--porcelain"], capture_output=True, text=True, check=True).stdout
    assert now == status
    assert "air-side" not in found.output


def test_other_tools_are_asked_instead(root: Path) -> None:
    write_tree(root, {".cursor/rules/docs.mdc": "---\nglobs: stock/*.py\n---\nUse British English.\n"})
    found = document("--as", "cursor", "--as", "codex")
    assert seen(found, "cursor", "path") == {"docs/a.md", "stock/a.py", "stock/b.py"}
    assert seen(found, "codex", "path") == set()
    assert found["viewers"] == ["cursor", "codex"]


def test_paths_can_be_named_or_drawn(root: Path) -> None:
    write_tree(root, {"AGENTS.md": "# Rules\nChanged.\n"})
    assert seen(document("--path", "new/x.py", "--path", "docs/"), "executor", "path") == {"new/x.py", "docs/"}
    drawn = [seen(document("--sample", "3", "--seed", seed, "--as", "codex"), "codex", "path") for seed in "112"]
    assert len(drawn[0]) == 3
    assert drawn[0] == drawn[1] != drawn[2]


def test_hostile_text_is_inert_in_a_comment(root: Path) -> None:
    hostile = "</details><script>alert(1)</script> @everyone\n````\n# Heading\n"
    write_tree(root, {"stock/AGENTS.md": hostile, "<img src=x>@all`|/AGENTS.md": "x\n"})
    done = impact("--format", "markdown")
    assert done.exit_code == 0, done.output
    fences = re.findall(r"^(`{3,})diff\n.*?^\1$", done.output, re.MULTILINE | re.DOTALL)
    assert "`````" in fences
    outside = re.sub(r"^(`{3,})diff\n.*?^\1$", "", done.output, flags=re.MULTILINE | re.DOTALL)
    assert "<script" not in outside
    assert "<img" not in outside
    assert "@" not in outside
    assert done.output.count("<details>") == outside.count("</details>")


def test_a_comment_is_never_longer_than_it_may_be(root: Path) -> None:
    line = "A rule of many words `that` <stands> here @all.\n"
    write_tree(root, {f"stock/d{number}/AGENTS.md": f"{number}\n" + line * 100 for number in range(40)})
    done = impact("--format", "markdown", "--as", "cursor")
    assert done.exit_code == 0
    assert len(done.output) <= MAX_CHARS + 200
    assert "details are left out here" in done.output
    assert done.output.count("<details>") == done.output.count("</details>")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--base", "no-such"], "no-such names no commit of this clone"),
        (["--base", "--output=x"], "names no commit"),
        (["--base", "HEAD", "--role", "nobody"], "there is no role `nobody`"),
        (["--base", "HEAD", "--path", "../x"], "is no path below"),
        (["--base", "HEAD", "--as", "codex", "--role", "main"], "leave out --as or --role"),
    ],
)
def test_a_wrong_call_ends_with_two(
    arguments: list[str], said: str, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["context", "impact", *arguments])
    assert ended.value.code == 2
    assert said in capsys.readouterr().err


def test_a_shallow_clone_says_what_to_fetch(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_tree(root, {"AGENTS.md": "x\n"})
    make_commit(root)
    subprocess.run(["git", "clone", "-q", "--depth", "1", f"file://{root}", str(tmp_path / "c")], check=True)
    monkeypatch.chdir(tmp_path / "c")
    with pytest.raises(SystemExit):
        main(["context", "impact", "--base", "HEAD~1"])
    assert "fetch-depth: 0" in capsys.readouterr().err


def test_the_how_to_runs(root: Path) -> None:
    page = (DOCS / "how-to/guard-rules-in-ci.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    write_tree(root, {".air/shared/context-tests/rules.yaml": blocks[0]})
    make_commit(root)
    commands = re.findall(r"^\$ aircoding (.+)$", page, re.MULTILINE)
    steps = yaml.safe_load(blocks[1])["jobs"]["context"]["steps"]
    in_ci = [step["run"].partition(" > ")[0] for step in steps if step.get("run", "").startswith("aircoding")]
    commands += [one.removeprefix("aircoding ").replace("origin/$BASE", "HEAD~1") for one in in_ci]
    assert len(commands) == 7
    for command in commands:
        done = CliRunner().invoke(cli, shlex.split(command))
        assert done.exit_code == 0, (command, done.output)
    assert (root / "junit.xml").exists()


def test_the_reference_runs(root: Path) -> None:
    page = (DOCS / "reference/context-tests.md").read_text(encoding="utf-8")
    tests = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)[0].replace("T3", "T1")
    write_tree(root, {"AGENTS.md": "# Rules\nBegin with a licence line.\n\n## Tests\nRun them.\n", "t.yaml": tests})
    done = CliRunner().invoke(cli, ["context", "check", "--update", "t.yaml"])
    assert done.exit_code == 0, done.output
