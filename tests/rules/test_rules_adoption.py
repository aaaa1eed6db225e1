"""What becomes of each file of another tool: read always, by path, on demand, or not at all, and why."""

from __future__ import annotations

import pytest

from aircoding.rules.adoption import AdoptedFile, AdoptedSkill, ForeignTool, Reading, adopted_files
from aircoding.rules.neutral import neutral_rules
from aircoding.rules.rule_names import classify
from aircoding.rules.rule_switches import RuleSwitches
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


def adopted(found: RuleTree, tool: ForeignTool, **skills: AdoptedSkill) -> tuple[AdoptedFile, ...]:
    return adopted_files(
        found,
        neutral_rules(found, RuleSwitches()),
        tool,
        skills={f".claude/skills/{name}": skill for name, skill in skills.items()},
    )


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
            "line 2: `paths` is no list",
        ),
        ("claude", ".claude/rules/a.md", "---\npaths: src/**\nx", Reading.NEVER, "line 1: the header has no"),
        ("claude", ".claude/settings.json", "{}", Reading.NEVER, "only its `permissions` are translated"),
        ("claude", ".claude/settings.local.json", "{}", Reading.NEVER, "one person's own"),
        ("claude", ".claude/commands/x.md", "x", Reading.NEVER, "no such commands"),
        ("claude", ".claude/agents/x.md", "x", Reading.NEVER, ".air/shared/roles/"),
        ("claude", ".claude/skills/a/SKILL.md", "x", Reading.ON_DEMAND, "the skill a"),
        ("claude", ".claude/skills/b/SKILL.md", "x", Reading.NEVER, "no skill that is read"),
        ("claude", "docs/.claude/skills/a/SKILL.md", "x", Reading.NEVER, "no skill that is read"),
        ("claude", ".claude/other.txt", "x", Reading.NEVER, "nothing here reads it"),
        ("cursor", ".cursor/rules/a.mdc", "---\nalwaysApply: true\n---\nx", Reading.ALWAYS, "`alwaysApply` is true"),
        ("cursor", ".cursor/rules/a.mdc", "---\nglobs: *.tsx\n---\nx", Reading.BY_PATH, "`globs` is"),
        ("cursor", ".cursor/rules/a.mdc", "---\ndescription: d\n---\nx", Reading.ON_DEMAND, "the agent decides"),
        ("cursor", ".cursor/rules/a.mdc", "Words.", Reading.ON_DEMAND, "somebody names it"),
        ("cursor", ".cursor/rules/a.md", "Words.", Reading.NEVER, "Cursor reads .mdc files only"),
        ("cursor", "docs/.cursor/rules.mdc", "Words.", Reading.NEVER, "Cursor reads rules below .cursor/rules only"),
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
    (found,) = adopted(tree({path: text}), ForeignTool(tool), a=AdoptedSkill(usable=True, why="the skill a"))
    assert (found.path, found.reading) == (path, reading)
    assert why in found.why


@pytest.mark.parametrize("tool", list(ForeignTool))
def test_files_of_others_are_none(tool: ForeignTool) -> None:
    others = {"AGENTS.md": "x", ".github/workflows/ci.yml": "x", "src/a.py": "x", ".air/shared/rules/a.md": "x"}
    assert adopted(tree(others), tool) == ()


def test_two_names_of_one_file_are_told_apart_from_two_files() -> None:
    """E17."""
    linked = tree({"CLAUDE.md": "x", "AGENTS.md": "x"}, claude=(1, 2), agents=(1, 2))
    (found,) = adopted(linked, ForeignTool.CLAUDE)
    assert found.why == "it has no header; the same file as AGENTS.md, and read as that"
    (alone,) = adopted(tree({"CLAUDE.md": "x", "AGENTS.md": "x"}, claude=(1, 2), agents=(1, 3)), ForeignTool.CLAUDE)
    assert alone.why == "it has no header"


def test_what_cannot_be_opened_says_why() -> None:
    """E19, E31."""
    (found,) = adopted(tree({"CLAUDE.md": ""}, problems={"CLAUDE.md": "it is a folder"}), ForeignTool.CLAUDE)
    assert (found.reading, found.why) == (Reading.NEVER, "it is a folder")


def test_e22_what_another_file_imports_is_read_as_that_file_is() -> None:
    files = {"CLAUDE.md": "@.tool/CLAUDE.md\n@.claude/more.txt", ".tool/CLAUDE.md": "Words."}
    found = tree(files)
    more = TreeFile(path=".claude/more.txt", name=None, text="More.")
    found = RuleTree(files={**found.files, more.path: more}, paths=found.paths | {more.path, ".claude/else.txt"})
    said = {one.path: (one.reading, one.why) for one in adopted(found, ForeignTool.CLAUDE)}
    assert said == {
        "CLAUDE.md": (Reading.ALWAYS, "it has no header"),
        ".tool/CLAUDE.md": (Reading.ALWAYS, "CLAUDE.md imports it"),
        ".claude/more.txt": (Reading.ALWAYS, "CLAUDE.md imports it"),
        ".claude/else.txt": (Reading.NEVER, "nothing here reads it"),
    }


def test_e20_a_file_that_holds_a_name_only_is_not_read_itself() -> None:
    (found,) = adopted(tree({"CLAUDE.md": "AGENTS.md", "AGENTS.md": "Words."}), ForeignTool.CLAUDE)
    assert found.reading is Reading.NEVER
    assert found.why == "the file holds only the name of AGENTS.md, which is read in its place"
    stub = AdoptedSkill(usable=False, why="it is a file that should be a link")
    (found,) = adopted(tree({".claude/skills/bake": "../../x"}), ForeignTool.CLAUDE, bake=stub)
    assert (found.reading, found.why) == (Reading.NEVER, stub.why)
