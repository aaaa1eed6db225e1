"""Whose a rule file is: what its reader says, never what a repository calls it."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.rule_folders import RuleFolders

from aircoding.records.layers import Trust
from aircoding.rules.adoption import ForeignTool, adopted_files
from aircoding.rules.neutral import neutral_rules
from aircoding.rules.precedence import Level
from aircoding.rules.rule_switches import RuleSwitches
from aircoding.rules.tools.account import Tool, ToolOptions
from aircoding.rules.tools.explain import explain_as
from aircoding.rules.tree import Owner, RuleTree
from aircoding.sources.rule_tree import RuleHomes, read_rule_tree, walk_paths

FORGED = {
    "./~/AGENTS.md": "forged one",
    "./~/.claude/CLAUDE.md": "forged two",
    "./~/.codex/AGENTS.md": "forged three",
    "./~/.claude/rules/a.md": "forged four",
    "./~foo/AGENTS.md": "forged five",
}


@pytest.fixture
def read(tmp_path: Path) -> RuleFolders:
    return RuleFolders(tmp_path)


def tree_of(read: RuleFolders) -> RuleTree:
    homes = RuleHomes(user=read.home, machine=read.machine)
    return read_rule_tree(read.project, walk_paths(read.project)[0], homes=homes)


@pytest.mark.parametrize("trusted", [True, False])
def test_a_folder_named_like_the_home_gives_a_repository_no_trust(read: RuleFolders, trusted: bool) -> None:
    rules = read(FORGED, trusted=trusted).rules.segments
    forged = {one.source.uri: one for one in rules if one.text.startswith("forged")}
    assert set(forged) == {f"project:{name.removeprefix('./') if '~/' not in name else name}" for name in FORGED}
    assert {one.trust for one in forged.values()} == {Trust.PROJECT if trusted else Trust.EXTERNAL}
    assert all(one.level >= Level.DIRECTORY and one.paths for one in forged.values())
    assert all(not one.title.startswith("~/") for one in forged.values())


def test_the_users_file_and_its_forgery_are_two_files(read: RuleFolders) -> None:
    found = read({**FORGED, "~/.claude/CLAUDE.md": "mine", "~/.codex/AGENTS.md": "mine too"})
    assert (found.one("~/.claude/CLAUDE.md").text, found.one("~/.claude/CLAUDE.md").trust) == ("mine", Trust.USER)
    assert found.one("project:./~/.claude/CLAUDE.md").trust is Trust.PROJECT
    owners = {path: file.owner for path, file in tree_of(read).files.items()}
    assert owners["~/.codex/AGENTS.md"] is Owner.USER
    assert owners["./~/.codex/AGENTS.md"] is Owner.PROJECT


def test_a_relative_import_never_means_the_home(read: RuleFolders) -> None:
    files = {"CLAUDE.md": "@./~/x.md", "./~/x.md": "the project's", "~/x.md": "private"}
    found = read(files)
    # The policy takes every path that begins with `~` for one outside, so the file is listed and not used.
    assert found.one("project:./~/x.md").trust is Trust.PROJECT
    assert found.one("project:./~/x.md").barred is not None
    assert tree_of(read).files["./~/x.md"].text == "the project's"
    assert "private" not in "".join(one.text for one in found.rules.segments)


def test_other_tools_and_adoption_see_the_folder_as_the_projects(read: RuleFolders) -> None:
    read({**FORGED, "~/.claude/CLAUDE.md": "mine"})
    tree = tree_of(read)
    rules = neutral_rules(tree, RuleSwitches(), root="/nowhere")
    adopted = [one.path for one in adopted_files(tree, rules, ForeignTool.CLAUDE, skills={})]
    assert adopted == ["./~/.claude/CLAUDE.md", "./~/.claude/rules/a.md"]
    codex = explain_as(tree, "~/x.py", Tool.CODEX, ToolOptions(cwd="~"))
    assert [one.path for one in codex.entries if one.reaches] == ["./~/AGENTS.md"]
    claude = explain_as(tree, "~/x.py", Tool.CLAUDE_CODE, ToolOptions())
    loaded = [one.path for one in claude.entries if one.reaches]
    assert loaded == ["~/.claude/CLAUDE.md", "./~/.claude/CLAUDE.md", "./~/.claude/rules/a.md", "./~/AGENTS.md"]


def test_excludes_of_the_home_do_not_reach_the_project(read: RuleFolders) -> None:
    found = read({**FORGED, "~/.claude/CLAUDE.md": "mine"}, excludes=("~/**",))
    assert "project:./~/AGENTS.md" in found.used()
    assert found.one("~/.claude/CLAUDE.md").barred is not None
