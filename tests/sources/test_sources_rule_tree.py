"""The tree of rule files: everything that is there is in it, nothing outside is read without approval."""

import os

import pytest

from aircoding.records.digests import sha256_bytes
from aircoding.rules.rule_names import Dialect
from aircoding.sources.files import read_text_file
from aircoding.sources.rule_tree import RuleHomes, read_rule_tree, walk_paths
from aircoding.sources.tree_files import text_of, tree_file


def write(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_imports_are_read_hop_by_hop_and_cycles_end(tmp_path):
    write(tmp_path, {"CLAUDE.md": "@a.md", "a.md": "@docs/b.md @CLAUDE.md", "docs/b.md": "@c.md", "docs/c.md": "end"})
    tree = read_rule_tree(tmp_path, ["CLAUDE.md"])
    assert sorted(tree.files) == ["CLAUDE.md", "a.md", "docs/b.md", "docs/c.md"]
    assert tree.files["CLAUDE.md"].name.dialect is Dialect.CLAUDE
    assert tree.files["a.md"].name is None


def test_e19_e28_what_lies_outside_is_not_read_without_approval(tmp_path):
    home, root = tmp_path / "home", tmp_path / "project"
    write(home, {"mine.md": "private", ".claude/CLAUDE.md": "@~/mine.md"})
    write(root, {"CLAUDE.md": "@~/mine.md @../home/mine.md @/etc/hostname"})
    (root / "sub").mkdir()
    (root / "sub/AGENTS.md").symlink_to(home / "mine.md")
    alone = read_rule_tree(root, ["CLAUDE.md", "sub/AGENTS.md"], homes=RuleHomes(user=None))
    assert sorted(alone.files) == ["CLAUDE.md", "sub/AGENTS.md"]
    assert alone.files["sub/AGENTS.md"].problem == "it is a link that leaves the project"
    approved = read_rule_tree(root, ["CLAUDE.md"], homes=RuleHomes(user=home), approved=["~/mine.md"])
    assert approved.files["~/mine.md"].text == "private"
    by_its_owner = read_rule_tree(root, [], homes=RuleHomes(user=home))
    assert sorted(by_its_owner.files) == ["CLAUDE.md", "~/.claude/CLAUDE.md", "~/mine.md"]


def test_files_that_git_ignores_are_looked_for_in_the_folders_of_a_path(tmp_path):
    write(tmp_path, {"CLAUDE.local.md": "x", "src/AGENTS.override.md": "y"})
    tree = read_rule_tree(tmp_path, [], near=["src/**/*.py:1-4", "../x"])
    assert sorted(tree.files) == ["CLAUDE.local.md", "src/AGENTS.override.md"]


def test_the_same_file_by_two_names(tmp_path):
    write(tmp_path, {"AGENTS.md": "x"})
    (tmp_path / "CLAUDE.md").symlink_to("AGENTS.md")
    tree = read_rule_tree(tmp_path, ["AGENTS.md", "CLAUDE.md"])
    assert list(tree.same_files().values()) == [("AGENTS.md", "CLAUDE.md")]


def test_e31_a_pipe_does_not_hang(tmp_path):
    os.mkfifo(tmp_path / "AGENTS.md")
    tree = read_rule_tree(tmp_path, ["AGENTS.md"])
    assert tree.files["AGENTS.md"].problem == "it is no regular file"


def test_a_folder_that_is_no_repository_is_walked_without_following_links(tmp_path):
    write(tmp_path, {"a/AGENTS.md": "x", "node_modules/b/AGENTS.md": "y", ".git/AGENTS.md": "z"})
    (tmp_path / "loop").symlink_to(tmp_path)
    assert walk_paths(tmp_path) == (("a/AGENTS.md",), ())


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_e35_a_folder_that_cannot_be_read_is_named(tmp_path):
    write(tmp_path, {"a/AGENTS.md": "x"})
    (tmp_path / "a").chmod(0)
    assert walk_paths(tmp_path)[1][0].uri == "project:a"
    (tmp_path / "a").chmod(0o700)


def test_the_cap_on_files_is_said_and_what_lies_beyond_is_known(tmp_path):
    write(tmp_path, {"CLAUDE.md": "@a.md @b.md @gone.md", "a.md": "a", "b.md": "b"})
    tree = read_rule_tree(tmp_path, ["CLAUDE.md"], max_files=2)
    assert (sorted(tree.files), tree.unread) == (["CLAUDE.md", "a.md"], {"b.md"})
    assert [one.code for one in tree.diagnostics] == ["tree.too_many_files"]
    assert read_rule_tree(tmp_path, ["CLAUDE.md"], max_files=3).diagnostics == ()


def test_the_cap_on_the_users_folders_is_said(tmp_path):
    home, root = tmp_path / "home", tmp_path / "project"
    root.mkdir()
    write(home, {".claude/rules/a/a.md": "a", ".claude/rules/b/b.md": "b"})
    homes = RuleHomes(user=home)
    few = read_rule_tree(root, [], homes=homes, max_folders=2)
    assert len(few.files) == 1
    assert [one.code for one in few.diagnostics] == ["tree.too_many_folders"]
    assert read_rule_tree(root, [], homes=homes, max_folders=3).diagnostics == ()


def test_e28_what_is_there_and_not_let_in_is_known_by_name_only(tmp_path):
    home, root = tmp_path / "home", tmp_path / "project"
    write(home, {"mine.md": "private"})
    write(root, {"CLAUDE.md": "@~/mine.md @../home/mine.md @~/gone.md @../gone.md"})
    tree = read_rule_tree(root, ["CLAUDE.md"], homes=RuleHomes(user=home))
    assert tree.present == {"~/mine.md", "../home/mine.md"}
    assert sorted(tree.files) == ["CLAUDE.md"]


def test_a_comment_lets_nothing_be_read(tmp_path):
    write(tmp_path, {"CLAUDE.md": "<!-- @a.md -->\n", "GEMINI.md": "<!-- @b.md -->\n", "a.md": "a", "b.md": "b"})
    assert sorted(read_rule_tree(tmp_path, ["CLAUDE.md", "GEMINI.md"]).files) == ["CLAUDE.md", "GEMINI.md", "b.md"]


def test_the_digest_of_what_was_read_stays_with_the_file(tmp_path):
    (tmp_path / "AGENTS.md").write_bytes(b"\xef\xbb\xbfa\r\n")
    file = read_rule_tree(tmp_path, ["AGENTS.md"]).files["AGENTS.md"]
    assert file.digest == sha256_bytes(b"\xef\xbb\xbfa\r\n")
    read = read_text_file(tmp_path, "AGENTS.md")
    assert text_of(file) == read
    assert tree_file(file.owner, file.inner, file.name, read) == file


def test_e39_what_vanished_is_not_in_the_tree_and_a_link_to_nowhere_is(tmp_path):
    (tmp_path / "CLAUDE.md").symlink_to("gone.md")
    tree = read_rule_tree(tmp_path, ["AGENTS.md", "CLAUDE.md"])
    assert list(tree.files) == ["CLAUDE.md"]
    assert tree.files["CLAUDE.md"].absent
    assert not read_text_file(tmp_path, "CLAUDE.md").vanished
    assert read_text_file(tmp_path, "AGENTS.md").vanished
