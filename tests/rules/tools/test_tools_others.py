"""Cursor, Copilot, Gemini CLI and Hermes: their modes, their caps, and what nobody knows."""

import pytest
from support.rule_trees import by_path, loaded, lost, tree_of

from aircoding.rules.tools.account import Cause, Tool, ToolOptions, Verdict, When
from aircoding.rules.tools.explain import explain_as


def explain(tool, files, path="src/x.ts", **options):
    tree = files if not isinstance(files, dict) else tree_of(files)
    return explain_as(tree, path, tool, ToolOptions(**options))


def header(**keys):
    return "---\n" + "".join(f"{key}: {value}\n" for key, value in keys.items()) + "---\nrule\n"


@pytest.mark.parametrize(
    ("text", "verdict", "cause"),
    [
        (header(alwaysApply="true"), Verdict.LOADED, None),
        (header(globs="*.ts", alwaysApply="false"), Verdict.LOADED, None),
        (header(globs="src/**,lib/**"), Verdict.LOADED, None),
        (header(globs="lib/**"), Verdict.NOT_LOADED, Cause.GLOB),
        (header(description="when testing"), Verdict.DESCRIBED, Cause.SCOPE),
        (header(alwaysApply="'true'"), Verdict.MANUAL, Cause.SCOPE),
        ("no header", Verdict.MANUAL, Cause.SCOPE),
        ("---\nglobs: x\nnever closed", Verdict.NOT_LOADED, Cause.HEADER),
        ("---\nglobs: x\nglobs: y\n---\n", Verdict.NOT_LOADED, Cause.HEADER),
    ],
)
def test_cursor_modes(text, verdict, cause):
    account = explain(Tool.CURSOR, {".cursor/rules/r.mdc": text})
    entry = by_path(account)[".cursor/rules/r.mdc"]
    assert (entry.verdict, entry.cause) == (verdict, cause)
    assert (entry.path in account.lost) is (cause is Cause.HEADER)


def test_cursor_reads_mdc_below_rules_only_and_says_what_is_not_verified():
    files = {
        ".cursor/rules/deep/a.mdc": header(alwaysApply="true"),
        ".cursor/rules/plain.md": "ignored",
        ".cursor/other.mdc": "x",
        "src/.cursor/rules/n.mdc": header(alwaysApply="true"),
        "lib/.cursor/rules/n.mdc": header(alwaysApply="true"),
        ".cursorrules": "old",
        "AGENTS.md": "a",
        "src/AGENTS.md": "s",
        "lib/AGENTS.md": "l",
        "AGENTS.override.md": "o",
    }
    account = explain(Tool.CURSOR, files)
    found = by_path(account)
    assert set(loaded(account)) == {
        *(".cursor/rules/deep/a.mdc", ".cursorrules", "AGENTS.md"),
        *("src/AGENTS.md", "src/.cursor/rules/n.mdc"),
    }
    assert not found["src/AGENTS.md"].verified
    assert "not verified" in found["src/.cursor/rules/n.mdc"].why
    assert "not verified" in account.order
    assert lost(account) == [".cursor/rules/plain.md"]
    assert found["lib/AGENTS.md"].cause is found["lib/.cursor/rules/n.mdc"].cause is Cause.ELSEWHERE
    assert found["AGENTS.override.md"].cause is Cause.NAME


@pytest.mark.parametrize(
    ("text", "verdict", "cause"),
    [
        (header(applyTo='"**"'), Verdict.LOADED, None),
        (header(applyTo='"src/*.ts"'), Verdict.LOADED, None),
        (header(applyTo='"*.ts"'), Verdict.NOT_LOADED, Cause.GLOB),
        (header(applyTo='"**/*.{ts,tsx},x"'), Verdict.LOADED, None),
        (header(applyTo='["src/**"]'), Verdict.NOT_LOADED, Cause.HEADER),
        (header(description="x"), Verdict.MANUAL, Cause.SCOPE),
        (header(applyTo='"**"', excludeAgent='"code-review"'), Verdict.LOADED, None),
    ],
)
def test_copilot_apply_to_is_one_text(text, verdict, cause):
    name = ".github/instructions/r.instructions.md"
    entry = by_path(explain(Tool.COPILOT, {name: text}))[name]
    assert (entry.verdict, entry.cause) == (verdict, cause)


