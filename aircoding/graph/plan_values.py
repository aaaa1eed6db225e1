"""Readers of the values in a plan: each returns the value or says what is wrong with it, where, and what to write."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

from aircoding.rules.globs import Dialect, glob_fault
from aircoding.rules.yaml_reader import YamlList, YamlMap, YamlNode, YamlScalar, scalar_value

__all__ = [
    "ID_PATTERN",
    "MAX_ATTEMPTS",
    "MAX_ID",
    "ROLE_PATTERN",
    "WORKER_PATTERN",
    "FieldFault",
    "as_denied_glob",
    "as_id",
    "as_line_range",
    "as_role",
    "as_text",
    "as_title",
    "as_worker",
    "as_write_glob",
    "cut",
    "each",
    "kind_of",
    "one",
    "read_any_text",
    "read_attempts",
    "read_cost",
    "read_priority",
    "read_text",
    "read_whole",
]

MAX_ID = 64
"""Longest task id: it stands in branch names, folder names and session ids."""
MAX_ATTEMPTS = 20
"""A task that fails so often will not succeed by itself."""

ID_PATTERN = r"^(?!.*\.\.)(?!.*\.lock$)[A-Za-z0-9]([A-Za-z0-9._-]{0,62}[A-Za-z0-9_-])?$"
ROLE_PATTERN = r"^[a-z][a-z0-9_]{0,63}$"
WORKER_PATTERN = r"^(native|claude|acp|command)(:.+)?$"
_READ = re.compile(r"(?P<path>.+?)(?::(?P<first>[0-9]{1,9})-(?P<last>[0-9]{1,9}))?")
_DRIVE = re.compile(r"[A-Za-z]:[/\\]")


class FieldFault(Exception):  # noqa: N818 - one fault of many; the reader of the plan collects them
    """A value is wrong; `others` are further faults of the same value (the items of a list)."""

    def __init__(self, message: str, line: int, hint: str = "", *, others: tuple[FieldFault, ...] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.hint = hint
        self.others = others


Check: TypeAlias = "Callable[[str, int], str]"
"""Takes a text and its line; returns it, perhaps tidied, or raises FieldFault."""


def read_any_text(node: YamlNode) -> str:
    """Return a text that may be empty; numbers and booleans are taken as they are written."""
    if not isinstance(node, YamlScalar) or (node.plain and scalar_value(node) is None):
        raise FieldFault(f"is {kind_of(node)}, not text", node.line, "put it in quotes")
    return node.text


def read_text(node: YamlNode) -> str:
    """Return a text that is not empty; numbers and booleans are taken as they are written."""
    text = read_any_text(node)
    if not text.strip():
        raise FieldFault("is empty", node.line, "write something, or remove the key")
    return text


def read_whole(node: YamlNode) -> int:
    """Return a whole number."""
    value = scalar_value(node) if isinstance(node, YamlScalar) else None
    if not isinstance(value, int) or isinstance(value, bool):
        raise FieldFault(f"is {kind_of(node)}, not a whole number", node.line)
    return value


def read_attempts(node: YamlNode) -> int:
    """Return a number of attempts."""
    value = read_whole(node)
    if not 1 <= value <= MAX_ATTEMPTS:
        raise FieldFault(f"is {value}", node.line, f"from 1 to {MAX_ATTEMPTS}")
    return value


def read_priority(node: YamlNode) -> int:
    """Return a priority."""
    value = read_whole(node)
    if abs(value) > 1_000_000:
        raise FieldFault(f"is {value}", node.line, "from -1000000 to 1000000")
    return value


def read_cost(node: YamlNode) -> float:
    """Return an amount of US dollars."""
    value = scalar_value(node) if isinstance(node, YamlScalar) else None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise FieldFault(f"is {kind_of(node)}, not an amount", node.line, "write US dollars as a number, such as 1.50")
    if not 0 < value <= 1_000_000:
        raise FieldFault(f"is {value}", node.line, "more than 0, at most 1000000")
    return float(value)


def each(check: Check) -> Callable[[YamlNode], tuple[str, ...]]:
    """Return a reader of a list of texts, each checked."""

    def read(node: YamlNode) -> tuple[str, ...]:
        if not isinstance(node, YamlList):
            hint = f"write `[{node.text}]`" if isinstance(node, YamlScalar) and node.text else "write `[a, b]`"
            raise FieldFault(f"is {kind_of(node)}, not a list", node.line, hint)
        texts: list[str] = []
        faults: list[FieldFault] = []
        for item in node.items:
            try:
                texts.append(check(read_text(item), item.line))
            except FieldFault as fault:
                faults.append(fault)
        if faults:
            first, *others = faults
            raise FieldFault(first.message, first.line, first.hint, others=tuple(others))
        return tuple(texts)

    return read


def one(check: Check) -> Callable[[YamlNode], str]:
    """Return a reader of one text that is checked."""
    return lambda node: check(read_text(node), node.line)


def kind_of(node: YamlNode) -> str:
    """Return what a value is, in words."""
    if isinstance(node, YamlList):
        return "a list"
    if isinstance(node, YamlMap):
        return "a mapping"
    value = scalar_value(node)
    return {bool: "true or false", int: "a number", float: "a number", str: "text"}.get(type(value), "empty")


def as_text(text: str, _line: int) -> str:
    """Any text will do."""
    return text


def as_title(text: str, line: int) -> str:
    """A title is one line."""
    if len(text.strip().split("\n")) > 1:
        raise FieldFault("has several lines", line, "keep the title on one line; the rest is `description`")
    return text.strip()


def as_id(text: str, line: int) -> str:
    """An id stands in branch names, folder names and session ids."""
    if not re.fullmatch(ID_PATTERN, text):
        hint = f"letters, digits, `.`, `_`, `-`; at most {MAX_ID}; no `..`, no `.lock` at the end"
        raise FieldFault(f"`{cut(text)}` cannot stand in a branch name and a folder name", line, hint)
    return text


def as_role(text: str, line: int) -> str:
    """The name of a role; whether there is one of that name is not known here."""
    if not re.fullmatch(ROLE_PATTERN, text):
        better = re.sub(r"[^a-z0-9_]+", "_", text.strip().lower()).strip("_")
        hint = f"did you mean `{better}`?" if re.fullmatch(ROLE_PATTERN, better) else "such as `executor`"
        raise FieldFault(f"`{cut(text)}` is no name of a role", line, hint)
    return text


def as_worker(text: str, line: int) -> str:
    """A kind of worker, with its own setting behind a colon."""
    if not re.fullmatch(WORKER_PATTERN, text):
        raise FieldFault(f"`{cut(text)}` is no kind of worker", line, "native, claude, acp, or command")
    return text


def _inside(path: str, line: int) -> None:
    """Refuse paths that could leave the project."""
    if path.startswith(("/", "~", "\\")) or _DRIVE.match(path):
        raise FieldFault(f"`{cut(path)}` is an absolute path", line, "name it from the root of the project")
    if ".." in re.split(r"[/\\]", path):
        raise FieldFault(f"`{cut(path)}` leaves the project", line, "remove the `..`")


def as_write_glob(text: str, line: int) -> str:
    """A root-anchored glob inside the project."""
    return _glob(text, line, Dialect.ROOT_ANCHORED)


def as_denied_glob(text: str, line: int) -> str:
    """A gitignore-style glob inside the project; a leading `/` anchors it."""
    _glob(text.removeprefix("/"), line, Dialect.GITIGNORE)
    return text


def _glob(text: str, line: int, dialect: Dialect) -> str:
    _inside(text, line)
    fault = glob_fault(text, dialect)
    if fault is not None:
        raise FieldFault(f"`{cut(text)}` is no glob", line, fault)
    return text


def as_line_range(text: str, line: int) -> str:
    """A path inside the project, with lines behind it or without."""
    _inside(text, line)
    match = _READ.fullmatch(text)
    if match is None or "\n" in text:
        raise FieldFault(f"`{cut(text)}` is no path", line, "write `path` or `path:10-40`")
    if match["first"] and not 1 <= int(match["first"]) <= int(match["last"]):
        raise FieldFault(f"`{cut(text)}` has no such lines", line, "lines count from 1, the first before the last")
    return text


def cut(text: str) -> str:
    """Return a text short enough for a message."""
    shown = text if len(text) <= 60 else text[:57] + "..."
    return shown.replace("\n", "\\n")
