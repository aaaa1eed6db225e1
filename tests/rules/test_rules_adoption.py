"""What becomes of each file of another tool: read always, by path, on demand, or not at all, and why."""

from __future__ import annotations

import pytest

from aircoding.rules.adoption import ForeignTool, Reading, adopted_files
from aircoding.rules.rule_names import classify
from aircoding.rules.tree import RuleTree, TreeFile


def tree(files: dict[str, str], *, problems: dict[str, str] | None = None, **more: tuple[int, int]) -> RuleTree:
    problems = problems or {}
    made = {
        path: TreeFile(
            path=path,
            name=classify(path),
            text=text,
            problem=problems.get(path),
            identity=more.get(path.split("/")[-1].split(".")[0].lower()),
        )
        for path, text in files.items()
        if classify(path) is not None
    }
    return RuleTree(files=made, paths=frozenset(files))


@pytest.mark.parametrize(
    ("tool", "path", "text", "reading", "why"),
    [
        ("claude", "CLAUDE.md", "Words.", Reading.ALWAYS, "it has no header"),
        ("claude", ".claude/CLAUDE.md", "Words.", Reading.ALWAYS, "it has no header"),
        ("claude", "docs/CLAUDE.md", "Words.", Reading.BY_PATH, "for work in docs/"),
        ("claude", "CLAUDE.md", " \n", Reading.NEVER, "it holds no text"),
        ("claude", ".claude/rules/a.md", "Words.", Reading.ALWAYS, "it has no `paths`"),
        ("claude", ".claude/rules/a.md", "---\npaths: src/**\n---\nx", Reading.BY_PATH, "`paths` is src/**"),
        ("claude", ".claude/rules/a.md", "---\npaths: src/[\n---\nx", Reading.NEVER, "none of its globs can be read"),
        (
            "claude",
            ".claude/rules/a.md",
            "---\npaths: {a: b}\n---\nx",
            Reading.NEVER,
            "project:.claude/rules/a.md:2: ",
        ),
        ("claude", ".claude/rules/a.md", "---\npaths: src/**\nx", Reading.NEVER, "project:.claude/rules/a.md:"),
        ("claude", ".claude/settings.json", "{}", Reading.NEVER, "only its `permissions` are translated"),
        ("claude", ".claude/settings.local.json", "{}", Reading.NEVER, "one person's own"),
        ("claude", ".claude/commands/x.md", "x", Reading.NEVER, "no such commands"),
        ("claude", ".claude/agents/x.md", "x", Reading.NEVER, ".air/shared/roles/"),
        ("claude", ".claude/skills/a/SKILL.md", "x", Reading.ON_DEMAND, "the skill a"),
        ("claude", ".claude/other.txt", "x", Reading.NEVER, "nothing here reads it"),
        ("cursor", ".cursor/rules/a.mdc", "---\nalwaysApply: true\n---\nx", Reading.ALWAYS, "`alwaysApply` is true"),
        ("cursor", ".cursor/rules/a.mdc", "---\nglobs: *.tsx\n---\nx", Reading.BY_PATH, "`globs` is"),
        ("cursor", ".cursor/rules/a.mdc", "---\ndescription: d\n---\nx", Reading.ON_DEMAND, "the agent decides"),
        ("cursor", ".cursor/rules/a.mdc", "Words.", Reading.ON_DEMAND, "somebody names it"),
        ("cursor", ".cursor/rules/a.md", "Words.", Reading.NEVER, ".mdc files only"),
        ("cursor", ".cursorrules", "Words.", Reading.ALWAYS, "it has no header"),
        ("cursor", ".cursor/mcp.json", "{}", Reading.NEVER, "MCP"),
        ("copilot", ".github/copilot-instructions.md", "Words.", Reading.ALWAYS, "it has no header"),
        (
            "copilot",
            ".github/instructions/a.instructions.md",
            '---\napplyTo: "**"\n---\nx',
            Reading.BY_PATH,
            "`applyTo`",
        ),
        ("copilot", ".github/instructions/a.instructions.md", "x", Reading.ON_DEMAND, "no `applyTo`"),
        ("copilot", ".github/prompts/a.prompt.md", "x", Reading.NEVER, "no such commands"),
        ("gemini", "GEMINI.md", "Words.", Reading.ALWAYS, "it has no header"),
        ("gemini", "a/b/GEMINI.md", "Words.", Reading.BY_PATH, "for work in a/b/"),
        ("gemini", ".gemini/settings.json", "{}", Reading.NEVER, "translated"),
    ],
)
def test_each_file_says_when_it_is_read(tool: str, path: str, text: str, reading: Reading, why: str) -> None:
    """E04, E06, E07, E12, E30 among them: what cannot be read is not read, and says so."""
    (found,) = adopted_files(tree({path: text}), ForeignTool(tool))
    assert (found.path, found.reading) == (path, reading)
    assert why in found.why


@pytest.mark.parametrize("tool", list(ForeignTool))
def test_files_of_others_are_none(tool: ForeignTool) -> None:
    others = {"AGENTS.md": "x", ".github/workflows/ci.yml": "x", "src/a.py": "x", ".air/shared/rules/a.md": "x"}
    assert adopted_files(tree(others), tool) == ()


def test_two_names_of_one_file_are_told_apart_from_two_files() -> None:
    """E17."""
    linked = tree({"CLAUDE.md": "x", "AGENTS.md": "x"}, claude=(1, 2), agents=(1, 2))
    (found,) = adopted_files(linked, ForeignTool.CLAUDE)
    assert found.why == "it has no header; the same file as AGENTS.md"
    (alone,) = adopted_files(
        tree({"CLAUDE.md": "x", "AGENTS.md": "x"}, claude=(1, 2), agents=(1, 3)), ForeignTool.CLAUDE
    )
    assert alone.why == "it has no header"


def test_what_cannot_be_opened_says_why() -> None:
    """E19, E31."""
    (found,) = adopted_files(tree({"CLAUDE.md": ""}, problems={"CLAUDE.md": "it is a folder"}), ForeignTool.CLAUDE)
    assert (found.reading, found.why) == (Reading.NEVER, "it is a folder")
