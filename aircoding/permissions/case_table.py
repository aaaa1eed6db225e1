"""Read a table of acts with the decisions that are expected of them, as `permissions test` checks it.

version: 1
write_area: [src/**]         # what the task may write; none where it is left out
cases:
  - {command: git push, expect: ask, why: what leaves the machine is confirmed}
  - {write: src/app.py, expect: allow}
  - {host: evil.example, expect: deny}
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from aircoding.permissions.engine import decide
from aircoding.records.diagnostics import Diagnostic
from aircoding.records.policy import Act, CommandAct, Decision, Effect, HostAct, PathAct, Policy, ToolAct
from aircoding.rules.globs import Dialect, glob_fault
from aircoding.rules.yaml_reader import YamlFault, YamlList, YamlMap, YamlNode, YamlScalar, read_yaml, scalar_value

__all__ = ["CaseResult", "CaseTable", "PermissionCase", "judge_cases", "parse_case_table"]

_ACTS = ("command", "read", "write", "host", "tool")
_TEXTS = frozenset({*_ACTS, "cwd", "expect", "why", "kind"})
_EFFECTS = {effect.value: effect for effect in Effect}
_TOOL_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class PermissionCase:
    """One act and the decision that is expected of it; `line` counts from 1."""

    act: Act
    expected: Effect
    line: int
    why: str = ""
    kind: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseTable:
    """The cases of one file, the area that is written in them, and what is wrong with it."""

    cases: tuple[PermissionCase, ...]
    write_area: tuple[str, ...]
    diagnostics: tuple[Diagnostic, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseResult:
    """A case with the decision that it got."""

    case: PermissionCase
    decision: Decision

    @property
    def holds(self) -> bool:
        """Whether the decision is the expected one; a deny for want of a person who could be asked is an ask."""
        got = Effect.ASK if self.decision.asked else self.decision.effect
        return got is self.case.expected


def judge_cases(table: CaseTable, policy: Policy) -> tuple[CaseResult, ...]:
    """Judge each case of a table under a policy, as if somebody could be asked and nothing were approved."""
    asked = replace(policy, interactive=True, approved=frozenset())
    return tuple(CaseResult(case=case, decision=decide(case.act, asked)) for case in table.cases)


def parse_case_table(text: str, *, uri: str) -> CaseTable:
    """Parse a table of cases. Never raises; each fault is a diagnostic with its line, and its case is left out."""
    reader = _Reader(uri)
    try:
        node = read_yaml(text)
    except YamlFault as fault:
        reader.fault(fault.message, fault.line)
    else:
        reader.top(node)
    return CaseTable(
        cases=tuple(reader.cases), write_area=tuple(reader.write_area), diagnostics=tuple(reader.diagnostics)
    )


class _Reader:
    def __init__(self, uri: str) -> None:
        self._uri = uri
        self.cases: list[PermissionCase] = []
        self.write_area: list[str] = []
        self.diagnostics: list[Diagnostic] = []

    def fault(self, message: str, line: int, hint: str = "") -> None:
        self.diagnostics.append(
            Diagnostic(severity="error", code="cases.invalid", message=message, uri=self._uri, line=line, hint=hint)
        )

    def top(self, node: YamlNode | None) -> None:
        if not isinstance(node, YamlMap):
            self.fault("the file must hold keys", 1, "write `version: 1` and `cases:`")
            return
        for key, line, _ in node.repeated:
            self.fault(f"`{key}` stands twice", line)
        for key, entry in node.entries.items():
            if key == "cases" and isinstance(entry.node, YamlList):
                for item in entry.node.items:
                    self._case(item)
            elif key == "write_area" and isinstance(entry.node, YamlList):
                self._area(entry.node)
            elif key in {"cases", "write_area"}:
                self.fault(f"`{key}` must be a list", entry.line)
            elif key != "version":
                self.fault(f"`{key}` is not known", entry.line, "known here: cases, version, write_area")
        version = node.entries.get("version")
        if version is None or not isinstance(version.node, YamlScalar) or scalar_value(version.node) != 1:
            self.fault("`version` must be 1", version.line if version else node.line, "write `version: 1`")
        if "cases" not in node.entries:
            self.fault("there are no `cases`", node.line)

    def _area(self, node: YamlList) -> None:
        for item in node.items:
            text = item.text if isinstance(item, YamlScalar) else ""
            fault = glob_fault(text, Dialect.ROOT_ANCHORED) if text else "it is no text"
            if fault:
                self.fault(f"`write_area`: {text!r}: {fault}", item.line)
            else:
                self.write_area.append(text)

    def _case(self, node: YamlNode) -> None:
        if not isinstance(node, YamlMap):
            self.fault("a case must hold keys", node.line, "write `- {command: git push, expect: ask}`")
            return
        before = len(self.diagnostics)
        for key, line, _ in node.repeated:
            self.fault(f"`{key}` stands twice", line)
        texts: dict[str, str] = {}
        for key, entry in node.entries.items():
            if key not in _TEXTS:
                self.fault(f"`{key}` is not known", entry.line, f"known here: {', '.join(sorted(_TEXTS))}")
            elif not isinstance(entry.node, YamlScalar):
                self.fault(f"`{key}` must be a text", entry.line)
            else:
                texts[key] = entry.node.text
        expected = _EFFECTS.get(texts.get("expect", ""))
        if expected is None:
            self.fault(f"`expect` must be one of {', '.join(_EFFECTS)}", node.line)
        act = self._act(texts, node.line)
        if act is not None and expected is not None and len(self.diagnostics) == before:
            why, kind = texts.get("why", ""), texts.get("kind", "")
            self.cases.append(PermissionCase(act=act, expected=expected, line=node.line, why=why, kind=kind))

    def _act(self, texts: dict[str, str], line: int) -> Act | None:
        named = [name for name in _ACTS if name in texts]
        if len(named) != 1:
            self.fault(f"a case names one act: {', '.join(_ACTS)}", line)
            return None
        (name,) = named
        if "cwd" in texts and name != "command":
            self.fault("only a command has a `cwd`", line)
            return None
        text = texts[name]
        if name == "command":
            return CommandAct(command=text, cwd=texts.get("cwd", "."))
        if name == "host":
            return HostAct(host=text)
        if name == "tool":
            if not _TOOL_NAME.fullmatch(text):
                self.fault(f"`tool`: {text!r} is no name of a tool", line)
                return None
            return ToolAct(tool=text)
        return PathAct(path=text, access=name)
