"""What is wrong with rule files, found from the files alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aircoding.rules.lint import CHECKS, lint_tree
from aircoding.rules.rule_names import classify
from aircoding.rules.tree import RuleTree, TreeFile

LONG = "Every module has a docstring that says what it is for, and every public function says what it returns.\n"


def tree_of(files: dict[str, str], paths: tuple[str, ...] = ("src/a.py",)) -> RuleTree:
    made = {path: TreeFile(path=path, name=classify(path), text=text) for path, text in files.items()}
    return RuleTree(files=made, paths=frozenset((*files, *paths)))


def found(files: dict[str, str], paths: tuple[str, ...] = ("src/a.py",)) -> list[tuple[str, str, int | None]]:
    return [(one.code, one.uri, one.line) for one in lint_tree(tree_of(files, paths))]


@pytest.mark.parametrize(
    ("path", "text", "code", "line"),
    [
        (".claude/rules/a.md", "---\npaths: [lib/**]\n---\nx", "lint.unmatched", 2),
        ("src/.claude/rules/a.md", "---\npaths: [src/**]\n---\nx", "lint.unmatched", 2),
        (".air/shared/rules/a.md", "---\npaths: [lib/**]\n---\nx", "lint.unmatched", 2),
        (".cursor/rules/a.mdc", "---\nglobs: *.ts\n---\nx", "lint.unmatched", 2),
        (".github/instructions/a.instructions.md", "---\napplyTo: '*.py'\n---\nx", "lint.unmatched", 2),
        (".claude/rules/a.md", "---\npaths: a\nx", "lint.header", 1),
        (".air/shared/rules/a.md", "---\nglobs: a\n---\nx", "lint.header", 2),
        (".github/instructions/a.instructions.md", "---\napplyTo: [a]\n---\nx", "lint.header", 2),
        (".cursor/rules/a.mdc", "x", "lint.never", 1),
        (".cursor/rules/a.md", "---\nalwaysApply: true\n---\nx", "lint.never", None),
        (".windsurf/rules/a.md", "x", "lint.never", 1),
        ("CLAUDE.md", "see\n@docs/gone.md", "lint.import", 2),
        ("CLAUDE.md", "@../up.md", "lint.import", 1),
        ("AGENTS.md", " \n", "lint.empty", 1),
    ],
)
def test_each_fault_is_named_with_its_line(path: str, text: str, code: str, line: int | None) -> None:
    assert (code, f"project:{path}", line) in found({path: text})


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("AGENTS.md", "x"),
        (".claude/rules/a.md", '---\npaths: ["src/**"]\n---\nx'),
        ("src/.claude/rules/a.md", '---\npaths: ["*.py"]\n---\nx'),
        (".cursor/rules/a.mdc", "---\nglobs: *.py\nalwaysApply: false\n---\nx"),
        (".github/copilot-instructions.md", "x"),
        (".cursorrules", "x"),
        ("CLAUDE.md", "@decorator me@example.com `@gone.md`\n<!--\n@gone.md\n-->\n@~/mine.md"),
    ],
)
def test_what_is_in_order_is_not_named(path: str, text: str) -> None:
    assert found({path: text}) == []


def test_e20_a_link_that_became_text() -> None:
    assert found({"CLAUDE.md": "AGENTS.md", "AGENTS.md": "x"}) == [("lint.import", "project:CLAUDE.md", 1)]


def test_a_text_that_stands_twice_is_named_once_for_each_file() -> None:
    text = f"## One\n\n{LONG}\n## Two\n\n{LONG}{LONG}"
    duplicates = lint_tree(tree_of({"AGENTS.md": text, "sub/CLAUDE.md": f"# Top\n\n{text}"}))
    assert [(one.code, one.uri, one.line) for one in duplicates] == [("lint.duplicate", "project:sub/CLAUDE.md", 3)]
    assert duplicates[0].message == "the same text stands in AGENTS.md:1, and 1 more sections with it"


def test_two_names_of_one_file_are_no_duplicate() -> None:
    same = {
        path: TreeFile(path=path, name=classify(path), text=LONG, identity=(1, 2))
        for path in ("AGENTS.md", "CLAUDE.md")
    }
    assert lint_tree(RuleTree(files=same)) == ()


def test_a_file_that_cannot_be_read_is_named() -> None:
    broken = TreeFile(path="AGENTS.md", name=classify("AGENTS.md"), problem="permission denied")
    assert [one.code for one in lint_tree(RuleTree(files={"AGENTS.md": broken}))] == ["lint.unreadable"]


NAMES = (
    "AGENTS.md",
    "a/CLAUDE.md",
    ".claude/rules/x.md",
    ".cursor/rules/y.mdc",
    ".air/shared/rules/z.md",
    ".cursorrules",
)


@given(st.dictionaries(st.sampled_from(NAMES), st.text(alphabet="-\n#@:*ab [`", max_size=120)))
def test_any_files_give_findings_that_do_not_depend_on_their_order(files: dict[str, str]) -> None:
    findings = lint_tree(tree_of(files))
    assert lint_tree(tree_of(dict(reversed(files.items())))) == findings
    assert {one.code for one in findings} <= set(CHECKS)
