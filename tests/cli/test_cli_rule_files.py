"""`[rules]` in the settings, and the user's own files: what a worker reads, seen from the command line."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from support.demo_runs import air
from support.projects import make_commit, make_project, write_tree

BUILD = ("context", "build", "--role", "executor", "--path", "src/a.py", "--json")
FILES = {
    "CLAUDE.md": "Use tabs. @docs/style.md\n",
    "docs/style.md": "Short names.\n",
    "AGENTS.md": "Run tests.\n",
    "src/a.py": "x = 1\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A trusted project with rule files of two tools; the user has some as well."""
    write_tree(Path(os.environ["HOME"]), {".claude/CLAUDE.md": "Call me Kim.\n"})
    write_tree(tmp_path / "codex", {"AGENTS.md": "British spelling.\n"})
    root = make_commit(make_project(tmp_path / "project", FILES))
    assert air(root, "permissions", "trust").code == 0
    return root


def settings(root: Path, project: str = "", user: str = "") -> None:
    write_tree(root, {".air/config.toml": project})
    write_tree(Path(os.environ["AIR_HOME"]), {"config.toml": user})


def built(root: Path) -> tuple[set[str], dict[str, str]]:
    """The uris of the rule files that a worker gets, and why others are left out."""
    context: Any = air(root, *BUILD).result["context"]
    shown = {one["source"]["uri"] for one in context["manifest"]["segments"] if one["layer"] == "L3"}
    left = {one["uri"]: one["detail"] for one in context["omissions"] if one["layer"] == "L3"}
    return {uri for uri in shown if not uri.startswith("resource:")}, left


def test_a_worker_gets_the_files_of_all_tools_and_the_users_own(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODEX_HOME", str(root.parent / "codex"))
    shown, _ = built(root)
    assert shown == {
        "~/.claude/CLAUDE.md",
        "~/.codex/AGENTS.md",
        "project:AGENTS.md",
        "project:CLAUDE.md",
        "project:docs/style.md",
    }


def test_a_switch_in_the_projects_settings_leaves_files_out_and_says_so(root: Path) -> None:
    settings(root, project='[rules]\nclaude = false\nexcludes = ["AGENTS.md"]\n')
    shown, left = built(root)
    assert shown == set()
    assert "`[rules] claude = false`" in left["project:CLAUDE.md"]
    assert "`[rules] claude = false`" in left["~/.claude/CLAUDE.md"]
    assert "`[rules] excludes`" in left["project:AGENTS.md"]


def test_what_the_user_excludes_a_project_does_not_let_in_again(root: Path) -> None:
    settings(root, project='[rules]\nexcludes = ["docs/**"]\n', user='[rules]\nexcludes = ["AGENTS.md"]\n')
    shown, left = built(root)
    assert shown == {"~/.claude/CLAUDE.md", "project:CLAUDE.md"}
    assert {"project:AGENTS.md", "project:docs/style.md"} <= set(left)


def test_the_users_own_files_are_for_the_user_to_switch(root: Path) -> None:
    settings(root, project="[rules]\nuser_files = false\n")
    ended = air(root, *BUILD)
    assert ended.code == 2
    assert "[rules] user_files may stand only in ~/.air/config.toml" in ended.output
    settings(root, user="[rules]\nuser_files = false\n")
    shown, left = built(root)
    assert "~/.claude/CLAUDE.md" not in shown
    assert "`[rules] user_files = false`" in left["~/.claude/CLAUDE.md"]


def test_a_wrong_value_names_the_file_and_the_choices(root: Path) -> None:
    settings(root, project='[rules]\nagents_and_claude = "both"\n')
    ended = air(root, *BUILD)
    assert ended.code == 2
    assert ".air/config.toml: [rules] agents_and_claude" in ended.output
    assert "claude-md-or-agents-md" in ended.output
