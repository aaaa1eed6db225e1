"""When rule files of other tools apply, read from headers as people write them (E04, E06 to E13)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aircoding.rules.foreign_header import HeaderStyle, RuleMode, read_foreign_header


def read(header: str, style: HeaderStyle):
    return read_foreign_header(f"---\n{header}\n---\nText.\n", style, "project:x.md")


@pytest.mark.parametrize(
    ("style", "header", "mode", "patterns"),
    [
        (HeaderStyle.CLAUDE, "description: x", RuleMode.ALWAYS, ()),
        (HeaderStyle.CLAUDE, 'paths: ["src/**/*.ts"]', RuleMode.GLOB, ("src/**/*.ts",)),
        (HeaderStyle.CLAUDE, 'paths: "src/**/*.ts, lib/**"', RuleMode.GLOB, ("src/**/*.ts", "lib/**")),
        (HeaderStyle.CLAUDE, "paths: **/*.ts", RuleMode.GLOB, ("**/*.ts",)),
        (HeaderStyle.CLAUDE, "paths:\n  - **/*.ts", RuleMode.GLOB, ("**/*.ts",)),
        (HeaderStyle.CLAUDE, 'paths: "src/**/*.{ts,tsx},lib/**"', RuleMode.GLOB, ("src/**/*.{ts,tsx}", "lib/**")),
        (HeaderStyle.CURSOR, "globs: *.tsx\nalwaysApply: false", RuleMode.GLOB, ("**/*.tsx",)),
        (
            HeaderStyle.CURSOR,
            "description: x\nglobs: src/**/*.ts,docs/*\nalwaysApply: false",
            RuleMode.GLOB,
            ("src/**/*.ts", "docs/*"),
        ),
        (HeaderStyle.CURSOR, 'globs: ["a/**"]', RuleMode.GLOB, ("a/**",)),
        (HeaderStyle.CURSOR, "description: x\nglobs:\nalwaysApply: true", RuleMode.ALWAYS, ()),
        (HeaderStyle.CURSOR, "globs: **/*\nalwaysApply: true", RuleMode.ALWAYS, ()),
        (HeaderStyle.CURSOR, 'alwaysApply: "true"', RuleMode.MANUAL, ()),
        (HeaderStyle.CURSOR, "description: When to use it\nglobs:\nalwaysApply: false", RuleMode.DESCRIBED, ()),
        (HeaderStyle.CURSOR, "alwaysApply: false", RuleMode.MANUAL, ()),
        (HeaderStyle.COPILOT, 'applyTo: "**/*.ts,**/*.tsx"', RuleMode.GLOB, ("**/*.ts", "**/*.tsx")),
        (HeaderStyle.COPILOT, "applyTo: '**'", RuleMode.GLOB, ("**",)),
        (HeaderStyle.COPILOT, "applyTo:\n  - a/**", RuleMode.MANUAL, ()),
        (HeaderStyle.COPILOT, "description: x", RuleMode.MANUAL, ()),
        (HeaderStyle.WINDSURF, "trigger: always_on", RuleMode.ALWAYS, ()),
        (HeaderStyle.WINDSURF, "trigger: glob\nglobs: *.py", RuleMode.GLOB, ("**/*.py",)),
        (HeaderStyle.WINDSURF, "trigger: model_decision", RuleMode.DESCRIBED, ()),
        (HeaderStyle.WINDSURF, "description: x", RuleMode.MANUAL, ()),
    ],
)
def test_modes(style, header, mode, patterns):
    found = read(header, style)
    assert (found.mode, found.patterns, found.broken) == (mode, patterns, False)
    assert found.body == "Text.\n"


def test_a_file_without_a_header():
    assert read_foreign_header("Text.", HeaderStyle.CLAUDE).mode is RuleMode.ALWAYS
    assert read_foreign_header("Text.", HeaderStyle.CURSOR).mode is RuleMode.MANUAL
    assert read_foreign_header("---\nText.", HeaderStyle.PLAIN).body == "---\nText."


def test_e04_an_unclosed_header_is_broken_and_named():
    found = read_foreign_header("---\npaths: a\nText.", HeaderStyle.CLAUDE, "project:x.md")
    assert found.broken
    assert found.diagnostics[0].line == 1


def test_e12_one_bad_glob_leaves_its_siblings_in_force():
    found = read('paths: ["src/[", "lib/**"]', HeaderStyle.CLAUDE)
    assert found.patterns == ("lib/**",)
    assert "src/[" in found.diagnostics[0].message


def test_e13_a_negation_is_named_and_never_turned_round():
    found = read('paths: ["!x/**"]', HeaderStyle.CLAUDE)
    assert (found.mode, found.patterns) == (RuleMode.GLOB, ())
    assert found.diagnostics


def test_excluded_agents():
    assert read('applyTo: "**"\nexcludeAgent: "code-review"', HeaderStyle.COPILOT).excluded_agents == ("code-review",)


@given(st.text(max_size=300), st.sampled_from(HeaderStyle))
def test_any_text_has_a_mode(text, style):
    for whole in (text, f"---\n{text}\n---\nbody"):
        found = read_foreign_header(whole, style)
        assert found.mode in RuleMode


@pytest.mark.parametrize(
    ("style", "header", "key", "mode"),
    [
        (HeaderStyle.CLAUDE, "globs: src/**", "globs", RuleMode.ALWAYS),
        (HeaderStyle.CLAUDE, "path: src/**", "path", RuleMode.ALWAYS),
        (HeaderStyle.CURSOR, "paths: [src/**]", "paths", RuleMode.MANUAL),
        (HeaderStyle.CURSOR, "alwaysapply: true", "alwaysapply", RuleMode.MANUAL),
        (HeaderStyle.COPILOT, "paths: src/**", "paths", RuleMode.MANUAL),
        (HeaderStyle.WINDSURF, "alwaysApply: true", "alwaysApply", RuleMode.MANUAL),
    ],
)
def test_a_key_of_another_tool_says_nothing_to_this_one_and_is_named(
    style: HeaderStyle, header: str, key: str, mode: RuleMode
) -> None:
    found = read(header, style)
    assert found.mode is mode
    assert [(one.code, one.line) for one in found.diagnostics] == [(f"rule_header.{key}", 2)]
    assert f"`{key}` says nothing to" in found.why_mode


def test_keys_that_say_nothing_of_when_a_rule_applies_are_passed_over():
    assert read("author: me\npaths: [a/**]\ndescription: x", HeaderStyle.CLAUDE).diagnostics == ()
    assert read("globs: src/**\nalwaysApply: false", HeaderStyle.CURSOR).diagnostics == ()
