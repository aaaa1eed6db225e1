"""The rows of the compatibility table for our own workers, and the switches: each file as its owner defined it."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.projects import write_tree
from support.rule_folders import RuleFolders

from aircoding.records.layers import OutcomeKind, Reason, Scope, SegmentKind, Trust
from aircoding.rules.precedence import Level
from aircoding.sources.foreign_texts import without_pointers


@pytest.fixture
def read(tmp_path: Path) -> RuleFolders:
    return RuleFolders(tmp_path)


def test_row_agents_md_chain(read: RuleFolders) -> None:
    found = read(
        {
            "AGENTS.md": "a",
            "src/AGENTS.override.md": "b",
            "src/AGENTS.md": "c",
            "docs/CONTEXT.md": "d",
            "CONTEXT.md": "e",
        }
        | {"~/.codex/AGENTS.md": "u"},
        agents_fallbacks=("CONTEXT.md",),
    )
    assert found.used() == {
        "project:AGENTS.md": "a",
        "project:src/AGENTS.override.md": "b",
        "project:docs/CONTEXT.md": "d",
        "~/.codex/AGENTS.md": "u",
    }
    assert found.out("CONTEXT.md")[2] == "project:AGENTS.md in the same folder takes its place"
    levels = [found.one(name).level for name in ("~/.codex/AGENTS.md", "AGENTS.md", "docs/CONTEXT.md")]
    assert levels == [Level.USER, Level.PROJECT, Level.DIRECTORY]


def test_row_claude_md_family(read: RuleFolders) -> None:
    names = ["CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md", "pkg/CLAUDE.md", "pkg/CLAUDE.local.md"]
    outside = ["/etc/claude-code/CLAUDE.md", "~/.claude/CLAUDE.md"]
    found = read({name: f"of {name}" for name in (*names, *outside)}, excludes=("pkg/CLAUDE.md", "/etc/**"))
    assert found.out("pkg/CLAUDE.md")[1:] == (Reason.DISABLED, "`[rules] excludes` in config.toml names it")
    rules = [found.one(name) for name in ("/etc/claude-code/CLAUDE.md", "~/.claude/CLAUDE.md", *names[:3])]
    order = sorted(rules, key=lambda rule: (rule.level, rule.sequence))
    assert [rule.source.uri for rule in order[:2]] == [rules[0].source.uri, rules[1].source.uri]
    assert order[-1].source.uri == "project:CLAUDE.local.md"
    assert found.one("pkg/CLAUDE.local.md").paths == ("pkg/**",)


@pytest.mark.parametrize(
    ("choice", "agents", "claude"),
    [
        ("claude-md-and-agents-md", True, True),
        ("claude-md-or-agents-md", False, True),
        ("claude-md", False, True),
        ("managed-only", False, False),
    ],
)
def test_row_agents_vs_claude(read: RuleFolders, choice: str, agents: bool, claude: bool) -> None:
    managed = {"/etc/claude-code/CLAUDE.md": "m"}
    found = read({"AGENTS.md": "a", "pkg/AGENTS.md": "b", "CLAUDE.md": "c", **managed}, agents_and_claude=choice)
    used = set(found.used())
    assert "/etc/claude-code/CLAUDE.md" in used
    assert ({"project:AGENTS.md", "project:pkg/AGENTS.md"} <= used, "project:CLAUDE.md" in used) == (agents, claude)
    for name in ("AGENTS.md", "CLAUDE.md"):
        if f"project:{name}" not in used:
            assert f'agents_and_claude = "{choice}"' in found.out(name)[2]
    (found.root / "CLAUDE.md").unlink()
    assert ("project:AGENTS.md" in read({}, agents_and_claude="claude-md-or-agents-md").used()) is True


def test_row_claude_rules(read: RuleFolders) -> None:
    found = read(
        {
            ".claude/rules/deep/er/a.md": "always",
            ".claude/rules/b.md": "---\npaths: src/**, lib/*.py\n---\nscoped\n",
            "pkg/.claude/rules/c.md": "---\npaths: ['src/**']\n---\nnested\n",
            "pkg/.claude/rules/d.md": "folder",
            "~/.claude/rules/e.md": "mine",
        }
    )
    assert found.one(".claude/rules/deep/er/a.md").scope is Scope.RUN
    scoped = found.one(".claude/rules/b.md")
    assert (scoped.paths, scoped.scope, scoped.paths_line) == (("src/**", "lib/*.py"), Scope.SESSION, 2)
    assert found.one("pkg/.claude/rules/c.md").paths == ("pkg/src/**",)
    assert found.one("pkg/.claude/rules/d.md").paths == ("pkg/**",)
    assert (found.one("~/.claude/rules/e.md").trust, found.one("~/.claude/rules/e.md").level) == (
        Trust.USER,
        Level.USER,
    )


def test_row_cursor_mdc_copilot_applyto_windsurf_trigger(read: RuleFolders) -> None:
    found = read(
        {
            ".cursor/rules/always.mdc": "---\nalwaysApply: true\n---\nA\n",
            ".cursor/rules/glob.mdc": "---\nglobs: src/**\n---\nB\n",
            ".cursor/rules/described.mdc": "---\ndescription: How we\n  log\n---\nC\n",
            ".cursor/rules/manual.mdc": "D\n",
            ".cursor/rules/plain.md": "E\n",
            "pkg/.cursor/rules/nested.mdc": "---\nglobs: src/*.py\n---\nF\n",
            ".cursorrules": "G\n",
            ".github/copilot-instructions.md": "H\n",
            "pkg/.github/copilot-instructions.md": "I\n",
            ".github/instructions/a.instructions.md": "---\napplyTo: '**/*.ts'\nexcludeAgent: code-review\n---\nJ\n",
            ".github/instructions/b.instructions.md": "K\n",
            "other.instructions.md": "---\napplyTo: '**'\n---\nL\n",
            ".windsurf/rules/a.md": "---\ntrigger: always_on\n---\nM\n",
            ".windsurf/rules/b.md": "---\ntrigger: glob\nglobs: '*.css'\n---\nN\n",
            ".windsurf/rules/c.md": "---\ntrigger: model_decision\ndescription: Colours\n---\nO\n",
            ".windsurf/rules/d.md": "P\n",
            ".windsurfrules": "Q\n",
        }
    )
    pointers = [rule for rule in found.rules.segments if rule.kind is SegmentKind.GUIDANCE]
    assert sorted(rule.text for rule in pointers) == [
        "- .cursor/rules/described.mdc: How we log",
        "- .cursor/rules/manual.mdc: when somebody names it",
        "- .github/instructions/b.instructions.md: when somebody names it",
        "- .windsurf/rules/c.md: Colours",
        "- .windsurf/rules/d.md: when somebody names it",
    ]
    texts = {uri.removeprefix("project:"): text for uri, text in found.used().items() if not text.startswith("- ")}
    assert "".join(sorted(texts.values())) == "ABFGHJMNQ"
    assert found.one(".cursor/rules/glob.mdc").paths == ("src/**",)
    assert found.one("pkg/.cursor/rules/nested.mdc").paths == ("pkg/src/*.py",)
    assert found.one(".windsurf/rules/b.md").paths == ("**/*.css",)
    assert "passes over a plain .md" in found.out(".cursor/rules/plain.md")[2]
    assert "in .github of the project root only" in found.out("pkg/.github/copilot-instructions.md")[2]
    assert "below .github/instructions" in found.out("other.instructions.md")[2]
    assert "rule.exclude_agent" in found.codes()
    left = [rule.barred for rule in without_pointers(found.rules.segments) if rule.kind is SegmentKind.GUIDANCE]
    assert {why.reason for why in left if why is not None} == {Reason.NOT_IN_PROFILE}


def test_row_gemini_and_hermes(read: RuleFolders) -> None:
    found = read({"GEMINI.md": "a @b.md", "b.md": "b", "pkg/GEMINI.md": "c", ".hermes.md": "d", "HERMES.md": "e"})
    assert set(found.used().values()) == {"a @b.md", "b", "c", "d"}
    assert found.one("pkg/GEMINI.md").paths == ("pkg/**",)
    assert found.out("HERMES.md")[2] == "project:.hermes.md in the same folder takes its place"


def test_row_managed(read: RuleFolders) -> None:
    files = {"/etc/aircoding/rules/house.md": "---\nid: house\n---\nSign commits.\n", "/etc/claude-code/CLAUDE.md": "m"}
    found = read(files, claude=False, user_files=False, excludes=("**",), agents_and_claude="managed-only")
    house = found.one("/etc/aircoding/rules/house.md")
    assert (house.level, house.trust, house.rule_id, house.native) == (Level.MANAGED, Trust.USER, "house", True)
    assert found.one("/etc/claude-code/CLAUDE.md").barred is None


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("agents_md", "AGENTS.md"),
        ("claude", "CLAUDE.md"),
        ("claude", ".claude/rules/a.md"),
        ("cursor", ".cursorrules"),
        ("copilot", ".github/copilot-instructions.md"),
        ("gemini", "GEMINI.md"),
        ("hermes", ".hermes.md"),
        ("windsurf", ".windsurfrules"),
        ("user_files", "~/.gemini/GEMINI.md"),
    ],
)
def test_each_switch_leaves_out_its_files_and_names_itself(read: RuleFolders, key: str, name: str) -> None:
    uri = name if name.startswith("~/") else f"project:{name}"
    assert uri in read({name: "text"}).used()
    outcome, reason, detail = read({}, **{key: False}).out(uri)
    assert (outcome, reason) == (OutcomeKind.OMITTED, Reason.DISABLED)
    assert f"`[rules] {key} = false`" in detail


def test_an_import_has_the_reach_of_all_who_name_it(read: RuleFolders) -> None:
    files = {"a/CLAUDE.md": "@../x.md", "b/CLAUDE.md": "@../x.md", "x.md": "shared"}
    rule = read(files).one("x.md")
    assert (rule.paths, rule.scope) == (("a/**", "b/**"), Scope.SESSION)
    assert rule.title == "x.md (imported by a/CLAUDE.md, b/CLAUDE.md; for a/, b/)"
    everywhere = read({"CLAUDE.md": "@x.md"}).one("x.md")
    assert (everywhere.paths, everywhere.scope, everywhere.level) == ((), Scope.RUN, Level.PROJECT)


def test_an_import_of_a_scoped_rule_is_scoped_alike(read: RuleFolders) -> None:
    found = read({".claude/rules/a.md": "---\npaths: ['src/**']\n---\n@../../x.md\n", "x.md": "shared"})
    assert found.one("x.md").paths == ("src/**",)


def test_a_rule_file_that_is_imported_stands_once(read: RuleFolders) -> None:
    found = read({"CLAUDE.md": "@AGENTS.md\n\nMore.", "AGENTS.md": "Use tabs."})
    assert found.used() == {"project:CLAUDE.md": "@AGENTS.md\n\nMore.", "project:AGENTS.md": "Use tabs."}
    off = read({}, agents_md=False)
    assert off.one("AGENTS.md").title == "AGENTS.md (imported by CLAUDE.md)"


def test_the_files_of_an_untrusted_project_are_external_and_the_users_are_not(read: RuleFolders) -> None:
    found = read({"CLAUDE.md": "@x.md", "x.md": "x", ".cursorrules": "c", "~/.claude/CLAUDE.md": "mine"}, trusted=False)
    trusts = {rule.source.uri: rule.trust for rule in found.rules.segments if rule.trust is not Trust.BUILTIN}
    assert trusts.pop("~/.claude/CLAUDE.md") is Trust.USER
    assert set(trusts.values()) == {Trust.EXTERNAL}


def test_a_users_file_that_is_a_link_into_the_project_has_the_projects_trust(read: RuleFolders, tmp_path: Path) -> None:
    write_tree(tmp_path, {"project/CLAUDE.md": "theirs", "home/.claude/x": ""})
    (tmp_path / "home/.claude/CLAUDE.md").symlink_to(tmp_path / "project/CLAUDE.md")
    found = read({}, trusted=False)
    assert {rule.trust for rule in found.rules.segments if rule.trust is not Trust.BUILTIN} == {Trust.EXTERNAL}


def test_excludes_may_be_whole_paths_or_name_the_home(read: RuleFolders) -> None:
    files = {
        "CLAUDE.md": "@a.md",
        "a.md": "a",
        "pkg/CLAUDE.md": "b",
        "~/.claude/CLAUDE.md": "c",
        "~/.gemini/GEMINI.md": "d",
    }
    globs = (f"{read.project}/*/CLAUDE.md", "~/.claude/**", "a.md")
    found = read(files, excludes=globs)
    assert set(found.used()) == {"project:CLAUDE.md", "~/.gemini/GEMINI.md"}
    for name in ("pkg/CLAUDE.md", "~/.claude/CLAUDE.md", "a.md"):
        assert found.out(name)[1] is Reason.DISABLED


def test_of_codex_own_files_the_first_that_holds_text_counts(read: RuleFolders) -> None:
    found = read({"~/.codex/AGENTS.override.md": "", "~/.codex/AGENTS.md": "b"})
    assert found.used() == {"~/.codex/AGENTS.md": "b"}
    assert set(read({"~/.codex/AGENTS.override.md": "a"}).used()) == {"~/.codex/AGENTS.override.md"}


def test_a_glob_of_excludes_that_cannot_be_read_is_said(read: RuleFolders) -> None:
    assert "rule.excludes" in read({"CLAUDE.md": "a"}, excludes=("[z",)).codes()


def test_the_folders_of_a_task_are_looked_through_for_ignored_files(read: RuleFolders) -> None:
    write = {"CLAUDE.local.md": "a", "src/CLAUDE.local.md": "b"}
    found = read(write, near=["src/**"])
    assert set(found.used()) == {"project:CLAUDE.local.md", "project:src/CLAUDE.local.md"}
