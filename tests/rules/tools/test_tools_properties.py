"""What holds for every tool and every tree: no file is forgotten, no order of listing counts, no cap is passed."""

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.rule_trees import tree_of

from aircoding.rules.tools.account import Tool, ToolOptions
from aircoding.rules.tools.explain import FOREIGN_TOOLS, explain_as

NAMES = (
    *("AGENTS.md", "AGENTS.override.md", "agents.md", "CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md", "GEMINI.md"),
    *(".claude/rules/a.md", ".claude/rules/b.md", ".cursor/rules/a.mdc", ".cursor/rules/b.md", ".cursorrules"),
    *(".github/copilot-instructions.md", ".github/instructions/a.instructions.md", "HERMES.md", ".hermes.md", "x.md"),
)
FOLDERS = ("", "a/", "a/b/", "c/")
OUTSIDE = (
    *("~/.claude/CLAUDE.md", "~/.codex/AGENTS.md", "~/.gemini/GEMINI.md", "~/.claude/rules/u.md"),
    *("/etc/claude-code/CLAUDE.md", "/CLAUDE.md"),
)
TEXTS = st.sampled_from(
    [
        *(
            "",
            " \n",
            "plain",
            "@x.md",
            "@a/x.md @../x.md",
            "@~/y.md",
            "---\npaths: 'a/**'\n---\nr",
            "---\nglobs: *.py\n---\n",
        ),
        *(
            "---\napplyTo: ['x']\n---\n",
            "---\nalwaysApply: true\n---\nr",
            "---\nopen",
            "<!-- c -->",
            "x" * 25_000,
            "ä" * 9_000,
        ),
    ]
) | st.text(max_size=30)
FILES = st.dictionaries(
    st.sampled_from([*(folder + name for folder in FOLDERS for name in NAMES), *OUTSIDE]), TEXTS, max_size=14
)
PATHS = st.sampled_from(["x.py", "a/x.py", "a/b/x.py", "c/", "", "d/e/f"])
CWDS = st.sampled_from(["", "a", "a/b", "c"])


@pytest.mark.parametrize("tool", FOREIGN_TOOLS, ids=str)
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(files=FILES, path=PATHS, cwd=CWDS, repository=st.booleans(), data=st.data())
def test_every_file_is_in_the_account_once_whatever_the_order(tool, files, path, cwd, repository, data):
    tree = tree_of(files, is_repository=repository)
    options = ToolOptions(cwd=cwd)
    account = explain_as(tree, path, tool, options)
    listed = [one.path for one in account.entries]
    assert len(set(listed)) == len(listed)
    assert set(tree.files) <= set(listed)
    assert all(one.imported_by for one in account.entries if one.path not in tree.files)
    positions = [one.position for one in account.entries if one.position is not None]
    assert positions == list(range(1, len(positions) + 1))
    assert all(one.why and (one.kept_bytes > 0) is (one.position is not None) for one in account.entries)
    assert all((one.cause is None) is (one.verdict.value == "loaded") for one in account.entries)

    shuffled = data.draw(st.permutations(list(tree.files)))
    again = replace(tree, files={name: tree.files[name] for name in shuffled})
    assert explain_as(again, path, tool, options) == account


@given(files=FILES, cwd=CWDS, cap=st.integers(0, 40_000))
def test_codex_never_keeps_more_than_its_budget(files, cwd, cap):
    account = explain_as(tree_of(files), "a/b/x.py", Tool.CODEX, ToolOptions(cwd=cwd, max_bytes=cap))
    assert sum(one.kept_bytes for one in account.entries if not one.path.startswith("~/")) <= cap


@given(files=FILES, cwd=CWDS)
def test_hermes_never_keeps_more_than_its_caps(files, cwd):
    account = explain_as(tree_of(files), "a/b/x.py", Tool.HERMES, ToolOptions(cwd=cwd))
    started = [one.kept_chars for one in account.entries if one.when == "start"]
    assert sum(started) <= 20_000
    assert all(one.kept_chars <= 32_000 for one in account.entries)


@given(files=FILES, more=st.text(min_size=1, max_size=60), cap=st.integers(0, 200), data=st.data())
def test_codex_a_longer_file_never_loads_more_of_a_later_one(files, more, cap, data):
    agents = {name: text for name, text in files.items() if name.endswith("AGENTS.md") and text.strip()}
    if not agents:
        return
    options = ToolOptions(cwd="a/b", max_bytes=cap)
    longer = data.draw(st.sampled_from(sorted(agents)))
    before = explain_as(tree_of(agents), "a/b/x.py", Tool.CODEX, options)
    after = explain_as(tree_of({**agents, longer: agents[longer] + more}), "a/b/x.py", Tool.CODEX, options)
    kept = {one.path: one.kept_bytes for one in before.entries if one.path != longer}
    assert all(one.kept_bytes <= kept[one.path] for one in after.entries if one.path != longer)
