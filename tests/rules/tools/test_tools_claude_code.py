"""Claude Code's memory: E09 to E12, E17 to E29, and when AGENTS.md is read."""

import pytest
from support.rule_trees import by_path, loaded, lost, tree_of

from aircoding.rules.rule_names import classify
from aircoding.rules.tools.account import AgentsMode, Cause, Tool, ToolOptions, Verdict, When
from aircoding.rules.tools.explain import explain_as
from aircoding.rules.tree import TreeFile


def claude(files, path="src/api/x.ts", **options):
    tree = files if not isinstance(files, dict) else tree_of(files)
    return explain_as(tree, path, Tool.CLAUDE_CODE, ToolOptions(**options))


def rule(paths, text="rule"):
    return f"---\npaths: {paths}\n---\n{text}\n"


def test_the_order_is_managed_user_above_root_down_and_local_last():
    files = {
        "CLAUDE.local.md": "6",
        "src/CLAUDE.md": "8",
        ".claude/rules/always.md": "5",
        ".claude/CLAUDE.md": "4",
        "CLAUDE.md": "3",
        "/CLAUDE.md": "above",
        "/home/CLAUDE.md": "nearer",
        "~/.claude/rules/mine.md": "user rule",
        "~/.claude/CLAUDE.md": "2",
        "/etc/claude-code/CLAUDE.md": "1",
        ".claude/rules/scoped.md": rule("'src/**'"),
    }
    account = claude(files)
    assert loaded(account) == [
        *("/etc/claude-code/CLAUDE.md", "~/.claude/CLAUDE.md", "~/.claude/rules/mine.md"),
        *("/CLAUDE.md", "/home/CLAUDE.md"),
        *("CLAUDE.md", ".claude/CLAUDE.md", ".claude/rules/always.md", "CLAUDE.local.md"),
        *("src/CLAUDE.md", ".claude/rules/scoped.md"),
    ]
    found = by_path(account)
    assert found["src/CLAUDE.md"].when is found[".claude/rules/scoped.md"].when is When.TOUCH
    assert found["CLAUDE.local.md"].when is When.START
    assert not account.lost


def test_a_working_directory_below_moves_nested_files_to_the_start():
    files = {"CLAUDE.md": "r", "src/CLAUDE.md": "s", "docs/CLAUDE.md": "d"}
    assert by_path(claude(files, cwd="src"))["src/CLAUDE.md"].when is When.START
    beside = claude(files, cwd="docs")
    assert beside.lost == ("src/CLAUDE.md",)
    assert "neither above nor below" in by_path(beside)["src/CLAUDE.md"].why


@pytest.mark.parametrize(
    ("mode", "with_claude", "without"),
    [
        (AgentsMode.CLAUDE_MD, ["CLAUDE.md"], []),
        (AgentsMode.EITHER, ["CLAUDE.md"], ["AGENTS.md", "src/AGENTS.md"]),
        (AgentsMode.BOTH, ["CLAUDE.md", "AGENTS.md", "src/AGENTS.md"], ["AGENTS.md", "src/AGENTS.md"]),
        (AgentsMode.MANAGED_ONLY, [], []),
    ],
)
def test_the_four_settings_for_agents_md(mode, with_claude, without):
    agents = {"AGENTS.md": "a", "src/AGENTS.md": "s"}
    assert loaded(claude({**agents, "CLAUDE.md": "c"}, agents_mode=mode)) == with_claude
    assert loaded(claude(agents, agents_mode=mode)) == without


def test_e17_a_claude_md_that_is_a_link_to_agents_md_switches_nested_agents_md_off():
    tree = tree_of({"AGENTS.md": "a", "src/AGENTS.md": "nested"}, links={"CLAUDE.md": "AGENTS.md"})
    account = claude(tree)
    assert loaded(account) == ["CLAUDE.md"]
    assert account.lost == ("src/AGENTS.md",)
    assert by_path(account)["AGENTS.md"].cause is Cause.DUPLICATE
    assert by_path(account)["CLAUDE.md"].names == ("AGENTS.md", "CLAUDE.md")
    warning = next(one for one in account.warnings if one.code == "claude_code.agents_md")
    assert "src/AGENTS.md" in warning.message
    assert "AGENTS.md, src" not in warning.message


