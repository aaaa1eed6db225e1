"""`aircoding context check`: tests of what agents see, as a CI machine runs them."""

from __future__ import annotations

import json
import shutil
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from support.projects import make_commit, make_project, write_tree

from aircoding.cli.main import cli
from aircoding.errors import ConfigError

FILES = {
    "AGENTS.md": "# Rules\nBegin with a licence line.\n\n## Tests\nRun pytest.\n",
    "stock/AGENTS.md": "Stock is counted in pieces.\n",
    ".cursor/rules/docs.mdc": "---\nglobs: docs/**\n---\nUse British English.\n",
    "stock/a.py": "x = 1\n",
    ".air/shared/plan/tasks.yaml": (
        "version: 1\ngoal: g\ntasks:\n  - {id: T3, title: Count, write_area: ['stock/**'], reads: [stock/a.py]}\n"
    ),
}
TESTS = ".air/shared/context-tests/t.yaml"


def project(tmp_path: Path, tests: str, monkeypatch: pytest.MonkeyPatch, **more: str) -> Path:
    root = make_project(tmp_path / "p", {**FILES, TESTS: f"version: 1\ntests:\n{tests}", **more})
    monkeypatch.chdir(make_commit(root))
    return root


def check(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["context", "check", *arguments])


def test_what_must_be_seen_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tests = """
  - name: a task
    task: T3
    must_contain:
      ["Begin with a licence line.", {file: stock/AGENTS.md}, {rule: AGENTS.md#tests}, {regex: "^Stock .* pieces"}]
    must_not_contain: ["British English", {file: .cursor/rules/docs.mdc}]
    omitted: [{file: .cursor/rules/docs.mdc, reason: path_not_matched}]
    max_tokens: 20000
  - {name: a path, paths: [docs/x.md], must_contain: [British English], must_not_contain: [pieces]}
  - {name: codex, as: codex, paths: [stock/a.py], must_contain: [licence line], must_not_contain: [pieces]}
  - {name: gemini has nothing, as: gemini, paths: [stock/a.py], must_not_contain: [licence line]}
"""
    project(tmp_path, tests, monkeypatch)
    done = check("--json")
    assert done.exit_code == 0, done.output
    answer = json.loads(done.output)
    assert [one["state"] for one in answer["check"]["results"]] == ["passed"] * 4
    assert answer["failed"] == 0


def test_a_failure_says_what_is_missing_and_why_with_file_and_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tests = """
  - name: all wrong
    paths: [stock/a.py]
    must_contain: [British English, {file: .cursor/rules/docs.mdc}, {rule: never}]
    must_not_contain: [pieces]
    omitted: [{file: AGENTS.md}, {file: .cursor/rules/docs.mdc, reason: budget}]
    max_tokens: 10
"""
    project(tmp_path, tests, monkeypatch)
    done = check()
    assert done.exit_code == 1
    said = " ".join(done.output.split())
    assert f"{TESTS}:6: 'British English' is missing" in said
    assert ".cursor/rules/docs.mdc is omitted (path_not_matched): its globs are docs/**" in said
    assert "decided at .cursor/rules/docs.mdc:2" in said
    assert "add a glob that matches the task's write area" in said
    assert "rule never is missing it was never considered" in said
    assert "'pieces' may not be in, and is it is in from stock/AGENTS.md:1-1, by path stock/a.py" in said
    assert "file AGENTS.md should be left out, and is in" in said
    assert "is left out, but not for `budget`" in said
    assert "more than `max_tokens` 10" in said
    assert "1 of 1 test failed" in said


def test_a_golden_is_written_kept_and_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tests = """
  - {name: one, task: T3, golden: one.json}
  - {name: two, as: claude-code, paths: [stock/a.py], golden: two.json}
"""
    root = project(tmp_path, tests, monkeypatch, **{"CLAUDE.md": "@AGENTS.md\n"})
    missing = check()
    assert missing.exit_code == 1
    assert "the whole file: it is not there" in missing.output
    assert check("--update").exit_code == 0
    folder = root / ".air/shared/context-tests"
    kept = {name: (folder / name).read_text() for name in ("one.json", "two.json")}
    assert all(str(tmp_path) not in text for text in kept.values())
    assert check().exit_code == 0
    write_tree(root, {"AGENTS.md": FILES["AGENTS.md"].replace("pytest", "tox"), "stock/CLAUDE.md": "More.\n"})
    changed = check()
    assert changed.exit_code == 1
    assert "~ L3 L3:project:AGENTS.md#tests (whole): text" in changed.output
    assert "+ L3 L3:project:stock/CLAUDE.md#_ (whole)" in changed.output
    assert {name: (folder / name).read_text() for name in kept} == kept
    assert check("--update").exit_code == 0
    assert check().exit_code == 0


