"""What a file imports: one reading for workers, tools and lint; a limit is said, and whose a target is stays."""

import posixpath

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.rule_trees import by_path, loaded, tree_of

from aircoding.records.layers import Reason
from aircoding.rules.import_walk import walk_imports
from aircoding.rules.imports import FOLLOWED, imports_of
from aircoding.rules.lint import lint_tree
from aircoding.rules.neutral import neutral_rules
from aircoding.rules.reach import Reach
from aircoding.rules.rule_names import Dialect
from aircoding.rules.rule_switches import RuleSwitches
from aircoding.rules.tools.account import Tool, ToolOptions
from aircoding.rules.tools.explain import explain_as
from aircoding.rules.tree import Owner, TreeFile, import_target, tree_name

PARTS = st.lists(st.sampled_from(["~", "..", ".", "", "a", "~a", "b.md", "AGENTS.md"]), min_size=1, max_size=6)
EVERYWHERE = Reach(level=0)


@given(folder=PARTS, written=PARTS)
def test_a_relative_target_of_a_project_file_stays_in_the_project(folder, written):
    inner = posixpath.normpath("/" + "/".join([*folder, "x.md"])).lstrip("/")
    importer = TreeFile(path=tree_name(Owner.PROJECT, inner), name=None)
    target = "/".join(written)
    found = import_target(importer, f"./{target.lstrip('/')}")
    assert found is None or (found.owner is Owner.PROJECT and not found.name.startswith(("~/", "/")))


@given(st.lists(st.tuples(st.sampled_from(Owner), PARTS), max_size=8))
def test_names_of_different_owners_never_meet(files):
    names = {}
    for owner, parts in files:
        inner = posixpath.normpath("/" + "/".join(parts)).lstrip("/")
        disk = Owner.MACHINE if owner is Owner.ABOVE else owner
        if inner:
            assert names.setdefault(tree_name(owner, inner), (disk, inner)) == (disk, inner)
            assert TreeFile(path=tree_name(owner, inner), name=None, owner=owner).inner == inner


def test_what_stands_in_a_comment_is_imported_by_nobody_who_leaves_comments_out():
    tree = tree_of({"CLAUDE.md": "<!-- @hidden.md -->\n@seen.md\n", "hidden.md": "no", "seen.md": "yes"})
    assert [one.path for one in neutral_rules(tree, RuleSwitches()).used] == ["CLAUDE.md", "seen.md"]
    assert loaded(explain_as(tree, "x", Tool.CLAUDE_CODE, ToolOptions())) == ["CLAUDE.md", "seen.md"]


def test_a_mention_in_a_header_is_none_and_lines_count_in_the_file():
    file = tree_of({".claude/rules/a.md": '---\npaths: ["@b.md"]\n---\n\n@c.md\n'}).files[".claude/rules/a.md"]
    found = imports_of(file, FOLLOWED[Dialect.CLAUDE_RULES])
    assert [(one.written, one.line) for one in found.mentions] == [("@c.md", 5)]


def test_files_that_import_nothing_form_no_ring():
    tree = tree_of({"AGENTS.md": "See @b/AGENTS.md", "b/AGENTS.md": "See @../AGENTS.md"})
    assert neutral_rules(tree, RuleSwitches()).diagnostics == ()


@pytest.mark.parametrize("name", ["AGENTS.md", "CLAUDE.md", ".windsurfrules"])
def test_e20_a_file_that_is_anothers_name_is_replaced_by_it_whoever_reads_it(name):
    rules = neutral_rules(tree_of({name: "docs/rules.md\n", "docs/rules.md": "Use tabs."}), RuleSwitches())
    assert [one.path for one in rules.used] == ["docs/rules.md"]
    assert [one.code for one in rules.diagnostics] == ["rule.bare_name"]


def test_the_cap_on_mentions_is_named_with_its_line():
    tree = tree_of({"CLAUDE.md": "@a.md\n@b.md\n@c.md\n", "a.md": "a", "b.md": "b", "c.md": "c"})
    walk = walk_imports(tree, {"CLAUDE.md": EVERYWHERE}, max_mentions=2)
    assert sorted(walk.reached) == ["a.md", "b.md"]
    assert walk.unread == {"CLAUDE.md": 3}
    many = tree_of({"CLAUDE.md": "".join(f"@n{number}.md\n" for number in range(1002)), "n1001.md": "lost"})
    (remark,) = neutral_rules(many, RuleSwitches()).diagnostics
    assert (remark.code, remark.line) == ("rule.too_many_imports", 1001)
    assert [one.line for one in lint_tree(many) if one.message.startswith("from here")] == [1001]


def test_the_cap_on_steps_names_the_file_at_which_it_ended():
    tree = tree_of({"CLAUDE.md": "@a.md", "a.md": "@b.md", "b.md": "@c.md", "c.md": "end"})
    walk = walk_imports(tree, {"CLAUDE.md": EVERYWHERE}, max_steps=2)
    assert (sorted(walk.reached), walk.stopped_at) == (["a.md", "b.md"], "b.md")
    assert walk_imports(tree, {"CLAUDE.md": EVERYWHERE}, max_steps=3).stopped_at is None


def test_a_hop_too_far_is_named_by_tools_as_well():
    files = {f"h{n}.md": f"@h{n + 1}.md" for n in range(1, 7)}
    account = explain_as(tree_of({"CLAUDE.md": "@h1.md", **files}), "x", Tool.CLAUDE_CODE, ToolOptions())
    assert "at hop 5; Claude Code follows 4 hops" in by_path(account)["h5.md"].why


def test_only_what_lies_outside_is_said_to_lie_outside():
    tree = tree_of({"CLAUDE.md": "@a.md @~/b.md"})
    tree = type(tree)(files=tree.files, unread=frozenset({"a.md"}), present=frozenset({"~/b.md"}))
    out = {one.path: one.why for one in neutral_rules(tree, RuleSwitches()).left_out}
    assert out["a.md"].reason is Reason.BUDGET
    assert "outside" not in out["a.md"].detail
    assert "it lies outside the project" in out["~/b.md"].detail
