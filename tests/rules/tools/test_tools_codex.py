"""Codex' chain and budget: E30, E31, E33, E34, E36, E37."""

import pytest
from support.rule_trees import by_path, loaded, lost, tree_of

from aircoding.rules.rule_names import classify
from aircoding.rules.tools.account import Cause, Tool, ToolOptions, Verdict
from aircoding.rules.tools.explain import explain_as
from aircoding.rules.tree import TreeFile


def codex(files, path="a/b/x.py", **options):
    tree = files if not isinstance(files, dict) else tree_of(files)
    return explain_as(tree, path, Tool.CODEX, ToolOptions(**options))


def test_e33_the_budget_is_spent_from_the_root_and_cuts_the_leaf():
    account = codex({"AGENTS.md": "root", "a/AGENTS.md": "abcdef", "a/b/AGENTS.md": "z"}, cwd="a/b", max_bytes=7)
    found = by_path(account)
    assert loaded(account) == ["AGENTS.md", "a/AGENTS.md"]
    assert (found["a/AGENTS.md"].verdict, found["a/AGENTS.md"].kept_bytes) == (Verdict.PARTLY, 3)
    assert "cut after 3 of 6 bytes" in found["a/AGENTS.md"].why
    assert found["a/b/AGENTS.md"].cause is Cause.CAP
    assert lost(account) == ["a/AGENTS.md", "a/b/AGENTS.md"]


def test_a_cut_may_split_a_character_which_is_then_replaced():
    account = codex({"AGENTS.md": "aä"}, max_bytes=2)
    entry = by_path(account)["AGENTS.md"]
    assert (entry.kept_bytes, entry.kept_chars) == (2, 2)


def test_the_default_budget_starves_the_leaf_and_says_at_which_cap():
    account = codex({"AGENTS.md": "x" * 32_768, "a/AGENTS.md": "leaf"}, cwd="a")
    assert loaded(account) == ["AGENTS.md"]
    assert "32768 bytes of project_doc_max_bytes" in by_path(account)["a/AGENTS.md"].why


def test_e30_an_empty_override_shadows_and_takes_nothing_of_the_budget():
    account = codex({"AGENTS.override.md": " \n", "AGENTS.md": "root", "a/AGENTS.md": "abc"}, cwd="a", max_bytes=3)
    found = by_path(account)
    assert found["AGENTS.override.md"].cause is Cause.EMPTY
    assert found["AGENTS.md"].cause is Cause.SHADOWED
    assert found["a/AGENTS.md"].verdict is Verdict.LOADED
    assert "AGENTS.md" in account.lost


def test_an_override_names_what_it_shadows():
    assert by_path(codex({"AGENTS.override.md": "o", "AGENTS.md": "a"}))["AGENTS.override.md"].shadows == ("AGENTS.md",)


def test_nothing_below_the_working_directory_is_read_and_the_way_out_is_named():
    files = {"AGENTS.md": "r", "a/AGENTS.md": "a", "other/AGENTS.md": "o"}
    account = codex(files)
    assert loaded(account) == ["AGENTS.md"]
    assert lost(account) == ["a/AGENTS.md"]
    assert "start it in the file's folder" in by_path(account)["a/AGENTS.md"].why
    assert by_path(account)["other/AGENTS.md"].cause is Cause.ELSEWHERE
    assert loaded(codex(files, cwd="a")) == ["AGENTS.md", "a/AGENTS.md"]


def test_zero_switches_project_files_off_and_the_users_own_file_stays():
    account = codex({"~/.codex/AGENTS.md": "mine", "AGENTS.md": "r"}, max_bytes=0)
    assert loaded(account) == ["~/.codex/AGENTS.md"]
    assert by_path(account)["AGENTS.md"].cause is Cause.CAP


def test_the_users_file_is_the_first_that_is_not_empty_and_outside_the_budget():
    files = {"~/.codex/AGENTS.override.md": " ", "~/.codex/AGENTS.md": "x" * 40, "AGENTS.md": "1234567"}
    account = codex(files, max_bytes=7)
    assert loaded(account) == ["~/.codex/AGENTS.md", "AGENTS.md"]
    assert all(one.verdict is Verdict.LOADED for one in account.entries if one.position)


def test_fallback_names_come_after_agents_md():
    files = {"CLAUDE.md": "c", "a/AGENTS.md": "a", "a/CLAUDE.md": "c"}
    account = codex(files, cwd="a", fallback_names=("", "CLAUDE.md", "CLAUDE.md"))
    assert loaded(account) == ["CLAUDE.md", "a/AGENTS.md"]
    assert by_path(account)["a/CLAUDE.md"].cause is Cause.SHADOWED


def test_e37_without_a_git_root_only_the_working_directory_counts():
    tree = tree_of({"AGENTS.md": "r", "a/AGENTS.md": "a"}, is_repository=False)
    assert loaded(codex(tree, cwd="a")) == ["a/AGENTS.md"]
    assert by_path(codex(tree, cwd="a"))["AGENTS.md"].cause is Cause.CWD


def problem(path, why, **more):
    return {path: TreeFile(path=path, name=classify(path), problem=why, **more)}


def test_e31_a_folder_of_that_name_is_no_file():
    tree = tree_of({"AGENTS.md": "r"}, problems=problem("AGENTS.override.md", "it is a folder", identity=(2, 1)))
    assert loaded(codex(tree)) == ["AGENTS.md"]


def test_a_file_that_cannot_be_opened_takes_all_project_files_with_it():
    tree = tree_of({"AGENTS.md": "r"}, problems=problem("a/AGENTS.md", "permission denied"))
    account = codex(tree, cwd="a")
    assert loaded(account) == []
    assert lost(account) == ["AGENTS.md", "a/AGENTS.md"]


def test_a_file_too_large_for_us_is_cut_all_the_same():
    size = 5_000_000
    tree = tree_of({}, problems=problem("AGENTS.md", f"it has {size} bytes", size_bytes=size, identity=(2, 1)))
    assert by_path(codex(tree))["AGENTS.md"].kept_bytes == 32_768


def test_e34_invalid_utf8_is_replaced_with_a_warning():
    account = codex({"AGENTS.md": b"a\xffb"})
    assert loaded(account) == ["AGENTS.md"]
    assert [one.code for one in account.warnings] == ["codex.lossy"]


def test_e19_a_link_out_of_the_project_was_not_read_and_says_so():
    account = codex(tree_of({}, problems=problem("AGENTS.md", "it is a link that leaves the project", linked=True)))
    assert by_path(account)["AGENTS.md"].verdict is Verdict.REFUSED


@pytest.mark.parametrize("path", ["", "a/", "x", "a/b/c/d/e", "../out"])
def test_any_path_gives_an_answer(path):
    assert loaded(codex({"AGENTS.md": "r"}, path=path)) == ["AGENTS.md"]
