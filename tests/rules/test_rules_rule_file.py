"""Native rule files: sections, identity, and that a broken header neither drops nor widens a rule in silence."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aircoding.rules.rule_file import parse_rule_file
from aircoding.rules.sections import slug, split_sections

REPO = Path(__file__).parents[2]
URI = "project:.air/shared/rules/style.md"


def rules(text: str):
    return parse_rule_file(text, URI, 3).rules


def test_sections_with_identity_and_lines():
    text = "---\nkind: toolchain\n---\nBefore.\n\n## Tests\nRun them.\n\n```\n## no heading\n```\n## Tests ##\nAgain.\n"
    found = [(rule.identity, rule.start_line, rule.end_line, rule.kind) for rule in rules(text)]
    assert found == [
        ("style.md#_", 4, 4, "toolchain"),
        ("style.md#tests", 6, 11, "toolchain"),
        ("style.md#tests-2", 12, 13, "toolchain"),
    ]
    lines = text.split("\n")
    for rule in rules(text):
        assert rule.text == "\n".join(lines[rule.start_line - 1 : rule.end_line])


def test_an_id_names_the_one_rule_or_its_sections():
    assert [(r.identity, r.rule_id) for r in rules("---\nid: house\n---\nText")] == [("house", "house")]
    both = rules("---\nid: house\n---\n## A\nx\n## B\ny")
    assert [rule.identity for rule in both] == ["house#a", "house#b"]


@pytest.mark.parametrize(
    "paths",
    ['"src/**,lib/{a,b}/*"', '["src/**", "lib/{a,b}/*"]', "\n  - src/**\n  - lib/{a,b}/*", "src/**, lib/{a,b}/*"],
)
def test_paths_in_every_form(paths):
    (rule,) = rules(f"---\npaths: {paths}\n---\nText")
    assert (rule.paths, rule.paths_line, rule.fault) == (("src/**", "lib/{a,b}/*"), 2, None)


def test_one_bad_glob_leaves_the_others():
    result = parse_rule_file('---\npaths: ["src/[", "lib/**"]\n---\nText', URI, 3)
    assert result.rules[0].paths == ("lib/**",)
    assert result.rules[0].fault is None
    (warning,) = result.diagnostics
    assert (warning.severity, warning.line, warning.message) == (
        "warning",
        2,
        "`src/[` matches nothing: a `[` has no `]`",
    )


@pytest.mark.parametrize(
    ("header", "line", "message"),
    [
        ('paths: ["[", "!x"]', 2, "`[` matches nothing: a `[` has no `]`"),
        ("paths: {a,b}", 2, "`paths` is no list of globs"),
        ("paths: []", 2, "`paths` is empty"),
        ("kind: project\npath: src/**", 3, "`path` is no key of a rule file"),
        ("globs: src/**", 2, "`globs` is a key of another tool's rule files"),
        ("alwaysApply: false", 2, "`alwaysApply` is a key of another tool's rule files"),
        ("kind: projct", 2, "`kind` is 'projct'"),
        ("required: maybe", 2, "`required` is 'maybe'"),
        ("id: a b", 2, "`id` is 'a b'"),
        ("tags: {a: b}", 2, "`tags` is no list of words"),
        ("paths: [a, b", 2, "the header is no YAML (did not find expected ',' or ']', line 3)"),
    ],
)
def test_a_header_that_cannot_be_meant_so_is_a_fault_of_every_rule(header, line, message):
    result = parse_rule_file(f"---\n{header}\n---\n## A\nx\n## B\ny", URI, 3)
    assert result.rules, "the rules are still accounted for"
    for rule in result.rules:
        assert rule.fault is not None
        assert (rule.fault.message, rule.fault.line) == (message, line)


def test_an_unclosed_header_quarantines_the_whole_text():
    (rule,) = rules("---\npaths: src/**\n\nAlways do this.\n## A\nx\n")
    assert rule.fault is not None
    assert rule.fault.code == "front_matter.unclosed"
    assert (rule.identity, rule.start_line, rule.end_line) == ("style.md#_", 1, 6)


def test_an_unknown_key_that_narrows_nothing_is_a_warning():
    result = parse_rule_file("---\nauthor: me\n---\nText", URI, 3)
    assert result.rules[0].fault is None
    assert [one.code for one in result.diagnostics] == ["rule_file.unknown_key"]


def test_an_empty_file_is_listed():
    result = parse_rule_file("---\nkind: project\n---\n\n", URI, 3)
    assert (result.rules, [one.code for one in result.diagnostics]) == ((), ["rule_file.empty"])


@pytest.mark.parametrize("name", ["project-rules.md", "toolchain-rules.md"])
def test_packaged_templates_are_clean(name):
    result = parse_rule_file((REPO / "resources/rules" / name).read_text(), f"resource:rules/{name}", 0)
    assert result.diagnostics == ()
    assert len(result.rules) == 3
    assert {rule.kind for rule in result.rules} == {name.split("-")[0]}


def test_slugs():
    assert [slug(one) for one in ("Tests & Checks!", "Über_uns", "###", "日本 語")] == [
        "tests-checks",
        "über-uns",
        "section",
        "日本-語",
    ]


BODIES = st.lists(st.sampled_from(["## A", "## A ##", "##", "### B", "x", "", "```", "~~~", "````", "## a-2", "  "]))


@given(BODIES)
@settings(max_examples=300, deadline=None)
def test_sections_hold_every_line_once(lines):
    sections = split_sections("\n".join(lines))
    held = [number for section in sections for number in range(section.start_line, section.end_line + 1)]
    assert held == sorted(set(held))
    assert {number for number, line in enumerate(lines, 1) if line.strip()} <= set(held)
    assert len({section.slug for section in sections}) == len(sections)
    for section in sections:
        assert section.text == "\n".join(lines[section.start_line - 1 : section.end_line])


@given(st.text(st.sampled_from("-: \nkindpathsrequired#*[]{},'\"`~x"), max_size=100))
@settings(max_examples=300, deadline=None)
def test_no_text_raises(text):
    for one in (text, "---\n" + text + "\n---\n## A\nx"):
        result = parse_rule_file(one, URI, 3)
        if any(fault.severity == "error" for fault in result.diagnostics):
            assert all(rule.fault is not None for rule in result.rules)
