"""YAML as a tree that knows its lines: headers, plans and policies are read through it.

It is built from libyaml's events without recursion, so that depth is bounded, and one pass is enough: no second pass
for lines, no resolver in Python. Only what configuration needs is let in: one document, no anchors or aliases (they
can blow a short text up), no tags. Plain scalars are read as YAML 1.2 core does: `yes`, `on` and `1:30` are text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

import yaml

__all__ = [
    "Entry",
    "YamlFault",
    "YamlList",
    "YamlMap",
    "YamlNode",
    "YamlScalar",
    "plain_value",
    "read_yaml",
    "scalar_value",
]

MAX_DEPTH = 32
"""Deepest nesting; headers and plans need five."""

_INT = re.compile(r"[-+]?[0-9]{1,300}")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]{1,300}(\.[0-9]*)?)([eE][-+]?[0-9]{1,3})?")
_WORDS: Mapping[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_TAGS = frozenset({None, "!", "tag:yaml.org,2002:str"})
_CLEARER = {
    "did not find expected alphabetic or numeric character": "a value that starts with `*` or `&` needs quotes",
    "found character that cannot start any token": "a value that starts with a special character needs quotes, "
    "and tabs do not indent",
    "mapping values are not allowed in this context": "a `: ` stands where no key can be: quote the value, "
    "or correct the indentation",
    "did not find expected key": "the indentation does not fit, or a quoted value goes on after its quotes",
    "did not find expected '-' indicator": "the indentation does not fit the list",
    "could not find expected ':'": "a key without `: `",
}
"""What libyaml says, in words for people who wrote the file."""


class YamlFault(Exception):  # noqa: N818 - it names a place in a text, for a reader that makes a diagnostic of it
    """A text is no YAML that we read; `line` counts from 1."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.message = message
        self.line = line


class YamlScalar(NamedTuple):
    """A scalar as written; `plain` says that it stood without quotes."""

    text: str
    line: int
    plain: bool


class YamlList(NamedTuple):
    """A sequence."""

    items: list[YamlNode]
    line: int


class Entry(NamedTuple):
    """One key of a mapping: its line and its value."""

    line: int
    node: YamlNode


class YamlMap(NamedTuple):
    """A mapping in written order. `repeated` holds (key, line, first line) of keys given twice."""

    entries: dict[str, Entry]
    line: int
    repeated: list[tuple[str, int, int]]


YamlNode: TypeAlias = "YamlScalar | YamlList | YamlMap"


class _Builder:
    """Collects nodes into their containers; a stack instead of recursion."""

    def __init__(self, max_depth: int) -> None:
        self.root: YamlNode | None = None
        self._max_depth = max_depth
        self._outer: list[tuple[YamlList | YamlMap | None, YamlScalar | None]] = []
        self._container: YamlList | YamlMap | None = None
        self._key: YamlScalar | None = None

    def open(self, container: YamlList | YamlMap) -> None:
        if len(self._outer) >= self._max_depth:
            raise YamlFault(f"it is nested deeper than {self._max_depth} levels", container.line)
        if type(self._container) is YamlMap and self._key is None:
            raise YamlFault("a key must be plain text", container.line)
        self._outer.append((self._container, self._key))
        self._container, self._key = container, None

    def close(self) -> None:
        done = self._container
        self._container, self._key = self._outer.pop()
        if done is not None:
            self.add(done)

    def add(self, node: YamlNode) -> None:
        container = self._container
        if container is None:
            self.root = node
        elif type(container) is YamlList:
            container.items.append(node)
        elif type(container) is YamlMap:
            key = self._key
            if key is None:
                if type(node) is not YamlScalar:
                    raise YamlFault("a key must be plain text", node.line)
                self._key = node
                return
            self._key = None
            first = container.entries.get(key.text)
            if first is None:
                container.entries[key.text] = Entry(key.line, node)
            else:
                container.repeated.append((key.text, key.line, first.line))


def read_yaml(text: str, *, max_depth: int = MAX_DEPTH) -> YamlNode | None:
    """Return the tree of a text, or None when it holds nothing.

    Raises:
        YamlFault: it is no YAML, or holds what we do not read.
    """
    builder = _Builder(max_depth)
    try:
        _feed(builder, text)
    except yaml.MarkedYAMLError as error:
        raise _fault(error) from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position if isinstance(error.position, int) else 0) + 1
        raise YamlFault(f"a character that YAML does not allow ({error.reason})", line) from None
    except UnicodeEncodeError as error:
        raise YamlFault("half of a surrogate pair", text.count("\n", 0, error.start) + 1) from None
    except (yaml.YAMLError, ValueError) as error:
        raise YamlFault(str(error).split("\n")[0], 1) from None
    return builder.root


def _feed(builder: _Builder, text: str) -> None:
    documents = 0
    for event in yaml.parse(text, yaml.CSafeLoader):
        if isinstance(event, yaml.ScalarEvent):
            builder.add(YamlScalar(event.value, _line(event), event.implicit[0]))
        elif isinstance(event, yaml.CollectionStartEvent):
            line = _line(event)
            builder.open(YamlMap({}, line, []) if isinstance(event, yaml.MappingStartEvent) else YamlList([], line))
        elif isinstance(event, yaml.CollectionEndEvent):
            builder.close()
        elif isinstance(event, yaml.AliasEvent):
            _line(event)
        elif isinstance(event, yaml.DocumentStartEvent):
            documents += 1
            if documents > 1:
                raise YamlFault("a second document starts here", event.start_mark.line + 1 if event.start_mark else 1)


def _line(event: yaml.ScalarEvent | yaml.CollectionStartEvent | yaml.AliasEvent) -> int:
    """Return the line of a node (from 1); refuse aliases, anchors and tags."""
    line = event.start_mark.line + 1 if event.start_mark is not None else 1
    if isinstance(event, yaml.AliasEvent):
        raise YamlFault(f"`*{event.anchor}` is an alias in YAML; aliases are not read", line)
    if event.anchor is not None:
        raise YamlFault(f"`&{event.anchor}` is an anchor in YAML; anchors are not read", line)
    if event.tag not in _TAGS:
        raise YamlFault(f"the tag `{event.tag}` is not read", line)
    return line


def _fault(error: yaml.MarkedYAMLError) -> YamlFault:
    mark = error.problem_mark or error.context_mark
    problem = error.problem or error.context or "it is no YAML"
    return YamlFault(_CLEARER.get(problem, problem), mark.line + 1 if mark is not None else 1)


def scalar_value(scalar: YamlScalar) -> str | int | float | bool | None:
    """Return what a scalar stands for: text where quoted, else by the YAML 1.2 core rules (decimal numbers only)."""
    text = scalar.text
    if not scalar.plain:
        return text
    if text in _WORDS:
        return _WORDS[text]
    if _INT.fullmatch(text):
        return int(text)
    return float(text) if _FLOAT.fullmatch(text) else text


def plain_value(node: YamlNode | None) -> object:
    """Return a tree as dicts, lists and scalar values, without its lines (its depth is bounded by the reader)."""
    if node is None:
        return None
    if isinstance(node, YamlScalar):
        return scalar_value(node)
    if isinstance(node, YamlList):
        return [plain_value(item) for item in node.items]
    return {key: plain_value(entry.node) for key, entry in node.entries.items()}
