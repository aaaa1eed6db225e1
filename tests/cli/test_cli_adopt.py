"""`init --from TOOL` as a process: what it finds, what it proposes, and that no file of the tool changes."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
from support.demo_runs import Ended, air
from support.projects import make_commit, make_project, write_tree
from support.texts import REPOSITORY

from aircoding.homes import air_home
from aircoding.permissions.policy_file import parse_policy_file
from aircoding.records.layers import SegmentKind
from aircoding.records.policy import PolicyLevel
from aircoding.rules.rule_names import classify
from aircoding.screening.screener import TextScreener
from aircoding.sources.rule_files import read_rules
from aircoding.sources.segments import Intake
from aircoding.sources.skill_files import read_skills
from aircoding.sources.trust import trust_project
from aircoding.workspace.worktree import GitWorktree

TREES = REPOSITORY.parent / "shared" / "data" / "rule-trees"
PAGE = REPOSITORY / "docs" / "how-to" / "move-from-another-tool.md"
RULES = {
    "allow": ["Bash(npm run test:*)", "Bash(git * main)", "Edit(src/**)"],
    "ask": ["Bash(git push *)"],
    "deny": ["Read(./.env)", "Bash(curl:*)", "mcp__github"],
    "defaultMode": "acceptEdits",
}
FILES: dict[str, str | bytes] = {
    "CLAUDE.md": "# House\n\nUse tabs.\n",
    ".claude/rules/web.md": "---\npaths: web/**\n---\nUse flex.\n",
    ".claude/settings.json": json.dumps({"permissions": RULES, "hooks": {}}),
    ".cursor/rules/a.mdc": "---\nalwaysApply: true\n---\nBe brief.\n",
    "a.py": "A = 1\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_commit(make_project(tmp_path / "project", FILES))


def digests(root: Path) -> dict[str, str]:
    """Return what each file outside `.air` and `.git` is: the digest of its bytes, or where its link leads."""
    found = {}
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in {".git", ".air"}]
        for name in [*names, *(one for one in folders if (Path(folder) / one).is_symlink())]:
            path = Path(folder) / name
            key = path.relative_to(root).as_posix()
            if path.is_symlink():
                found[key] = f"-> {os.readlink(path)}"
            else:
                found[key] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def adopt(root: Path, tool: str, *more: str) -> dict[str, Any]:
    ended = air(root, "init", "--from", tool, "--no-trust", "--json", *more)
    assert ended.code == 0, ended.output
    return ended.result["adoption"]  # type: ignore[return-value]


def test_a_project_of_claude_code_is_taken_over(root: Path) -> None:
    before = digests(root)
    done = adopt(root, "claude")
    assert digests(root) == before
    assert {one["path"]: one["reading"] for one in done["files"]} == {
        ".claude/rules/web.md": "by path",
        ".claude/settings.json": "not at all",
        "CLAUDE.md": "always",
    }
    settings = tomllib.loads((root / ".air/config.toml").read_text())
    assert settings["rules"] == {"claude": True}
    assert "[rules] claude" in done["switches"]

    permissions = done["permissions"]
    assert (permissions["path"], permissions["is_own"]) == (".air/shared/permissions.yaml", True)
    text = (root / ".air/shared/permissions.yaml").read_text()
    file = parse_policy_file(text, uri="x", level=PolicyLevel.PROJECT)
    assert file.diagnostics == ()
    assert sorted((rule.effect.value, rule.pattern) for rule in file.rules) == [
        ("allow", "npm run test *"),
        ("ask", "git push *"),
        ("deny", "./.env"),
        ("deny", "curl *"),
    ]
    left = [(one["effect"], one["rule"]) for one in permissions["untranslated"]]
    assert left == [
        ("", "defaultMode: 'acceptEdits'"),
        ("deny", "mcp__github"),
        ("allow", "Bash(git * main)"),
        ("allow", "Edit(src/**)"),
    ]
    assert all(json.dumps(rule) in text for _, rule in left)
    checked = air(root, "permissions", "check", "cat .env")
    assert "deny" in checked.output


def test_what_the_user_keeps_off_is_said(root: Path, guarded_environment: Path) -> None:
    (guarded_environment / "config.toml").write_text("[rules]\nclaude = false\n")
    done = adopt(root, "claude")
    assert done["kept_off"] == ["[rules] claude"]
    assert "~/.air/config.toml" in done["next_commands"][0]
    assert "still off, by your own settings" in air(root, "init", "--from", "claude", "--no-trust").output
    (guarded_environment / "config.toml").write_text("[rules]\ncursor = false\n")
    done = adopt(root, "claude")
    assert done["kept_off"] == []
    assert "still off" not in air(root, "init", "--from", "claude", "--no-trust").output


def test_a_second_time_changes_nothing(root: Path) -> None:
    adopt(root, "claude")
    texts = {path: path.read_bytes() for path in (root / ".air").rglob("*") if path.is_file()}
    done = adopt(root, "claude")
    assert {path: path.read_bytes() for path in (root / ".air").rglob("*") if path.is_file()} == texts
    assert done["permissions"]["is_own"] is True


def test_a_policy_of_the_projects_own_stays_and_the_proposal_lies_beside_it(root: Path) -> None:
    own = "version: 1\ncommands: {deny: [quux]}\n"
    write_tree(root, {".air/shared/permissions.yaml": own, ".air/config.toml": "# mine\n[rules]\nclaude = false\n"})
    done = adopt(root, "claude")
    assert (root / ".air/shared/permissions.yaml").read_text() == own
    assert done["permissions"]["path"] == ".air/shared/permissions.from-claude.yaml"
    assert "npm run test *" in (root / done["permissions"]["path"]).read_text()
    config = (root / ".air/config.toml").read_text()
    assert config.startswith("# mine\n[rules]\nclaude = true\n")
    assert tomllib.loads(config) == {"rules": {"claude": True}, "skills": {"claude": True}}


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (b"{", "it is no JSON"),
        (b"[" * 100_000, "it is no JSON"),
        (b"a\0b", "binary file"),
        (b'{"permissions": 3}', "no rule"),
    ],
    ids=["broken", "deep", "binary", "no object"],
)
def test_settings_that_cannot_be_read_are_said_and_stop_nothing(root: Path, settings: bytes, said: str) -> None:
    (root / ".claude/settings.json").write_bytes(settings)
    ended = air(root, "init", "--from", "claude", "--no-trust")
    assert (ended.code, "Traceback" in ended.output) == (0, False), ended.output
    assert said in ended.output
    assert "# commands:" in (root / ".air/shared/permissions.yaml").read_text()


def refused(root: Path, *arguments: str) -> Ended:
    ended = air(root, "init", *arguments)
    assert (ended.code, "Traceback" in ended.output) == (2, False), ended.output
    return ended


def test_without_files_of_the_tool_nothing_is_made(root: Path) -> None:
    assert "this project has no files of gemini" in refused(root, "--from", "gemini").output
    assert not (root / ".air").exists()


def test_settings_of_ours_that_cannot_be_changed_are_refused_before_anything_is_made(root: Path) -> None:
    write_tree(root, {".air/config.toml": "rules = {agents_md = true}\n"})
    assert "write it there by hand: [rules], below it claude = true" in refused(root, "--from", "claude").output
    assert os.listdir(root / ".air") == ["config.toml"]


@pytest.mark.parametrize("name", ["koku", "pydantic-ai", "task-master"])
@pytest.mark.shared
@pytest.mark.skipif(not TREES.is_dir(), reason="the public rule trees lie beside the project, not in it")
def test_no_file_of_a_real_project_changes(tmp_path: Path, name: str) -> None:
    root = tmp_path / name
    shutil.copytree(TREES / name, root, symlinks=True)
    make_commit(make_project(root, {}))
    before = digests(root)
    for tool in ("claude", "cursor"):
        done = adopt(root, tool)
        assert {one["path"] for one in done["files"]} <= set(before)
        assert all(one["why"] for one in done["files"])
    assert digests(root) == before
    status = subprocess.run(
        ["git", "-C", str(root), "status", "--porcelain"], capture_output=True, text=True, check=True
    )
    assert [line for line in status.stdout.splitlines() if not line.endswith(".air/")] == []


def read_by_workers(root: Path) -> dict[str, str]:
    """Return when each file reaches a worker, from the candidates that its prompt is made of."""
    key = Intake(TextScreener(key=b"k" * 32))
    segments = read_rules(root, air_home(), GitWorktree(str(root)).paths(), intake=key, trusted=True).segments
    readings: dict[str, str] = {}
    for one in segments:
        if one.barred is None and one.text.strip():
            how = "on demand" if one.kind is SegmentKind.GUIDANCE else "by path" if one.paths else "always"
            readings[one.source.uri.removeprefix("project:")] = how
    for one in read_skills(root, air_home(), trusted=True).usable:
        readings[one[0].uri.removeprefix("project:")] = "on demand"
    return readings


@pytest.mark.parametrize("name", ["koku", "pydantic-ai", "task-master"])
@pytest.mark.shared
@pytest.mark.skipif(not TREES.is_dir(), reason="the public rule trees lie beside the project, not in it")
def test_what_is_said_of_a_real_project_is_what_its_workers_get(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """E20, E22: imports, files and folders of skills that should be links, and rules where no tool looks for them."""
    monkeypatch.setenv("HOME", str(tmp_path))
    root = tmp_path / name
    shutil.copytree(TREES / name, root, symlinks=True)
    make_commit(make_project(root, {}))
    trust_project(air_home(), root)
    workers = read_by_workers(root)
    compared = 0
    for tool in ("claude", "cursor", "copilot", "gemini"):
        ended = air(root, "init", "--from", tool, "--json")
        for one in ended.result["adoption"]["files"] if ended.code == 0 else ():  # type: ignore[index]
            path, reading = one["path"], one["reading"]
            if "the same file as" in one["why"]:
                assert path not in workers
            elif classify(path) is not None or path.endswith("/SKILL.md") or path in workers:
                assert reading == workers.get(path, "not at all"), one
                compared += 1
    assert compared > (1 if name == "koku" else 10)
    expected = {
        "task-master": {".taskmaster/CLAUDE.md": ("always", "CLAUDE.md imports it")},
        "pydantic-ai": {
            "docs/CLAUDE.md": ("not at all", "holds only the name of docs/AGENTS.md"),
            ".claude/skills/i-have-adhd": ("not at all", "holds only the name of the folder"),
        },
    }.get(name, {})
    said = {one["path"]: one for one in air(root, "init", "--from", "claude", "--json").result["adoption"]["files"]}  # type: ignore[index]
    for path, (reading, why) in expected.items():
        assert (said[path]["reading"], why in said[path]["why"]) == (reading, True), said[path]


def test_the_commands_of_the_page_do_what_it_says(root: Path) -> None:
    write_tree(
        root,
        {
            ".claude/agents/code-reviewer.md": "---\nname: code-reviewer\ndescription: Reads.\n---\nYou read.\n",
            ".codex/rules/default.rules": 'prefix_rule(pattern=["git", "push"], decision="forbidden")\n',
            "opencode.json": '{"permission": {"bash": {"git push *": "deny"}}}',
            ".gemini/policies/team.toml": '[[rule]]\ncommandPrefix = "git push"\ndecision = "deny"\npriority = 1\n',
        },
    )
    for block in PAGE.read_text().split("```\n")[1::2]:
        for line in block.strip().splitlines():
            program, *arguments = shlex.split(line)
            assert program == "aircoding"
            assert air(root, *arguments).code == 0, line
    assert "it has no header" in air(root, "init", "--from", "claude").output


AGENTS = {
    ".claude/agents/helper.md": "---\nname: helper\ndescription: Helps.\ntools: Read\nmodel: opus\n---\nYou help.\n",
    ".claude/agents/deep/executor.md": "---\nname: executor\ndescription: Runs.\n---\nYou run.\n",
    ".claude/agents/twin.md": "---\nname: Helper\ndescription: Again.\n---\nYou help too.\n",
    ".claude/agents/broken.md": "---\nname: x\n",
    ".claude/agents/own.md": "---\nname: own\ndescription: Mine.\n---\nYou are mine.\n",
}


def test_subagents_become_roles_that_build_a_prompt(root: Path) -> None:
    own = (REPOSITORY / "resources/prompts/roles/executor.md").read_text().replace("role: executor", "role: own")
    write_tree(root, {**AGENTS, ".air/shared/roles/own.md": own})
    make_commit(root)
    before = digests(root)
    done = adopt(root, "claude")
    assert digests(root) == before
    found = {one["path"].removeprefix(".claude/agents/"): one for one in done["agents"]}
    assert {name: (one["role"], one["made"]) for name, one in found.items()} == {
        "broken.md": (None, False),
        "deep/executor.md": ("executor_project", True),
        "helper.md": ("helper", True),
        "own.md": ("own", False),
        "twin.md": (None, False),
    }
    assert "no closing" in found["broken.md"]["why"]
    assert "helper.md has the same name" in found["twin.md"]["why"]
    assert [one.split(":")[0] for one in found["helper.md"]["left"]] == ["model"]
    assert (root / ".air/shared/roles/own.md").read_text() == own
    assert air(root, "permissions", "trust").code == 0
    for role, prompt in (("helper", "You help."), ("executor_project", "You run.")):
        built = air(root, "context", "build", "--role", role, "--json")
        assert built.code == 0, built.output
        assert prompt in built.output

    texts = {path: path.read_bytes() for path in (root / ".air/shared/roles").iterdir()}
    again = adopt(root, "claude")
    assert {path: path.read_bytes() for path in (root / ".air/shared/roles").iterdir()} == texts
    assert not any(one["made"] for one in again["agents"])


def test_subagents_are_left_alone_where_the_projects_roles_are_not_in_order(root: Path) -> None:
    write_tree(root, {**AGENTS, ".air/shared/roles/bad.md": "no header\n"})
    done = adopt(root, "claude")
    assert os.listdir(root / ".air/shared/roles") == ["bad.md"]
    assert all("not in order" in one["why"] for one in done["agents"])
    assert "no role" in air(root, "init", "--from", "claude", "--no-trust").output