def test_e17_the_same_content_counts_once_with_both():
    account = claude({"AGENTS.md": "same", "CLAUDE.md": "same"}, agents_mode=AgentsMode.BOTH)
    assert loaded(account) == ["CLAUDE.md"]
    assert by_path(account)["AGENTS.md"].cause is Cause.DUPLICATE


def test_a_claude_md_below_the_working_directory_does_not_switch_agents_md_off():
    assert loaded(claude({"AGENTS.md": "a", "src/CLAUDE.md": "c"})) == ["AGENTS.md", "src/CLAUDE.md"]


def test_the_users_own_claude_md_does_not_switch_agents_md_off():
    tree = tree_of(
        {"AGENTS.md": "a", "~/.claude/CLAUDE.md": "u"}, links={"/home/user/.claude/CLAUDE.md": "~/.claude/CLAUDE.md"}
    )
    assert loaded(claude(tree)) == ["~/.claude/CLAUDE.md", "AGENTS.md"]


def test_e20_a_link_that_became_text_is_one_word_to_the_model():
    account = claude({"AGENTS.md": "a" * 500, "CLAUDE.md": "AGENTS.md"})
    assert by_path(account)["CLAUDE.md"].kept_bytes == len("AGENTS.md")
    assert account.lost == ("AGENTS.md",)
    assert {"claude_code.flat_link", "claude_code.agents_md"} <= {one.code for one in account.warnings}


def test_e21_e25_imports_are_relative_and_each_file_comes_once():
    files = {
        "CLAUDE.md": "@docs/a.md @docs/a.md",
        "docs/a.md": "@b.md @../CLAUDE.md",
        "docs/b.md": "@a.md",
        "b.md": "no",
    }
    account = claude(files)
    assert loaded(account) == ["CLAUDE.md", "docs/a.md", "docs/b.md"]
    assert by_path(account)["docs/a.md"].imported_by == ("CLAUDE.md", "docs/b.md")
    assert "imported by CLAUDE.md line 1" in by_path(account)["docs/a.md"].why
    assert by_path(account)["b.md"].cause is Cause.NAME


def test_e22_hop_four_is_loaded_and_hop_five_is_not():
    files = {"CLAUDE.md": "@1.md", **{f"{n}.md": f"@{n + 1}.md" for n in range(1, 6)}}
    account = claude(files)
    assert loaded(account) == ["CLAUDE.md", "1.md", "2.md", "3.md", "4.md"]
    assert by_path(account)["5.md"].cause is Cause.IMPORT
    assert "4.md line 1 imports it at hop 5" in by_path(account)["5.md"].why
    assert "5.md" in account.lost


def test_a_file_too_deep_by_one_way_is_loaded_by_a_shorter_one():
    files = {"CLAUDE.md": "@1.md\n@5.md", **{f"{n}.md": f"@{n + 1}.md" for n in range(1, 5)}, "5.md": "end"}
    assert "5.md" in loaded(claude(files))


def test_e23_e24_what_is_in_code_or_names_no_file_stays_as_it_is():
    account = claude({"CLAUDE.md": "`@a.md` me@a.md @scope/pkg\n```\n@a.md\n```", "a.md": "a"})
    assert loaded(account) == ["CLAUDE.md"]
    assert not account.warnings


def test_e27_a_binary_import_is_refused():
    binary = TreeFile(path="a.png", name=None, raw=b"\0", size_bytes=1, identity=(2, 1), problem="it is a binary file")
    account = claude(tree_of({"CLAUDE.md": "@a.png"}, problems={"a.png": binary}))
    assert by_path(account)["a.png"].cause is Cause.UNREADABLE
    assert by_path(account)["a.png"].imported_by == ("CLAUDE.md",)


def test_e28_imports_from_outside_need_a_yes_and_the_users_own_do_not():
    files = {"CLAUDE.md": "@~/notes.md\n@../sib.md", "~/.claude/CLAUDE.md": "@more.md", "~/.claude/more.md": "m"}
    account = claude(files, root="/srv/p")
    found = by_path(account)
    assert loaded(account) == ["~/.claude/CLAUDE.md", "~/.claude/more.md", "CLAUDE.md"]
    assert found["~/notes.md"].verdict is found["/srv/sib.md"].verdict is Verdict.REFUSED
    approved = claude({**files, "~/notes.md": "n"}, approved=frozenset({"~/notes.md"}))
    assert "~/notes.md" in loaded(approved)


