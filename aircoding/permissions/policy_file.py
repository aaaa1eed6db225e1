"""Read one policy file strictly: each fault is named with file, line and key, and a faulty file is never half used."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from aircoding.records.diagnostics import Diagnostic
from aircoding.records.policy import Effect, PolicyLevel, PolicyRule, PolicySubject
from aircoding.rules.globs import Dialect, glob_fault
from aircoding.rules.yaml_reader import YamlFault, YamlList, YamlMap, YamlNode, YamlScalar, read_yaml, scalar_value

__all__ = ["PolicyFile", "parse_policy_file", "pattern_fault"]

_ALLOW, _ANNOUNCE, _ASK, _DENY = Effect.ALLOW, Effect.ANNOUNCE, Effect.ASK, Effect.DENY

_LISTS: dict[tuple[str, ...], tuple[PolicySubject, Effect]] = {
    ("paths", "read", "allow"): (PolicySubject.READ, _ALLOW),
    ("paths", "read", "ask"): (PolicySubject.READ, _ASK),
    ("paths", "read", "deny"): (PolicySubject.READ, _DENY),
    ("paths", "write", "allow"): (PolicySubject.WRITE, _ALLOW),
    ("paths", "write", "announce"): (PolicySubject.WRITE, _ANNOUNCE),
    ("paths", "write", "ask"): (PolicySubject.WRITE, _ASK),
    ("paths", "write", "deny"): (PolicySubject.WRITE, _DENY),
    ("commands", "allow"): (PolicySubject.COMMAND, _ALLOW),
    ("commands", "announce"): (PolicySubject.COMMAND, _ANNOUNCE),
    ("commands", "ask"): (PolicySubject.COMMAND, _ASK),
    ("commands", "deny"): (PolicySubject.COMMAND, _DENY),
    ("network", "allow"): (PolicySubject.HOST, _ALLOW),
    ("network", "ask"): (PolicySubject.HOST, _ASK),
    ("network", "deny"): (PolicySubject.HOST, _DENY),
    ("credentials", "deny_paths"): (PolicySubject.CREDENTIAL, _DENY),
    ("system_sensitive", "deny"): (PolicySubject.SYSTEM, _DENY),
    ("tools", "allow"): (PolicySubject.TOOL, _ALLOW),
    ("tools", "ask"): (PolicySubject.TOOL, _ASK),
    ("tools", "deny"): (PolicySubject.TOOL, _DENY),
}
_MASK_ENV = ("credentials", "mask_env")
_SECTIONS = {path[:depth] for path in (*_LISTS, _MASK_ENV) for depth in range(1, len(path))}


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyFile:
    """The rules of one file in written order, the variables that it masks, and what is wrong with it."""

    rules: tuple[PolicyRule, ...]
    mask_env: tuple[str, ...]
    diagnostics: tuple[Diagnostic, ...]


def parse_policy_file(text: str, *, uri: str, level: PolicyLevel) -> PolicyFile:
    """Parse a `permissions.yaml`. Never raises; with an error in `diagnostics` the caller must refuse to start."""
    reader = _Reader(uri, level)
    try:
        node = read_yaml(text)
    except YamlFault as fault:
        reader.fault(fault.message, fault.line)
    else:
        if node is not None:
            reader.top(node)
    return PolicyFile(rules=tuple(reader.rules), mask_env=tuple(reader.mask_env), diagnostics=tuple(reader.diagnostics))


class _Reader:
    def __init__(self, uri: str, level: PolicyLevel) -> None:
        self._uri, self._level = uri, level
        self.rules: list[PolicyRule] = []
        self.mask_env: list[str] = []
        self.diagnostics: list[Diagnostic] = []

    def fault(self, message: str, line: int, hint: str = "") -> None:
        self.diagnostics.append(
            Diagnostic(severity="error", code="policy.invalid", message=message, uri=self._uri, line=line, hint=hint)
        )

    def top(self, node: YamlNode) -> None:
        version = None
        for key, line, value in self._entries(node, ()):
            if key == "version":
                version = value
            elif (key,) in _SECTIONS:
                self._section(value, (key,))
            else:
                self._unknown(key, line, ("version",), ())
        if isinstance(node, YamlMap) and not (isinstance(version, YamlScalar) and scalar_value(version) == 1):
            self.fault("`version` must be 1", node.line if version is None else version.line, "write `version: 1`")

    def _section(self, node: YamlNode, path: tuple[str, ...]) -> None:
        for key, line, value in self._entries(node, path):
            here = (*path, key)
            if here in _SECTIONS:
                self._section(value, here)
            elif here == _MASK_ENV:
                self._mask(value, here)
            elif here in _LISTS:
                self._list(value, here)
            else:
                self._unknown(key, line, (), path)

    def _list(self, node: YamlNode, path: tuple[str, ...]) -> None:
        subject, effect = _LISTS[path]
        for text, line in self._texts(node, path):
            fault = pattern_fault(subject, text)
            if fault:
                self.fault(f"`{'.'.join(path)}`: {text!r}: {fault}", line)
                continue
            self.rules.append(
                PolicyRule(subject=subject, effect=effect, pattern=text, level=self._level, uri=self._uri, line=line)
            )

    def _mask(self, node: YamlNode, path: tuple[str, ...]) -> None:
        for text, line in self._texts(node, path):
            if text.isidentifier() and text.isascii():
                self.mask_env.append(text)
            else:
                self.fault(f"`{'.'.join(path)}`: {text!r} is no name of a variable", line)

    def _entries(self, node: YamlNode, path: tuple[str, ...]) -> Iterator[tuple[str, int, YamlNode]]:
        if _is_null(node):
            return
        if not isinstance(node, YamlMap):
            self.fault(f"{_name(path)} must hold keys", node.line)
            return
        for key, line, first in node.repeated:
            self.fault(f"`{'.'.join((*path, key))}` stands twice", line, f"join it with line {first}")
        for key, entry in node.entries.items():
            yield key, entry.line, entry.node

    def _texts(self, node: YamlNode, path: tuple[str, ...]) -> Iterator[tuple[str, int]]:
        if _is_null(node):
            return
        if not isinstance(node, YamlList):
            self.fault(f"`{'.'.join(path)}` must be a list", node.line, 'write ["one", "two"]')
            return
        for item in node.items:
            if not isinstance(item, YamlScalar):
                self.fault(f"`{'.'.join(path)}` holds something that is no text", item.line)
            elif not isinstance(scalar_value(item), str):
                self.fault(f"`{'.'.join(path)}`: {item.text!r} is no text", item.line, f'write "{item.text}" in quotes')
            else:
                yield item.text, item.line

    def _unknown(self, key: str, line: int, more: tuple[str, ...], path: tuple[str, ...]) -> None:
        depth = len(path)
        known = {other[depth] for other in (*_LISTS, _MASK_ENV) if other[:depth] == path and len(other) > depth}
        name = ".".join((*path, key))
        self.fault(f"`{name}` is not known", line, f"known here: {', '.join(sorted({*known, *more}))}")


def _is_null(node: YamlNode) -> bool:
    return isinstance(node, YamlScalar) and node.plain and scalar_value(node) is None


def _name(path: tuple[str, ...]) -> str:
    return f"`{'.'.join(path)}`" if path else "the file"


def pattern_fault(subject: PolicySubject, text: str) -> str | None:
    """Return what is wrong with a line's pattern, or None when it can be read."""
    if not text.strip():
        return "it is empty"
    if subject is PolicySubject.COMMAND:
        return _command_fault(text.split())
    if subject is PolicySubject.HOST:
        return _host_fault(text)
    if subject is PolicySubject.TOOL:
        return None if re.fullmatch(r"[A-Za-z0-9_-]{1,64}", text) else "it is no name of a tool"
    return glob_fault(text, Dialect.GITIGNORE)


def _command_fault(words: list[str]) -> str | None:
    if any("*" in word for word in words[:-1]) or "*" in words[-1][:-1]:
        return "`*` may stand only at the end"
    return "a program must be named" if words[0] == "*" else None


def _host_fault(text: str) -> str | None:
    name = text.removeprefix("*.")
    if "/" in name or (":" in name.strip("[]") and not name.startswith("[")):
        return "write the host alone, without scheme, port or path"
    if "*" in name or not name or name != name.strip() or name.endswith("."):
        return "write a host, or `*.` and a domain"
    return None