def test_a_golden_is_the_same_in_another_clone_of_another_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tests = "  - {name: one, task: T3, golden: one.json}\n"
    root = project(tmp_path, tests, monkeypatch, **{".gitignore": "CLAUDE.local.md\n"})
    assert check("--update").exit_code == 0
    make_commit(root)
    home = tmp_path / "another home"
    write_tree(home, {".air/rules/mine.md": "Mine.\n", ".claude/CLAUDE.md": "Mine too.\n", ".air/config.toml": ""})
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("AIR_HOME", str(home / ".air"))
    write_tree(root, {"CLAUDE.local.md": "Ignored by git.\n"})
    assert check().exit_code == 0


def test_other_tools_are_guarded_without_any_set_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "plain"
    tests = "  - {name: rules, paths: [a.py], must_contain: [licence]}\n  - {name: t, task: T1, max_tokens: 9}\n"
    write_tree(root, {"AGENTS.md": "A licence line.\n", "t.yaml": f"version: 1\ntests:\n{tests}"})
    monkeypatch.chdir(root)
    done = check("--as", "codex", "t.yaml")
    assert done.exit_code == 0, done.output
    assert "skipped" in done.output
    assert check("--as", "cursor", "t.yaml").exit_code == 0
    gone = check("--as", "gemini", "t.yaml")
    assert gone.exit_code == 1
    assert "gemini does not read AGENTS.md files" in gone.output


@pytest.mark.parametrize(
    ("tests", "said"),
    [
        ("  - {name: n, must_contian: [x]}\n", "did you mean `must_contain`?"),
        ("  - {name: n, task: T9, max_tokens: 5}\n", "the plan has no task T9"),
        ("  - {name: n, role: nobody, max_tokens: 5}\n", "there is no role `nobody`"),
    ],
)
def test_a_wrong_file_ends_with_two(
    tests: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from aircoding.cli.main import main

    project(tmp_path, tests, monkeypatch)
    with pytest.raises(SystemExit) as ended:
        main(["context", "check"])
    assert ended.value.code == 2
    said_all = capsys.readouterr().err
    assert said in said_all
    assert f"{TESTS}:3" in said_all


def test_ci_reads_the_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tests = '  - {name: "a,b: <&> \\u0001 ::error", paths: [a], must_contain: ["x\\n::set-output"]}\n'
    root = project(tmp_path, tests, monkeypatch)
    done = check("--junit", "out.xml", "--github")
    assert done.exit_code == 1
    suite = ET.parse(root / "out.xml").getroot()[0]
    assert (suite.get("tests"), suite.get("failures"), suite.get("name")) == ("1", "1", TESTS)
    assert "<&>" in (suite[0].get("name") or "")
    commands = [line for line in done.output.splitlines() if line.startswith("::")]
    assert len(commands) == 1
    assert commands[0].startswith(f"::error file={TESTS},line=3,title=a%2Cb%3A <&>")


def test_nothing_is_left_behind_and_nothing_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    root = project(tmp_path, "  - {name: n, task: T3, max_tokens: 5}\n", monkeypatch)
    before = sorted(path for path in root.rglob("*") if ".git/" not in str(path))
    assert check().exit_code == 1
    assert sorted(path for path in root.rglob("*") if ".git/" not in str(path)) == before
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize("inner", ["0link", "zlink"])  # before and after the file in any order of names
def test_nothing_is_written_through_a_link_that_took_the_place_of_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, inner: str
) -> None:
    tests = "\n  - {name: a path, paths: [stock/a.py], must_contain: [licence line]}\n"
    root = project(tmp_path, tests, monkeypatch, **{f".claude/rules/{inner}/x.md": "Old.\n"})
    outside = tmp_path / "outside"
    write_tree(outside, {"x.md": "Mine.\n" * 2_000_000})
    before = (outside / "x.md").read_bytes()
    shutil.rmtree(root / ".claude/rules" / inner)
    (root / ".claude/rules" / inner).symlink_to(outside)

    done = check("--json")

    assert done.exit_code == 0, done.output
    assert (outside / "x.md").read_bytes() == before
    assert f".claude/rules/{inner} is a link that leads out of the project" in done.output


def test_a_regular_expression_that_takes_for_ever_fails_its_test(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aircoding.app.context_checks._MOST_SECONDS", 0.5)
    tests = '\n  - {name: slow, as: codex, paths: [a.py], must_contain: [{regex: "^(a+)+$"}]}\n'
    project(tmp_path, tests, monkeypatch, **{"AGENTS.md": "a" * 60 + "!\n"})

    done = check()

    assert done.exit_code == 1
    assert "it was not decided within" in done.output


def test_update_writes_over_no_test_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = project(tmp_path, "\n  - {name: x, paths: [a.py], as: codex, golden: t.yaml}\n", monkeypatch)
    before = (root / TESTS).read_text()

    done = CliRunner().invoke(cli, ["context", "check", "--update"], standalone_mode=False)

    assert isinstance(done.exception, ConfigError)
    assert "does not end with .json" in done.exception.message
    assert (root / TESTS).read_text() == before
