"""Files of context tests: what a worker, or another tool, must see and must not see. Parsed strictly, and pure.

A fault is named with its line, and a file with a fault is never half used.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from aircoding.errors import ConfigError
from aircoding.graph.plan_fields import Field
from aircoding.graph.plan_values import (
    ID_PATTERN,
    ROLE_PATTERN,
    FieldFault,
    as_id,
    as_role,
    as_text,
    as_title,
    cut,
    each,
    kind_of,
    one,
    read_whole,
)
from aircoding.records.diagnostics import Diagnostic
from aircoding.records.layers import Mode, Reason
from aircoding.rules.front_matter import normalise
from aircoding.rules.tools.account import Cause, Tool
from aircoding.rules.yaml_reader import YamlFault, YamlList, YamlMap, YamlNode, YamlScalar, read_yaml

__all__ = ["MAX_TEST_BYTES", "ContextTest", "Expected", "ExpectedOmission", "context_tests_schema"]
__all__ += ["parse_context_tests"]

MAX_TEST_BYTES = 1_000_000
_NAMES = ("rule", "file", "regex")
_TOOLS = tuple(tool.value for tool in Tool if tool is not Tool.WORKER)
_REASONS = tuple(dict.fromkeys([*(one.value for one in Reason), *(one.value for one in Cause)]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """A text, or a rule, file or regular expression by name. `kind` is `text`, `rule`, `file` or `regex`."""

    kind: str
    value: str
    line: int

    @property
    def shown(self) -> str:
        """The expectation in words."""
        return repr(self.value) if self.kind == "text" else f"{self.kind} {self.value}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedOmission:
    """A file or rule that must stay out; with a reason, for that reason."""

    kind: str
    value: str
    reason: str | None
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextTest:
    """One test. `tool` names another tool, whose view is meant then; `line` is where the test begins."""

    name: str
    line: int
    role: str = "executor"
    task: str | None = None
    paths: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    tool: str | None = None
    mode: str | None = None
    model: str | None = None
    window_tokens: int | None = None
    must_contain: tuple[Expected, ...] = ()
    must_not_contain: tuple[Expected, ...] = ()
    omitted: tuple[ExpectedOmission, ...] = ()
    max_tokens: int | None = None
    golden: str | None = None


def _as_path(text: str, line: int) -> str:
    path = text.removeprefix("./")
    if path.startswith("/") or ".." in path.split("/") or not path or "\0" in path:
        raise FieldFault(f"{cut(text)!r} leaves the project", line, "write a path from the project root")
    return path


def _choice(choices: tuple[str, ...]) -> Callable[[str, int], str]:
    def check(text: str, line: int) -> str:
        meant = "claude-code" if text == "claude" and "claude-code" in choices else text
        if meant not in choices:
            raise FieldFault(f"{cut(text)!r} is not known", line, _nearest(text, choices))
        return meant

    return check


def _as_regex(text: str, line: int) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise FieldFault(f"is no regular expression: {error}", line) from None
    return text


def _positive(node: YamlNode) -> int:
    value = read_whole(node)
    if value < 1:
        raise FieldFault(f"is {value}", node.line, "at least 1")
    return value


_CHECKS: Mapping[str, Callable[[str, int], str]] = {"rule": as_text, "file": _as_path, "regex": _as_regex}


def _expected(node: YamlNode) -> tuple[Expected, ...]:
    if not isinstance(node, YamlList):
        raise FieldFault(f"is {kind_of(node)}, not a list", node.line, 'write `["a text", {rule: NAME}]`')
    return tuple(_expectation(item) for item in node.items)


def _expectation(node: YamlNode) -> Expected:
    if isinstance(node, YamlScalar):
        return Expected(kind="text", value=one(as_text)(node), line=node.line)
    if not isinstance(node, YamlMap):
        raise FieldFault(
            f"holds {kind_of(node)}", node.line, "write a text, or {rule: NAME}, {file: PATH}, {regex: RE}"
        )
    if len(node.entries) != 1 or node.repeated:
        raise FieldFault("holds an item that names not exactly one thing", node.line, "write one key an item")
    key, entry = next(iter(node.entries.items()))
    if key not in _NAMES:
        raise FieldFault(f"has an unknown key `{cut(key)}`", entry.line, _nearest(key, _NAMES))
    return Expected(kind=key, value=one(_CHECKS[key])(entry.node), line=entry.line)


def _omissions(node: YamlNode) -> tuple[ExpectedOmission, ...]:
    if not isinstance(node, YamlList):
        raise FieldFault(f"is {kind_of(node)}, not a list", node.line, "write `[{file: PATH, reason: REASON}]`")
    return tuple(_omission(item) for item in node.items)


def _omission(node: YamlNode) -> ExpectedOmission:
    known = ("file", "rule", "reason")
    if not isinstance(node, YamlMap):
        raise FieldFault(f"holds {kind_of(node)}", node.line, "write {file: PATH, reason: REASON}")
    for key, entry in node.entries.items():
        if key not in known:
            raise FieldFault(f"has an unknown key `{cut(key)}`", entry.line, _nearest(key, known))
    named = [key for key in ("file", "rule") if key in node.entries]
    if len(named) != 1:
        raise FieldFault("holds an item without one `file` or `rule`", node.line, "write {file: PATH, reason: REASON}")
    entry, reason = node.entries[named[0]], node.entries.get("reason")
    return ExpectedOmission(
        kind=named[0],
        value=one(_CHECKS[named[0]])(entry.node),
        reason=one(_choice(_REASONS))(reason.node) if reason is not None else None,
        line=node.line,
    )


def _nearest(key: str, known: tuple[str, ...]) -> str:
    near = get_close_matches(key[:64], known, n=1, cutoff=0.5)
    return f"did you mean `{near[0]}`?" if near else f"known: {', '.join(known)}"


_TEXT: Mapping[str, Any] = {"type": "string", "minLength": 1, "pattern": r"\S"}
_COUNT: Mapping[str, Any] = {"type": "integer", "minimum": 1}
_EXPECTED: Mapping[str, Any] = {
    "type": "array",
    "items": {
        "oneOf": [
            _TEXT,
            *(
                {"type": "object", "properties": {key: _TEXT}, "required": [key], "additionalProperties": False}
                for key in _NAMES
            ),
        ]
    },
}
_OMITTED: Mapping[str, Any] = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {"file": _TEXT, "rule": _TEXT, "reason": {"enum": list(_REASONS)}},
        "oneOf": [{"required": ["file"]}, {"required": ["rule"]}],
        "additionalProperties": False,
    },
}


def _said(schema: Mapping[str, Any], description: str) -> dict[str, Any]:
    return {**schema, "description": description}


_FIELDS: Mapping[str, Field] = {
    "name": Field(one(as_title), _said(_TEXT, "One line; what is shown when it fails."), required=True),
    "role": Field(
        one(as_role), {"type": "string", "pattern": ROLE_PATTERN, "default": "executor", "description": "Whose prompt."}
    ),
    "task": Field(one(as_id), {"type": "string", "pattern": ID_PATTERN, "description": "A task of the plan."}),
    "paths": Field(
        each(_as_path),
        {
            "type": "array",
            "items": _TEXT,
            "default": [],
            "description": "What the task would write, or a tool works on.",
        },
    ),
    "tags": Field(
        each(as_text),
        {"type": "array", "items": _TEXT, "default": [], "description": "Tags of the task of `paths`."},
    ),
    "as": Field(one(_choice(_TOOLS)), {"enum": list(_TOOLS), "description": "What this tool loads is meant."}),
    "mode": Field(
        one(_choice(tuple(Mode))), {"enum": [mode.value for mode in Mode], "description": "What is composed."}
    ),
    "model": Field(one(as_text), _said(_TEXT, "The model whose window counts.")),
    "window_tokens": Field(_positive, _said(_COUNT, "Another window than the model's, in tokens.")),
    "must_contain": Field(_expected, _said(_EXPECTED, "Texts, or rules, files and expressions by name.")),
    "must_not_contain": Field(_expected, _said(_EXPECTED, "What may not be in.")),
    "omitted": Field(_omissions, _said(_OMITTED, "What must stay out, and why.")),
    "max_tokens": Field(_positive, _said(_COUNT, "Most tokens of the whole, as they are estimated.")),
    "golden": Field(one(_as_path), _said(_TEXT, "A file beside this one with the manifest; `--update` writes it.")),
}
_OF_WORKERS = ("role", "task", "tags", "mode", "model", "window_tokens")
_ASKS = ("must_contain", "must_not_contain", "omitted", "max_tokens", "golden")


def context_tests_schema() -> dict[str, Any]:
    """Return the JSON Schema of a file of context tests; `resources/schemas/context-tests.json` holds the same."""
    test = {
        "type": "object",
        "properties": {key: dict(field.schema) for key, field in _FIELDS.items()},
        "required": ["name"],
        "additionalProperties": False,
        "anyOf": [{"required": [key]} for key in _ASKS],
        "allOf": [
            {"if": {"required": ["as"]}, "then": {"required": ["paths"], **_none_of(_OF_WORKERS)}},
            {"if": {"required": ["task"]}, "then": _none_of(("paths", "tags"))},
        ],
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "ContextTests",
        "description": "Tests of what agents see: .air/shared/context-tests/*.yaml",
        "type": "object",
        "properties": {"version": {"const": 1}, "tests": {"type": "array", "items": test}},
        "required": ["version", "tests"],
        "additionalProperties": False,
    }


def _none_of(keys: tuple[str, ...]) -> dict[str, Any]:
    return {"not": {"anyOf": [{"required": [key]} for key in keys]}}


def parse_context_tests(text: str, name: str) -> tuple[ContextTest, ...]:
    """Return the tests of a file, in its order.

    Args:
        text: what the file holds.
        name: its path, for people.

    Raises:
        ConfigError: it is wrong; the message and `diagnostics` have every fault with its line.
    """
    reader = _Reader(name)
    tests = reader.file(text)
    if reader.faults:
        found = sorted(reader.faults, key=lambda fault: fault.line or 0)
        lines = [f"  {name}:{one.line}: {one.message}" + (f" ({one.hint})" if one.hint else "") for one in found]
        count = "1 fault" if len(found) == 1 else f"{len(found)} faults"
        raise ConfigError(
            f"{name} has {count}:\n" + "\n".join(lines[:20]),
            hint="docs/reference/context-tests.md shows what such a file holds",
            code="context_test.invalid",
            diagnostics=found,
        )
    return tests


class _Reader:
    def __init__(self, name: str) -> None:
        self._name = name
        self.faults: list[Diagnostic] = []

    def _fault(self, message: str, line: int, hint: str = "") -> None:
        self.faults.append(
            Diagnostic(
                severity="error", code="context_test.invalid", message=message, uri=self._name, line=line, hint=hint
            )
        )

    def file(self, text: str) -> tuple[ContextTest, ...]:
        try:
            root = read_yaml(normalise(text), max_depth=8)
        except YamlFault as fault:
            self._fault(f"it is no YAML: {fault.message}", fault.line)
            return ()
        if not isinstance(root, YamlMap):
            self._fault(f"the file must be a mapping, this is {kind_of(root) if root else 'empty'}", 1, "version: 1")
            return ()
        self._known(root, ("version", "tests"), "the file")
        version = root.entries.get("version")
        if version is None or not isinstance(version.node, YamlScalar) or version.node.text != "1":
            self._fault("`version` must be 1", version.line if version else root.line, "write `version: 1`")
        tests = root.entries.get("tests")
        if tests is None:
            self._fault("the file has no `tests`", root.line, "add `tests:` with a list")
        elif isinstance(tests.node, YamlList):
            return self._tests(tests.node)
        elif not (isinstance(tests.node, YamlScalar) and not tests.node.text):
            self._fault(f"`tests` is {kind_of(tests.node)}, not a list", tests.line, "write `- name: ...` below it")
        return ()

    def _tests(self, node: YamlList) -> tuple[ContextTest, ...]:
        found: dict[str, ContextTest] = {}
        for item in node.items:
            if not isinstance(item, YamlMap):
                self._fault(f"a test is a mapping, this is {kind_of(item)}", item.line, "write `- name: ...`")
            elif (test := self._test(item)) is not None:
                if test.name in found:
                    self._fault(f"{test.name!r} is the name of two tests", test.line, "give each its own")
                found[test.name] = test
        return tuple(found.values())

    def _test(self, node: YamlMap) -> ContextTest | None:
        before = len(self.faults)
        self._known(node, tuple(_FIELDS), "a test")
        values: dict[str, Any] = {}
        for key, entry in node.entries.items():
            if key not in _FIELDS:
                continue
            try:
                values[key] = _FIELDS[key].read(entry.node)
            except FieldFault as fault:
                for each_fault in (fault, *fault.others):
                    self._fault(f"`{key}` {each_fault.message}", each_fault.line, each_fault.hint)
        self._together(node, values)
        if len(self.faults) > before:
            return None
        values["tool"] = values.pop("as", None)
        return ContextTest(line=node.line, **values)

    def _together(self, node: YamlMap, values: Mapping[str, Any]) -> None:
        given = node.entries
        if "name" not in given:
            self._fault("a test has no `name`", node.line, "add `name: ...`")
        if not any(key in given for key in _ASKS):
            self._fault("a test asks for nothing", node.line, f"add one of {', '.join(_ASKS)}")
        if "as" in given:
            for key in _OF_WORKERS:
                if key in given:
                    self._fault(f"`{key}` is for our own workers; with `as` it has no meaning", given[key].line)
            if not values.get("paths") and "paths" not in given:
                self._fault("a test with `as` needs `paths`", node.line, "name what the tool works on")
        if "task" in given:
            for key in ("paths", "tags"):
                if key in given:
                    self._fault(f"`{key}` and `task` exclude each other", given[key].line, "the task has its own")

    def _known(self, node: YamlMap, known: tuple[str, ...], owner: str) -> None:
        for key, entry in node.entries.items():
            if key not in known:
                self._fault(f"{owner} has an unknown key `{cut(key)}`", entry.line, _nearest(key, known))
        for key, line, first in node.repeated:
            self._fault(f"{owner} gives `{cut(key)}` twice, first on line {first}", line, "keep one of them")