def test_copilot_exclude_agent_is_told_and_can_be_asked_for():
    name = ".github/instructions/r.instructions.md"
    files = {name: header(applyTo='"**"', excludeAgent='"code-review"')}
    assert "not for code-review" in by_path(explain(Tool.COPILOT, files))[name].why
    assert by_path(explain(Tool.COPILOT, files, agent="code-review"))[name].cause is Cause.SWITCH
    assert by_path(explain(Tool.COPILOT, files, agent="coding-agent"))[name].verdict is Verdict.LOADED


def test_copilot_reads_the_files_of_others_at_the_root_and_promises_no_order():
    files = {
        ".github/copilot-instructions.md": "c",
        **dict.fromkeys(("AGENTS.md", "CLAUDE.md", ".claude/CLAUDE.md", "GEMINI.md", "~/.claude/CLAUDE.md"), "x"),
        "src/AGENTS.md": "n",
        "src/CLAUDE.md": "n",
        ".claude/rules/a.md": header(paths="'src/**'"),
        "docs/x.instructions.md": header(applyTo='"**"'),
    }
    account = explain(Tool.COPILOT, files)
    assert "not guaranteed" in account.order
    assert set(loaded(account)) == set(files) - {"src/CLAUDE.md", "docs/x.instructions.md"}
    assert not by_path(account)["src/AGENTS.md"].verified
    assert lost(account) == ["src/CLAUDE.md"]


def test_gemini_goes_from_the_root_to_the_cwd_and_on_to_what_is_touched():
    files = {"~/.gemini/GEMINI.md": "u", "GEMINI.md": "r", "src/GEMINI.md": "s", "lib/GEMINI.md": "l", "AGENTS.md": "a"}
    account = explain(Tool.GEMINI, files)
    assert loaded(account) == ["~/.gemini/GEMINI.md", "GEMINI.md", "src/GEMINI.md"]
    assert by_path(account)["src/GEMINI.md"].when is When.TOUCH
    assert by_path(account)["lib/GEMINI.md"].cause is Cause.ELSEWHERE
    assert loaded(explain(Tool.GEMINI, files, context_names=("AGENTS.md", "GEMINI.md")))[-3:] == [
        *("AGENTS.md", "GEMINI.md", "src/GEMINI.md"),
    ]
    assert explain(Tool.GEMINI, files, cwd="lib").lost == ("src/GEMINI.md",)


def test_gemini_e22_e24_imports_five_deep_with_an_error_comment_for_what_is_not_there():
    files = {"GEMINI.md": "@1.md me@x.md @nowhere.md", **{f"{n}.md": f"@{n + 1}.md" for n in range(1, 6)}, "6.md": "x"}
    account = explain(Tool.GEMINI, files)
    assert loaded(account) == ["GEMINI.md", *(f"{n}.md" for n in range(1, 6))]
    assert by_path(account)["6.md"].cause is Cause.IMPORT
    assert [(one.code, "@nowhere.md" in one.message) for one in account.warnings] == [("gemini.import_missing", True)]


def test_gemini_e16_one_file_by_two_names_comes_once():
    tree = tree_of({"GEMINI.md": "g"}, links={"src/GEMINI.md": "GEMINI.md"})
    assert loaded(explain(Tool.GEMINI, tree)) == ["GEMINI.md"]


@pytest.mark.parametrize(
    ("files", "kept"),
    [
        ([".hermes.md", "AGENTS.md", "CLAUDE.md", ".cursorrules"], [".hermes.md"]),
        (["AGENTS.md", "agents.md", "CLAUDE.md", ".cursorrules"], ["AGENTS.md"]),
        (["CLAUDE.md", ".cursorrules"], ["CLAUDE.md"]),
        ([".cursor/rules/a.mdc", ".cursorrules"], [".cursorrules", ".cursor/rules/a.mdc"]),
    ],
)
def test_hermes_takes_one_kind_and_names_what_that_costs(files, kept):
    account = explain(Tool.HERMES, {path: f"text of {path}" for path in files}, path="x.ts")
    assert loaded(account) == kept
    assert set(account.lost) == set(files) - set(kept)