def test_e25_imports_of_files_above_the_project_are_followed():
    account = claude({"/srv/CLAUDE.md": "@common.md", "/srv/common.md": "c"}, root="/srv/p")
    assert loaded(account) == ["/srv/CLAUDE.md", "/srv/common.md"]


def test_e29_sizes_are_those_after_comments_and_header_and_lines_those_of_the_file():
    text = "---\npaths: 'src/**'\n---\n<!-- a\nnote -->\nkeep @a.md\n"
    account = claude({".claude/rules/r.md": text, ".claude/rules/a.md": "---\npaths: no/**\n---\nx"})
    entry = by_path(account)[".claude/rules/r.md"]
    assert (entry.size_bytes, entry.kept_bytes) == (len(text), len("keep @a.md\n"))
    assert "r.md line 6" in by_path(account)[".claude/rules/a.md"].why or entry.verdict is Verdict.LOADED


@pytest.mark.parametrize(
    ("paths", "path", "in_"),
    [
        ("'*.md'", "README.md", True),
        ("'*.md'", "docs/a.md", False),
        ("'**/*.ts'", "a.ts", True),
        ("'**/*.ts'", "x/y/a.ts", True),
        ("'src/**/*.{ts,tsx},lib/**'", "lib/a.c", True),
        ("['src/*.ts']", "src/a/b.ts", False),
        ("['[x', 'src/**']", "src/a.ts", True),
        ("['!src/**']", "src/a.ts", False),
        ("['" + "{a,b}" * 10 + "', 'src/**']", "src/a.ts", True),
        ("['" + "{a,b}" * 10 + "']", "a" * 10, False),
        ("**/*.ts", "src/a.ts", True),
    ],
    ids=["E10", "E10b", "E11", "E11b", "E08", "E07", "E12", "E13", "E09", "E09b", "E06"],
)
def test_paths_of_rules(paths, path, in_):
    account = claude({".claude/rules/r.md": rule(paths)}, path=path)
    assert (loaded(account) == [".claude/rules/r.md"]) is in_
    if not in_:
        assert by_path(account)[".claude/rules/r.md"].cause is Cause.GLOB


def test_e12_e09_the_glob_that_cannot_be_read_is_named_with_its_line():
    account = claude({".claude/rules/r.md": rule("['[x', 'src/**']")})
    assert [(one.code, one.line) for one in account.warnings] == [("rule_header.paths", 2)]


def test_e04_a_broken_header_is_said_to_be_unverified():
    account = claude({".claude/rules/r.md": "---\npaths: x\nno end"})
    entry = by_path(account)[".claude/rules/r.md"]
    assert (entry.cause, entry.verified) == (Cause.HEADER, False)
    assert account.lost == (".claude/rules/r.md",)


def test_excludes_are_globs_on_absolute_paths_and_spare_the_managed_file():
    files = {"CLAUDE.md": "r", "src/CLAUDE.md": "s", "/etc/claude-code/CLAUDE.md": "m"}
    account = claude(files, root="/srv/p", excludes=("/srv/p/src/**", "/etc/**"))
    assert loaded(account) == ["/etc/claude-code/CLAUDE.md", "CLAUDE.md"]
    assert by_path(account)["src/CLAUDE.md"].cause is Cause.SWITCH


def test_a_file_over_four_mebibytes_is_skipped_whole():
    why = "it has 5000000 bytes, more than 4194304"
    large = TreeFile(path="CLAUDE.md", name=classify("CLAUDE.md"), size_bytes=5_000_000, identity=(2, 1), problem=why)
    account = claude(tree_of({}, problems={"CLAUDE.md": large}))
    assert lost(account) == ["CLAUDE.md"]
    assert "4194304" in by_path(account)["CLAUDE.md"].why


def test_e18_two_names_of_one_rule_load_once():
    tree = tree_of({".claude/rules/a.md": "a"}, links={".claude/rules/b.md": ".claude/rules/a.md"})
    assert loaded(claude(tree)) == [".claude/rules/a.md"]
