"""Names and links (E16 to E20), and what is found, cut or refused (E30 to E39)."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from support.projects import make_commit, make_project, write_tree
from support.rule_folders import INTAKE, Found, RuleFolders

from aircoding.records.layers import OutcomeKind, Reason, Trust
from aircoding.sources.rule_files import RuleSwitches, read_rules
from aircoding.sources.rule_tree import RuleHomes, walk_paths


@pytest.fixture
def read(tmp_path: Path) -> RuleFolders:
    return RuleFolders(tmp_path)


def test_e16_two_names_of_one_file_count_once_and_of_two_files_the_first_name_wins(
    read: RuleFolders, tmp_path: Path
) -> None:
    write_tree(tmp_path / "project", {"AGENTS.md": "one"})
    (tmp_path / "project" / "agents.md").hardlink_to(tmp_path / "project" / "AGENTS.md")
    found = read({})
    assert found.out("agents.md")[0] in (OutcomeKind.OVERRIDDEN, OutcomeKind.DUPLICATE)
    assert found.used() == {"project:AGENTS.md": "one"}
    (tmp_path / "project" / "agents.md").unlink()
    two = read({"agents.md": "two"})
    assert two.out("agents.md")[:2] == (OutcomeKind.OVERRIDDEN, Reason.OVERRIDDEN)
    assert read({"AGENTS.md": ""}).used() == {"project:agents.md": "two"}


def test_e17_a_link_is_one_copy_with_both_names(read: RuleFolders, tmp_path: Path) -> None:
    write_tree(tmp_path / "project", {"AGENTS.md": "one"})
    (tmp_path / "project" / "CLAUDE.md").symlink_to("AGENTS.md")
    found = read({})
    assert found.one("AGENTS.md").title == "AGENTS.md (also CLAUDE.md)"
    outcome, _, detail = found.out("CLAUDE.md")
    assert outcome is OutcomeKind.DUPLICATE
    assert detail == "project:CLAUDE.md and project:AGENTS.md are one file; it counts once, as project:AGENTS.md"


def test_e17_a_link_in_another_folder_holds_in_both(read: RuleFolders, tmp_path: Path) -> None:
    write_tree(tmp_path / "project", {"a/AGENTS.md": "one", "b/x.py": ""})
    (tmp_path / "project" / "b" / "AGENTS.md").symlink_to("../a/AGENTS.md")
    rule = read({}).one("a/AGENTS.md")
    assert rule.paths == ("a/**", "b/**")
    assert rule.title == "a/AGENTS.md (also b/AGENTS.md; for a/, b/)"


def test_e17_the_other_name_counts_where_the_first_is_switched_off(read: RuleFolders, tmp_path: Path) -> None:
    write_tree(tmp_path / "project", {"AGENTS.md": "one"})
    (tmp_path / "project" / "CLAUDE.md").symlink_to("AGENTS.md")
    found = read({}, agents_md=False)
    assert found.used() == {"project:CLAUDE.md": "one"}
    assert found.out("AGENTS.md")[1] is Reason.DISABLED


def test_e18_a_ring_of_linked_folders_ends_and_is_said(read: RuleFolders, tmp_path: Path) -> None:
    write_tree(tmp_path / "project", {".claude/rules/a.md": "a"})
    (tmp_path / "project/.claude/rules/again").symlink_to(".")
    found = read({})
    assert found.used() == {"project:.claude/rules/a.md": "a"}
    assert "rule.folder_again" in found.codes()


def test_e18_a_linked_folder_of_rules_is_followed_inside_the_project_only(read: RuleFolders, tmp_path: Path) -> None:
    write_tree(tmp_path / "project", {"shared/a.md": "inside"})
    write_tree(tmp_path, {"elsewhere/b.md": "outside"})
    (tmp_path / "project/.claude/rules").mkdir(parents=True)
    (tmp_path / "project/.claude/rules/in").symlink_to("../../shared")
    (tmp_path / "project/.claude/rules/out").symlink_to(tmp_path / "elsewhere")
    found = read({})
    assert found.used() == {"project:.claude/rules/in/a.md": "inside"}
    refused = [one for one in found.rules.diagnostics if one.uri == "project:.claude/rules/out"]
    assert [one.message for one in refused] == ["it is a link that leaves the project"]


def test_e19_a_link_out_of_the_project_is_refused_and_the_users_own_may_lead_anywhere(
    read: RuleFolders, tmp_path: Path
) -> None:
    write_tree(tmp_path, {"secret": "AKIA", "home/.claude/x": "", "notes/mine.md": "mine"})
    (tmp_path / "project/sub").mkdir(parents=True)
    (tmp_path / "project/sub/CLAUDE.md").symlink_to(tmp_path / "secret")
    (tmp_path / "home/.claude/CLAUDE.md").symlink_to(tmp_path / "notes/mine.md")
    found = read({})
    assert found.out("sub/CLAUDE.md")[1] is Reason.UNREADABLE
    assert found.used() == {"~/.claude/CLAUDE.md": "mine"}


def test_e20_a_file_that_is_the_name_of_another_imports_it_with_a_warning(read: RuleFolders) -> None:
    found = read({"CLAUDE.md": "docs/rules.md\n", "docs/rules.md": "Use tabs.\n"})
    assert found.used() == {"project:docs/rules.md": "Use tabs."}
    assert "rule.bare_name" in found.codes()
    assert found.out("CLAUDE.md")[2] == (
        "the file holds only the name of project:docs/rules.md, which is read in its place"
    )


def test_e30_an_empty_file_is_listed_and_costs_nothing(read: RuleFolders) -> None:
    found = read({"CLAUDE.md": " \n\n", "GEMINI.md": ""})
    assert {found.out(name)[2] for name in ("CLAUDE.md", "GEMINI.md")} == {"the file holds no text"}


def test_e31_a_folder_or_a_pipe_by_the_name_is_ignored_without_hanging(read: RuleFolders, tmp_path: Path) -> None:
    write_tree(tmp_path / "project", {"CLAUDE.md/x": "", "AGENTS.override.md/x": "", "AGENTS.md": "a"})
    os.mkfifo(tmp_path / "project/GEMINI.md")
    found = read({})
    assert found.used() == {"project:AGENTS.md": "a"}
    assert found.out("GEMINI.md")[1] is Reason.UNREADABLE


def test_e32_a_file_over_the_cap_is_cut_at_line_ends_with_a_marker(read: RuleFolders) -> None:
    lines = [f"Line {number:04d} é." for number in range(1000)]
    found = read({"CLAUDE.md": "\n".join(lines) + "\n"}, max_bytes=3000)
    text = found.used()["project:CLAUDE.md"]
    shown = [line for line in text.split("\n") if line.startswith("Line")]
    assert shown[0] == lines[0]
    assert shown[-1] == lines[-1]
    assert set(shown) <= set(lines)
    kept = sum(len(line.encode()) + 1 for line in shown) - 1
    marker = next(line for line in text.split("\n") if line.startswith("[… "))
    whole = len("\n".join(lines).encode())
    assert marker.startswith(f"[… {kept} of {whole} bytes of CLAUDE.md are shown; lines ")
    (gap,) = [rule for rule in found.all("project:CLAUDE.md") if rule.barred is not None]
    assert gap.barred is not None
    assert (gap.barred.reason, gap.text) == (Reason.BUDGET, "")
    head = sum(line < "Line 05" for line in shown)
    assert (gap.source.start_line, gap.source.end_line) == (head + 1, 1000 - len(shown) + head)
    assert "rule_file.too_long" in found.codes()


def test_e32_one_endless_line_is_cut_at_a_character(read: RuleFolders) -> None:
    text = read({"CLAUDE.md": "é" * 400_000}).used()["project:CLAUDE.md"]
    assert text.startswith("ééé")
    assert "of 800000 bytes of CLAUDE.md are shown" in text
    assert "\ufffd" not in text


def test_e32_a_file_of_more_than_4_mib_is_not_read(read: RuleFolders) -> None:
    _, reason, detail = read({"CLAUDE.md": b"x" * 4_194_305}).out("CLAUDE.md")
    assert reason is Reason.UNREADABLE
    assert "more than 4194304" in detail


def test_e33_what_git_ignores_takes_nothing_from_the_files_of_every_task(read: RuleFolders) -> None:
    write_tree(read.project, {"AGENTS.md": "root", "src/CLAUDE.local.md": "mine"})
    paths = ["AGENTS.md"]
    arguments = {"intake": INTAKE, "trusted": True, "switches": RuleSwitches(max_bytes=5)}
    texts = {}
    for near in ((), ("src/**",)):
        rules = read_rules(read.project, read.home, paths, near=near, **arguments)  # type: ignore[arg-type]
        texts[near] = Found(rules=rules, root=read.project).used()
    assert texts == {
        (): {"project:AGENTS.md": "root"},
        ("src/**",): {"project:AGENTS.md": "root", "project:src/CLAUDE.local.md": "mine"},
    }


def test_e33_the_nearest_file_is_funded_first_and_the_root_is_rendered_first(read: RuleFolders) -> None:
    found = read({"AGENTS.md": "root", "src/AGENTS.md": "abcdef"}, max_bytes=7)
    assert found.one("src/AGENTS.md").text == "abcdef"
    assert found.out("AGENTS.md")[:2] == (OutcomeKind.OMITTED, Reason.BUDGET)
    whole = read({}, max_bytes=10)
    root, leaf = whole.one("AGENTS.md"), whole.one("src/AGENTS.md")
    assert (root.text, leaf.text, root.level < leaf.level) == ("root", "abcdef", True)
    assert read({}, max_bytes=0).used() == {}


def test_e34_bytes_that_are_no_utf8_are_replaced_and_said_and_binaries_refused(read: RuleFolders) -> None:
    found = read({"CLAUDE.md": b"caf\xe9", "GEMINI.md": "UTF-16".encode("utf-16"), ".cursorrules": b"a\0b"})
    assert found.used()["project:CLAUDE.md"] == "caf\ufffd"
    assert found.used()["project:GEMINI.md"] == "UTF-16"
    assert "it is a binary file" in found.out(".cursorrules")[2]
    assert "rule_file.encoding" in found.codes()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_e35_a_file_that_may_not_be_read_is_listed(read: RuleFolders, tmp_path: Path) -> None:
    write_tree(tmp_path / "project", {"CLAUDE.md": "a", "AGENTS.md": "b"})
    (tmp_path / "project/CLAUDE.md").chmod(0)
    found = read({})
    assert found.out("CLAUDE.md")[1] is Reason.UNREADABLE
    assert found.used() == {"project:AGENTS.md": "b"}


def test_e36_a_worktree_is_a_project_and_one_inside_a_project_adds_nothing(tmp_path: Path) -> None:
    from aircoding.workspace.worktree import GitWorktree

    root = make_commit(make_project(tmp_path / "project", {"AGENTS.md": "a", "CLAUDE.md": "b"}))
    subprocess.run(["git", "-C", str(root), "worktree", "add", "-q", str(root / "wt"), "-b", "x"], check=True)
    assert (root / "wt/.git").is_file()
    for place in (root, root / "wt"):
        paths = GitWorktree(str(place)).paths()
        rules = read_rules(place, tmp_path / "air", paths, intake=INTAKE, trusted=True)
        uris = [rule.source.uri for rule in rules.segments if rule.trust is Trust.PROJECT]
        assert uris == ["project:AGENTS.md", "project:CLAUDE.md"]


def test_e37_without_a_repository_nothing_above_the_folder_is_read(read: RuleFolders, tmp_path: Path) -> None:
    write_tree(tmp_path, {"AGENTS.md": "above", "CLAUDE.md": "above"})
    assert read({"AGENTS.md": "here"}).used() == {"project:AGENTS.md": "here"}


def test_e38_in_the_home_folder_the_users_file_counts_once_and_nested_ones_not(tmp_path: Path) -> None:
    write_tree(tmp_path, {".claude/CLAUDE.md": "mine", "work/AGENTS.md": "other"})
    paths, homes = walk_paths(tmp_path)[0], RuleHomes(user=tmp_path)
    found = Found(read_rules(tmp_path, tmp_path / ".air", paths, intake=INTAKE, trusted=True, homes=homes), tmp_path)
    assert found.used() == {"~/.claude/CLAUDE.md": "mine"}
    assert found.out(".claude/CLAUDE.md")[0] is OutcomeKind.DUPLICATE
    assert "home folder" in found.out("work/AGENTS.md")[2]


def test_e39_a_file_that_vanished_after_the_listing_is_absent(tmp_path: Path) -> None:
    rules = read_rules(tmp_path, tmp_path, ["CLAUDE.md", ".cursor/rules/a.mdc"], intake=INTAKE, trusted=True)
    assert {rule.trust for rule in rules.segments} == {Trust.BUILTIN}
    assert rules.diagnostics == ()
