"""Read one policy file strictly: each fault is named with file, line and key, and a faulty file is never half used."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import yaml

from aircoding.records.diagnostics import Diagnostic
from aircoding.records.policy import Effect, PolicyLevel, PolicyRule, PolicySubject
from aircoding.rules.globs import Dialect, glob_fault

__all__ = ["PolicyFile", "parse_policy_file"]

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
        node = yaml.compose(text, yaml.CSafeLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        reader.fault(f"it is no YAML: {getattr(error, 'problem', None) or error}", (mark.line + 1) if mark else 1)
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

    def top(self, node: yaml.Node) -> None:
        for key, value in self._pairs(node, ()):
            if key.value == "version":
                if getattr(value, "value", None) != "1":
                    self.fault("`version` must be 1", _line(value))
            elif (key.value,) in _SECTIONS:
                self._section(value, (key.value,))
            else:
                self._unknown(key, ())

    def _section(self, node: yaml.Node, path: tuple[str, ...]) -> None:
        for key, value in self._pairs(node, path):
            here = (*path, key.value)
            if here in _SECTIONS:
                self._section(value, here)
            elif here == _MASK_ENV:
                self.mask_env.extend(text for text, _ in self._texts(value, here))
            elif here in _LISTS:
                self._list(value, here)
            else:
                self._unknown(key, path)

    def _list(self, node: yaml.Node, path: tuple[str, ...]) -> None:
        subject, effect = _LISTS[path]
        for text, line in self._texts(node, path):
            fault = _pattern_fault(subject, text)
            if fault:
                self.fault(f"`{'.'.join(path)}`: {text!r}: {fault}", line)
                continue
            self.rules.append(
                PolicyRule(subject=subject, effect=effect, pattern=text, level=self._level, uri=self._uri, line=line)
            )

    def _pairs(self, node: yaml.Node, path: tuple[str, ...]) -> Iterator[tuple[yaml.ScalarNode, yaml.Node]]:
        if isinstance(node, yaml.ScalarNode) and node.value in {"", "null", "~"}:
            return
        if not isinstance(node, yaml.MappingNode):
            self.fault(f"`{'.'.join(path) or 'the file'}` must hold keys", _line(node))
            return
        seen: set[str] = set()
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                self.fault("a key must be a plain word", _line(key))
            elif key.value in seen:
                self.fault(f"`{key.value}` stands twice", _line(key), "join the two")
            else:
                seen.add(key.value)
                yield key, value

    def _texts(self, node: yaml.Node, path: tuple[str, ...]) -> Iterator[tuple[str, int]]:
        if isinstance(node, yaml.ScalarNode) and node.value in {"", "null", "~"}:
            return
        if not isinstance(node, yaml.SequenceNode):
            self.fault(f"`{'.'.join(path)}` must be a list", _line(node), 'write ["one", "two"]')
            return
        for item in node.value:
            if isinstance(item, yaml.ScalarNode):
                yield item.value, _line(item)
            else:
                self.fault(f"`{'.'.join(path)}` holds something that is no text", _line(item))

    def _unknown(self, key: yaml.ScalarNode, path: tuple[str, ...]) -> None:
        depth = len(path)
        known = sorted({other[depth] for other in (*_LISTS, _MASK_ENV) if other[:depth] == path and len(other) > depth})
        name = ".".join((*path, key.value))
        self.fault(f"`{name}` is not known", _line(key), f"known here: {', '.join(known)}")


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1


def _pattern_fault(subject: PolicySubject, text: str) -> str | None:
    if not text.strip():
        return "it is empty"
    if subject is PolicySubject.COMMAND:
        words = text.split()
        return "`*` may stand only as the last word" if any("*" in word for word in words[:-1]) else None
    if subject is PolicySubject.HOST:
        return "a host has no scheme and no path" if "/" in text else None
    # `//` begins an absolute path and `~/` one below the home folder; the glob is what follows.
    return glob_fault(text.removeprefix("~").removeprefix("/").removeprefix("/"), Dialect.GITIGNORE)
