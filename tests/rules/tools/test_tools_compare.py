"""The comparison of accounts, and the list of files: one row a file, one sentence a kind of difference."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.rule_trees import tree_of

from aircoding.records.diagnostics import Diagnostic
from aircoding.rules.tools.account import Tool, ToolOptions
from aircoding.rules.tools.compare import compare_accounts
from aircoding.rules.tools.explain import FOREIGN_TOOLS, explain_as
from aircoding.rules.tools.listing import list_rule_files


def compared(tree, path="src/x.py", tools=FOREIGN_TOOLS, **options):
    return compare_accounts([explain_as(tree, path, tool, ToolOptions(**options)) for tool in tools])


def words(found):
    return {row.names: [cell.word for cell in row.cells] for row in found.rows}


def test_e17_a_file_with_two_names_has_one_row_and_its_best_cell():
    tree = tree_of({"AGENTS.md": "a"}, links={"CLAUDE.md": "AGENTS.md"})
    found = words(compared(tree, tools=(Tool.CODEX, Tool.CLAUDE_CODE, Tool.GEMINI)))
    assert found == {("AGENTS.md", "CLAUDE.md"): ["loaded", "loaded", "no"]}


@pytest.mark.parametrize(("size", "cap", "word"), [(100, 61, "61 %"), (10_000, 1, "1 %"), (10_000, 9_999, "99 %")])
def test_a_cut_file_is_neither_gone_nor_whole(size, cap, word):
    tree = tree_of({"AGENTS.md": "x" * size})
    assert words(compared(tree, tools=(Tool.CODEX, Tool.CURSOR), max_bytes=cap)) == {("AGENTS.md",): [word, "loaded"]}


def test_files_that_fare_alike_are_named_together():
    tree = tree_of({f".cursor/rules/{n}.mdc": "---\nalwaysApply: true\n---\nr" for n in range(5)})
    sentences = compared(tree, tools=(Tool.CODEX, Tool.CURSOR)).differences
    assert len(sentences) == 1
    assert "2 more: reaches cursor; not codex" in sentences[0]


def test_e20_one_statement_on_many_stubs_is_said_once_with_its_tool_and_all_paths():
    tree = tree_of({"AGENTS.md": "a", "src/AGENTS.md": "b"})
    said = [
        Diagnostic(
            severity="warning",
            code="rule.bare_name",
            message=f"the file holds only the name of {folder}AGENTS.md, which is read in its place",
            uri=f"{folder}AGENTS.md",
        )
        for folder in ("", "src/")
    ]
    found = compare_accounts([replace(explain_as(tree, "src/x.py", Tool.CODEX), warnings=tuple(said))])
    assert found.differences == (
        "AGENTS.md, src/AGENTS.md (codex): the file holds only the name of AGENTS.md, which is read in its place",
    )
    alone = compare_accounts([replace(explain_as(tree, "src/x.py", Tool.CURSOR), warnings=tuple(said[1:]))])
    assert alone.differences == (
        "src/AGENTS.md (cursor): the file holds only the name of src/AGENTS.md, which is read in its place",
    )


def test_a_file_of_another_folder_is_counted_and_not_shown():
    found = compared(tree_of({"web/AGENTS.md": "w", "AGENTS.md": "a"}), tools=(Tool.CODEX, Tool.CURSOR))
    assert ([row.names for row in found.rows], found.others) == ([("AGENTS.md",)], 1)
    assert found.differences == ()


@given(
    st.dictionaries(
        st.sampled_from(["AGENTS.md", "CLAUDE.md", "src/AGENTS.md", ".cursorrules", "web/GEMINI.md"]), st.text()
    )
)
def test_every_file_is_shown_or_counted_whatever_it_holds(files):
    tree = tree_of(files)
    found = compared(tree)
    assert len(found.rows) + found.others >= len(tree.files)
    assert all(len(row.cells) == len(FOREIGN_TOOLS) for row in found.rows)


def test_the_list_says_whose_for_what_and_when():
    files = {
        "src/AGENTS.md": "a",
        ".cursorrules": "---\nno header here\n",
        ".cursor/rules/a.mdc": "---\nglobs: '*.ts'\n---\n",
        ".claude/rules/b.md": "---\npaths: x\nopen",
        ".air/shared/rules/c.md": "---\npaths: [lib/**]\n---\nrule\n",
    }
    listed = {one.path: (one.dialect, one.scope, one.mode) for one in list_rule_files(tree_of(files))}
    assert listed == {
        "src/AGENTS.md": ("AGENTS.md", "src/**", "folder"),
        ".cursorrules": ("Cursor", "**", "always"),
        ".cursor/rules/a.mdc": ("Cursor", "**/*.ts", "glob"),
        ".claude/rules/b.md": (".claude/rules", "**", "broken"),
        ".air/shared/rules/c.md": ("native", "lib/**", "glob"),
    }


def test_the_list_of_a_tool_has_the_kinds_that_it_knows():
    tree = tree_of({"AGENTS.md": "a", "GEMINI.md": "g", "x.md": "no rule file"})
    assert [one.path for one in list_rule_files(tree, Tool.GEMINI)] == ["GEMINI.md"]
    assert [one.path for one in list_rule_files(tree)] == ["AGENTS.md", "GEMINI.md"]
