"""Encodings, headers and globs of rule files of other tools (E01 to E15), as a worker gets them."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.rule_folders import RuleFolders, matches

from aircoding.records.layers import OutcomeKind, Reason


@pytest.fixture
def read(tmp_path: Path) -> RuleFolders:
    return RuleFolders(tmp_path)


def test_e01_a_byte_order_mark_hides_no_header_and_reaches_no_prompt(read: RuleFolders) -> None:
    found = read({".claude/rules/a.md": b"\xef\xbb\xbf---\npaths: ['src/**']\n---\nText.\n"})
    rule = found.one(".claude/rules/a.md")
    assert (rule.paths, rule.text) == (("src/**",), "Text.")


def test_e02_line_ends_of_any_kind_are_read_alike_and_the_raw_digest_is_kept(read: RuleFolders) -> None:
    plain = read({"CLAUDE.md": "a\n\n## B\n\nc\n"})
    one = [rule.text for rule in plain.all("project:CLAUDE.md")]
    other = read({"CLAUDE.md": "a\r\n\r\n## B\r\n\r\nc\r\n"})
    assert [rule.text for rule in other.all("project:CLAUDE.md")] == one
    digests = {rule.source.digest for found in (plain, other) for rule in found.all("project:CLAUDE.md")}
    assert len(digests) == 2


def test_e03_a_header_may_end_with_the_file(read: RuleFolders) -> None:
    found = read({".cursor/rules/a.mdc": "---\ndescription: How to test\n---"})
    assert found.one(".cursor/rules/a.mdc").text == "- .cursor/rules/a.mdc: How to test"


@pytest.mark.parametrize("name", [".claude/rules/a.md", ".cursor/rules/a.mdc", ".windsurf/rules/a.md"])
def test_e04_a_header_that_is_not_closed_quarantines_the_file(read: RuleFolders, name: str) -> None:
    found = read({name: "---\npaths: ['src/**']\nText without an end.\n"})
    outcome, reason, detail = found.out(name)
    assert (outcome, reason) == (OutcomeKind.QUARANTINED, Reason.INVALID)
    assert detail.startswith(f"project:{name}:1: ")
    assert any(one.severity == "error" for one in found.rules.diagnostics)


def test_e06_globs_without_quotes_are_read_and_said(read: RuleFolders) -> None:
    found = read(
        {
            ".claude/rules/a.md": "---\npaths: **/*.ts\n---\nA\n",
            ".cursor/rules/b.mdc": "---\nglobs: *.tsx\nalwaysApply: false\n---\nB\n",
        }
    )
    assert found.one(".claude/rules/a.md").paths == ("**/*.ts",)
    assert found.one(".cursor/rules/b.mdc").paths == ("**/*.tsx",)
    assert found.codes().count("front_matter.lenient") == 2


@pytest.mark.parametrize("paths", ["src/**", "'src/**'", "['src/**']", "\n  - 'src/**'"])
def test_e07_a_text_a_list_and_a_list_of_one_say_the_same(read: RuleFolders, paths: str) -> None:
    assert read({".claude/rules/a.md": f"---\npaths: {paths}\n---\nA\n"}).one(".claude/rules/a.md").paths == ("src/**",)


def test_e08_e09_braces_hold_commas_and_stand_for_all_their_patterns(read: RuleFolders) -> None:
    header = "---\napplyTo: 'src/**/*.{ts,tsx},lib/{a,b}/{c,d}'\n---\nA\n"
    rule = read({".github/instructions/a.instructions.md": header}).one(".github/instructions/a.instructions.md")
    assert rule.paths == ("src/**/*.{ts,tsx}", "lib/{a,b}/{c,d}")
    assert all(matches(rule, path) for path in ("src/x/y.tsx", "lib/b/c"))


def test_e09_too_many_expansions_match_nothing_and_leave_the_others_live(read: RuleFolders) -> None:
    many = "{0,1,2,3,4,5,6,7,8,9}" * 4
    found = read({".claude/rules/a.md": f"---\npaths: ['{many}', 'src/**']\n---\nA\n"})
    assert found.one(".claude/rules/a.md").paths == ("src/**",)
    assert "rule_header.paths" in found.codes()


def test_e10_e11_e14_a_glob_of_claude_is_anchored_at_the_root_and_sees_dotfiles(read: RuleFolders) -> None:
    found = read(
        {
            ".claude/rules/a.md": "---\npaths: ['*.md']\n---\nA\n",
            ".claude/rules/b.md": "---\npaths: ['**/*.ts']\n---\nB\n",
            ".claude/rules/c.md": "---\npaths: ['.github/**', '.env.example']\n---\nC\n",
        }
    )
    root, deep, dots = (found.one(f".claude/rules/{name}.md") for name in "abc")
    assert (matches(root, "README.md"), matches(root, "docs/a.md")) == (True, False)
    assert (matches(deep, "a.ts"), matches(deep, "x/y/a.ts")) == (True, True)
    assert (matches(dots, ".github/workflows/ci.yml"), matches(dots, ".env.example")) == (True, True)


@pytest.mark.parametrize("bad", ["src/[z", "!src/old/**"])
def test_e12_e13_a_glob_that_cannot_be_read_is_named_and_its_siblings_work(read: RuleFolders, bad: str) -> None:
    found = read({".claude/rules/a.md": f"---\npaths: ['{bad}', 'lib/**']\n---\nA\n"})
    assert found.one(".claude/rules/a.md").paths == ("lib/**",)
    assert any(bad in one.message for one in found.rules.diagnostics)
    alone = read({".claude/rules/a.md": f"---\npaths: ['{bad}']\n---\nA\n"})
    assert alone.out(".claude/rules/a.md")[:2] == (OutcomeKind.OMITTED, Reason.INVALID)


def test_e15_case_counts_in_globs(read: RuleFolders) -> None:
    rule = read({".claude/rules/a.md": "---\npaths: ['Src/**']\n---\nA\n"}).one(".claude/rules/a.md")
    assert (matches(rule, "Src/a"), matches(rule, "src/a")) == (True, False)
