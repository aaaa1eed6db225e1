"""Files of context tests: read strictly, with the line of each fault, and as their schema says."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator
from support.texts import REPOSITORY, assert_file_equals

from aircoding.audit.context_tests import context_tests_schema, parse_context_tests
from aircoding.errors import ConfigError

FILE = REPOSITORY / "resources" / "schemas" / "context-tests.json"
PAGE = REPOSITORY / "docs" / "reference" / "context-tests.md"

GOOD = """
version: 1
tests:
  - name: the executor sees it
    role: reviewer
    task: T3
    mode: full
    model: m
    window_tokens: 5000
    must_contain: ["a: text", {rule: licence}, {file: ./AGENTS.md}, {regex: "^x+$"}]
    must_not_contain: [gone]
    omitted: [{file: X.md, reason: path_not_matched}, {rule: r}]
    max_tokens: 12000
    golden: sub/t.json
  - {name: another tool, as: claude, paths: [a.py, b/], must_contain: [x]}
"""


def valid(text: str) -> bool:
    return Draft202012Validator(json.loads(FILE.read_text())).is_valid(yaml.safe_load(text))


def test_the_file_equals_what_the_reader_knows() -> None:
    assert_file_equals(FILE, json.dumps(context_tests_schema(), indent=2, ensure_ascii=False) + "\n")


def test_a_file_is_read_whole() -> None:
    first, second = parse_context_tests(GOOD, "t.yaml")
    assert valid(GOOD.replace("claude", "claude-code"))
    assert (first.role, first.task, first.mode, first.model, first.window_tokens) == (
        "reviewer",
        "T3",
        "full",
        "m",
        5000,
    )
    assert [(one.kind, one.value, one.line) for one in first.must_contain] == [
        ("text", "a: text", 10),
        ("rule", "licence", 10),
        ("file", "AGENTS.md", 10),
        ("regex", "^x+$", 10),
    ]
    assert [(one.kind, one.value, one.reason) for one in first.omitted] == [
        ("file", "X.md", "path_not_matched"),
        ("rule", "r", None),
    ]
    assert (first.max_tokens, first.golden, first.line) == (12000, "sub/t.json", 4)
    assert (second.tool, second.paths, second.line) == ("claude-code", ("a.py", "b/"), 15)


def one(text: str) -> str:
    return f"version: 1\ntests:\n  - name: n\n    must_contain: [x]\n{text}"


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        (one("    must_contian: [x]"), 5, "did you mean `must_contain`?"),
        (one("    must_not_contain: [{flie: x}]"), 5, "did you mean `file`?"),
        (one("    must_not_contain: [{regex: '('}]"), 5, "no regular expression"),
        (one("    must_not_contain: [{file: a, rule: b}]"), 5, "names not exactly one thing"),
        (one("    must_not_contain: x"), 5, "not a list"),
        (one("    omitted: [{file: x, reason: path_not_mached}]"), 5, "did you mean `path_not_matched`?"),
        (one("    omitted: [{reason: budget}]"), 5, "without one `file` or `rule`"),
        (one("    golden: ../x.json"), 5, "leaves the project"),
        (one("    paths: [/etc/passwd]"), 5, "leaves the project"),
        (one("    max_tokens: 0"), 5, "at least 1"),
        (one("    max_tokens: many"), 5, "not a whole number"),
        (one("    as: codx\n    paths: [a]"), 5, "did you mean `codex`?"),
        (one("    as: codex"), 3, "needs `paths`"),
        (one("    as: codex\n    paths: [a]\n    role: main"), 7, "for our own workers"),
        (one("    task: T1\n    paths: [a]"), 6, "exclude each other"),
        (one("    role: executor\n    role: main"), 6, "twice, first on line 5"),
        ("version: 1\ntests:\n  - name: n", 3, "asks for nothing"),
        ("version: 1\ntests:\n  - max_tokens: 5", 3, "no `name`"),
        ("version: 2\ntests: []", 1, "`version` must be 1"),
        ("version: 1\ntests: {}", 2, "not a list"),
        ("version: 1", 1, "no `tests`"),
        ("version: 1\ntests: [5]", 2, "a test is a mapping"),
        ("version: 1\ntests:\n  - &a {name: x}", 3, "anchor"),
        ("- a", 1, "must be a mapping"),
        ("", 1, "must be a mapping"),
    ],
)
def test_a_fault_is_named_with_its_line_and_the_way_out(text: str, line: int, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_context_tests(text, "t.yaml")
    found = [(fault.line, f"{fault.message} {fault.hint}") for fault in caught.value.diagnostics]
    assert any(at == line and said in message for at, message in found), found
    assert f"t.yaml:{line}: " in caught.value.message


@pytest.mark.parametrize(
    "text",
    [
        one("    must_contian: [x]"),
        one("    as: codex"),
        one("    as: codex\n    paths: [a]\n    role: main"),
        one("    task: T1\n    paths: [a]"),
        one("    omitted: [{reason: budget}]"),
        "version: 1\ntests:\n  - name: n",
        "version: 2\ntests: []",
    ],
)
def test_the_schema_refuses_what_the_reader_refuses(text: str) -> None:
    assert not valid(text)


def test_all_faults_are_told_at_once() -> None:
    with pytest.raises(ConfigError) as caught:
        parse_context_tests(one("    foo: 1\n    max_tokens: 0"), "t.yaml")
    assert "has 2 faults" in caught.value.message


def test_two_tests_of_one_name_are_a_fault() -> None:
    twice = "  - {name: n, max_tokens: 5}\n"
    with pytest.raises(ConfigError, match="the name of two tests"):
        parse_context_tests(f"version: 1\ntests:\n{twice}{twice}", "t.yaml")


def test_an_example_without_tests_is_in_order() -> None:
    text: Any = "version: 1\ntests:\n#  - name: an example\n"
    assert parse_context_tests(text, "t.yaml") == ()
