"""Paths that are treated alike: two with one key have one account in every tool, but for its words."""

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from support.rule_trees import tree_of

from aircoding.rules.tools.account import AgentsMode, ToolOptions
from aircoding.rules.tools.explain import FOREIGN_TOOLS, explain_as
from aircoding.rules.tools.path_groups import path_keys

DEEP = "a/b/c/d/e/f/g/"
FOLDERS = ("", "a/", "a/b/", "b/", "a/b/c/d/", DEEP)
NAMES = (
    *("AGENTS.md", "CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md", "GEMINI.md", ".cursorrules", "x.md"),
    *(".claude/rules/a.md", ".claude/rules/in/b.md", ".cursor/rules/a.mdc", ".github/copilot-instructions.md"),
    *(".github/instructions/a.instructions.md", ".github/instructions/in/b.instructions.md", "HERMES.md", ".hermes.md"),
)
OUTSIDE = (
    "~/.claude/CLAUDE.md",
    "~/.codex/AGENTS.md",
    "~/.claude/rules/u.md",
    "/etc/claude-code/CLAUDE.md",
    "/CLAUDE.md",
)
GLOBS = st.sampled_from(
    [
        "**",
        "*.py",
        "**/*.py",
        "a/**",
        "b/**/*.{py,ts}",
        "a/",
        "x.py",
        "[ab]/*",
        "/a/b/**",
        "/project/a/**",
        "./b/*",
        "A/**",
    ]
)
HEADERS = st.builds(
    lambda key, globs, text: f'---\n{key}: "{",".join(globs)}"\n---\n{text}\n',
    st.sampled_from(["paths", "globs", "applyTo", "trigger: glob\nglobs"]),
    st.lists(GLOBS, min_size=1, max_size=3),
    st.sampled_from(["Be brief.", "@x.md", ""]),
)
TEXTS = HEADERS | st.sampled_from(
    [
        "",
        "plain",
        "@x.md",
        "@a/x.md @../x.md",
        "---\nalwaysApply: true\n---\nr",
        "---\ndescription: d\n---\nr",
        "---\nopen",
    ]
)
FILES = st.dictionaries(
    st.sampled_from([*(folder + name for folder in FOLDERS for name in NAMES), *OUTSIDE]), TEXTS, max_size=12
)
AREAS = (*FOLDERS, "a/b/c/", "a/x/", "other/in/", f"{DEEP}h/i/", ".claude/", "a/.claude/rules/")


@pytest.mark.parametrize("tool", FOREIGN_TOOLS, ids=str)
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=60)
@given(
    files=FILES,
    areas=st.lists(st.sampled_from(AREAS), min_size=2, max_size=4, unique=True),
    cwd=st.sampled_from(["", "a", "a/b", "b"]),
    mode=st.sampled_from(AgentsMode),
)
@example(
    files={"a/AGENTS.md": "x", f"{DEEP}AGENTS.md": "y"}, areas=[DEEP, f"{DEEP}h/i/"], cwd="", mode=AgentsMode.EITHER
)
@example(
    files={"a/.cursor/rules/a.mdc": '---\nglobs: "**"\n---\nr'}, areas=["a/", "a/b/"], cwd="", mode=AgentsMode.EITHER
)
def test_one_key_is_one_account(tool, files, areas, cwd, mode):
    tree, options = tree_of(files), ToolOptions(cwd=cwd, agents_mode=mode)
    paths = [area + name for area in areas for name in ("x.py", "y.py", "z.ts", "")]
    first = {}
    for path, key in path_keys(tree, paths).items():
        found = explain_as(tree, path, tool, options)
        account = ([replace(one, why="") for one in found.entries], dict(found.texts))
        other, expected = first.setdefault(key, (path, account))
        assert account == expected, (path, other)


def test_folders_without_rule_files_make_no_groups():
    tree = tree_of({"AGENTS.md": "x", "a/AGENTS.md": "y", ".cursor/rules/p.mdc": "---\nglobs: '**/*.py'\n---\nz"})
    keys = path_keys(tree, ["x.ts", "b/c/d/x.ts", "b/x.py", "c/y.py", "a/x.ts", "a/b/c/y.ts", "a/x.py"])
    groups = {}
    for path, key in keys.items():
        groups.setdefault(key, []).append(path)
    assert list(groups.values()) == [["x.ts", "b/c/d/x.ts"], ["b/x.py", "c/y.py"], ["a/x.ts", "a/b/c/y.ts"], ["a/x.py"]]
