"""The header of a `SKILL.md`: its keys, and a second reading with values that hold a colon in quotes (case E05)."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace

from aircoding.rules.front_matter import FrontMatter, normalise, parse_front_matter

__all__ = ["EXTENSION_KEYS", "SPECIFIED_KEYS", "read_skill_header"]

SPECIFIED_KEYS = ("name", "description", "license", "compatibility", "metadata", "allowed-tools")
"""All top-level keys of the open specification (agentskills, read 2026-08)."""
EXTENSION_KEYS = (
    "triggers",
    *("when_to_use", "paths", "disable-model-invocation", "user-invocable", "model", "context"),
)
"""Ours, then those of Claude Code (documentation read 2026-08)."""

_KNOWN = frozenset({*SPECIFIED_KEYS, *EXTENSION_KEYS, "version", "author"})
_PLAIN_VALUE = re.compile(r"(?P<key>[ \t]*[A-Za-z0-9_.-]+[ \t]*:[ \t]+)(?P<value>[^\s'\"|>&!%@`\[\]{}#*].*)")


def read_skill_header(text: str, uri: str = "", known_keys: Collection[str] = _KNOWN) -> FrontMatter:
    """Return header and body; a header that YAML refuses is read once more with its colons quoted. Never raises.

    `known_keys` are those of another kind of file with such headers.
    """
    matter = parse_front_matter(text, uri, known_keys)
    if not matter.broken or not any(one.code == "front_matter.invalid" for one in matter.diagnostics):
        return matter
    lines = normalise(text).split("\n")
    end = matter.body_start_line - 2
    quoted = parse_front_matter("\n".join([lines[0], *_quoted(lines[1:end]), *lines[end:]]), uri, known_keys)
    if quoted.broken:
        return matter
    fault = next(one for one in matter.diagnostics if one.code == "front_matter.invalid")
    lenient = replace(
        fault,
        severity="warning",
        code="front_matter.lenient",
        message=f"{fault.message}; values with a colon were taken as if they were quoted",
        hint="put values that hold `: ` in quotes",
    )
    return replace(quoted, diagnostics=(*quoted.diagnostics, lenient))


def _quoted(lines: list[str]) -> list[str]:
    """Put plain values with a colon into single quotes, their continuation lines with them; no line moves."""
    done = list(lines)
    at = 0
    while at < len(lines):
        found = _PLAIN_VALUE.fullmatch(lines[at])
        last = at
        if found is not None:
            while last + 1 < len(lines) and _goes_on(lines[last + 1], _indent(lines[at])):
                last += 1
            whole = "\n".join([found["value"], *lines[at + 1 : last + 1]])
            if ": " in whole or ":\n" in whole or whole.endswith(":"):
                parts = whole.replace("'", "''").split("\n")
                done[at : last + 1] = [found["key"] + "'" + parts[0], *parts[1:]]
                done[last] += "'"
        at = last + 1
    return done


def _goes_on(line: str, indent: int) -> bool:
    return bool(line.strip()) and _indent(line) > indent


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))