def test_hermes_an_empty_agents_md_lets_the_next_kind_in():
    account = explain(Tool.HERMES, {"AGENTS.md": " ", "CLAUDE.md": "c"}, path="x.ts")
    assert loaded(account) == ["CLAUDE.md"]
    assert by_path(account)["AGENTS.md"].cause is Cause.EMPTY


def test_hermes_the_same_content_down_the_chain_is_skipped():
    files = {"AGENTS.md": "same", "src/AGENTS.md": "same\n", "src/a/AGENTS.override.md": "own", "src/a/AGENTS.md": "x"}
    account = explain(Tool.HERMES, files, path="src/a/x.ts", cwd="src/a")
    assert loaded(account) == ["AGENTS.md", "src/a/AGENTS.override.md"]
    assert by_path(account)["src/AGENTS.md"].cause is Cause.DUPLICATE
    assert by_path(account)["src/a/AGENTS.md"].cause is Cause.SHADOWED


def test_hermes_cuts_a_file_to_head_and_tail():
    text = "h" * 14_000 + "m" * 8_000 + "t" * 4_000
    entry = by_path(explain(Tool.HERMES, {"AGENTS.md": text}, path="x"))["AGENTS.md"]
    heading = len("## AGENTS.md\n\n")
    assert (entry.verdict, entry.kept_chars) == (Verdict.PARTLY, 18_000 - heading)
    assert "20000 is the cap" in entry.why


def test_hermes_caps_the_chain_as_a_whole_too():
    files = {"AGENTS.md": "a" * 15_000, "src/AGENTS.md": "b" * 15_000}
    found = by_path(explain(Tool.HERMES, files, cwd="src"))
    assert found["AGENTS.md"].kept_chars + found["src/AGENTS.md"].kept_chars <= 18_000
    assert found["src/AGENTS.md"].kept_chars == 4_000
    assert found["AGENTS.md"].cause is found["src/AGENTS.md"].cause is Cause.CAP


def test_hermes_hints_of_folders_on_first_visit():
    files = {"AGENTS.md": "r", **{f"{'/'.join('abcdef'[: n + 1])}/CLAUDE.md": f"hint {n}" for n in range(6)}}
    account = explain(Tool.HERMES, files, path="a/b/c/d/e/f/x.ts")
    assert loaded(account)[0] == "AGENTS.md"
    assert len(loaded(account)) == 6
    assert by_path(account)["a/CLAUDE.md"].cause is Cause.CAP
    assert by_path(account)["a/b/CLAUDE.md"].when is When.TOUCH
    large = explain(Tool.HERMES, {"src/AGENTS.md": "x" * 40_000})
    assert by_path(large)["src/AGENTS.md"].kept_chars == 28_800


def test_hermes_e38_the_home_folder_gives_no_hints():
    tree = tree_of({"AGENTS.md": "r", "src/AGENTS.md": "s"}, is_home=True)
    assert loaded(explain(Tool.HERMES, tree)) == ["AGENTS.md"]


def test_hermes_passes_over_what_is_no_utf8():
    account = explain(Tool.HERMES, {"AGENTS.md": b"\xff\xfea\0"}, path="x")
    assert loaded(account) == []
    assert account.lost == ("AGENTS.md",)


@pytest.mark.parametrize(
    ("name", "text", "cause"),
    [
        ("r.mdc", header(globs="src/**"), Cause.SHADOWED),
        ("r.mdc", header(alwaysApply="true"), Cause.SHADOWED),
        ("r.mdc", header(globs="lib/**"), Cause.GLOB),
        ("r.mdc", header(description="when testing"), Cause.SCOPE),
        ("r.mdc", "no header", Cause.SCOPE),
        ("r.md", "no header", Cause.NAME),
    ],
)
def test_hermes_loses_only_cursor_rules_that_are_meant_for_the_path(name, text, cause):
    account = explain(Tool.HERMES, {"AGENTS.md": "a", f".cursor/rules/{name}": text})
    assert by_path(account)[f".cursor/rules/{name}"].cause is cause
    assert bool(lost(account)) is (cause is Cause.SHADOWED)
