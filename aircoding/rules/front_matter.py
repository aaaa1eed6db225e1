"""The YAML header of a Markdown file, read leniently but never silently.

Cases E01 to E06 of the compatibility table: a byte order mark, CR and CRLF, a closing fence at the end of the file, an
unclosed header, a fence with blanks behind it, invalid YAML such as an unquoted glob.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from aircoding.records.diagnostics import Diagnostic
from aircoding.rules.header_lines import HEADER_KEYS, HeaderLineFault, looks_like_header, read_header_lines
from aircoding.rules.yaml_reader import YamlFault, YamlMap, YamlScalar, plain_value, read_yaml

__all__ = ["MAX_HEADER_BYTES", "FrontMatter", "normalise", "parse_front_matter"]

MAX_HEADER_BYTES = 64_000
"""A longer header is taken for damage; real ones have a few hundred bytes."""
MAX_HEADER_DEPTH = 8
"""Deepest nesting of a header; `metadata` and `hooks` of skills need four."""

_FENCE = "---"
_TRUE, _FALSE = frozenset({"true", "yes", "on"}), frozenset({"false", "no", "off"})


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontMatter:
    """A parsed file. `lines` gives the line (from 1) of each top-level key, `body_start_line` that of the body.

    `broken` says that there is a header that could not be read: the text must not be applied. `written` holds the
    scalars as they were written, so that `name: 3000` can be asked for as text.
    """

    data: Mapping[str, Any]
    body: str
    body_start_line: int
    lines: Mapping[str, int]
    diagnostics: tuple[Diagnostic, ...] = ()
    broken: bool = False
    present: bool = field(default=False)
    written: Mapping[str, str] = field(default_factory=dict)

    def text(self, key: str) -> str | None:
        """Return a scalar as text, numbers and booleans included (case E47); None when absent, empty, or no scalar."""
        return self.written.get(key) or None

    def flag(self, key: str) -> bool | None:
        """Return a boolean; `"true"`, yes, on and their opposites count too. None when absent or something else."""
        word = self.written.get(key, "").strip().lower()
        return True if word in _TRUE else False if word in _FALSE else None

    def texts(self, key: str) -> tuple[str, ...] | None:
        """Return a list of texts, or one text as a list of one; None when absent or not of that shape."""
        if key in self.written:
            text = self.written[key].strip()
            return (text,) if text else ()
        value = self.data.get(key)
        if not isinstance(value, list) or any(isinstance(item, (list, dict)) or item is None for item in value):
            return None
        return tuple(str(item).strip() for item in value)


def normalise(text: str) -> str:
    """Return a text without a leading byte order mark, its line ends all line feeds."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def parse_front_matter(text: str, uri: str = "", known_keys: Collection[str] = HEADER_KEYS) -> FrontMatter:
    """Split a file into header and body. Never raises; a header that cannot be read is `broken` and named.

    `known_keys` are the keys for which a header that YAML refuses is read line by line (case E06).
    """
    text = normalise(text)
    lines = text.split("\n")
    if lines[0].rstrip() != _FENCE:
        return _without_header(text, lines, uri)
    end, problems = _closing_fence(lines, uri)
    if end is None:
        return FrontMatter(data={}, body=text, body_start_line=1, lines={}, diagnostics=problems, broken=True)
    header = "\n".join(lines[1:end])
    where: dict[str, Any] = {"body": "\n".join(lines[end + 1 :]), "body_start_line": end + 2, "present": True}
    if len(header.encode("utf-8", "surrogatepass")) > MAX_HEADER_BYTES:
        fault = _fault(uri, "too_long", f"the header is longer than {MAX_HEADER_BYTES} bytes", 1, "shorten it")
        return FrontMatter(data={}, lines={}, diagnostics=(*problems, fault), broken=True, **where)
    return _read_header(header, uri, known_keys, problems, where)


def _without_header(text: str, lines: list[str], uri: str) -> FrontMatter:
    """A header that starts too late would be taken for text, and its rule would apply everywhere: refuse that."""
    first = next((number for number, line in enumerate(lines) if line.strip()), 0)
    problems: tuple[Diagnostic, ...] = ()
    if lines[first].strip() == _FENCE and looks_like_header(lines[first + 1 :], _FENCE):
        hint = "move the `---` to the very start of the file"
        problems = (_fault(uri, "misplaced", "the header does not start on line 1", first + 1, hint),)
    return FrontMatter(data={}, body=text, body_start_line=1, lines={}, diagnostics=problems, broken=bool(problems))


def _closing_fence(lines: list[str], uri: str) -> tuple[int | None, tuple[Diagnostic, ...]]:
    """Find the line equal to `---`; only where there is none, one with blanks behind it counts, with a warning."""
    for number in range(1, len(lines)):
        if lines[number] == _FENCE:
            return number, ()
    for number in range(1, len(lines)):
        if lines[number].rstrip() == _FENCE:
            warning = Diagnostic(
                severity="warning",
                code="front_matter.fence",
                message="the closing `---` has blanks behind it",
                uri=uri,
                line=number + 1,
                hint="remove them",
            )
            return number, (warning,)
    return None, (_fault(uri, "unclosed", "the header has no closing `---`", 1, "add a line `---` after it"),)


def _read_header(
    header: str, uri: str, known_keys: Collection[str], problems: tuple[Diagnostic, ...], where: Mapping[str, Any]
) -> FrontMatter:
    try:
        node = read_yaml(header, max_depth=MAX_HEADER_DEPTH)
    except YamlFault as fault:
        return _read_leniently(header, uri, known_keys, problems, where, fault)
    if node is None:
        return FrontMatter(data={}, lines={}, diagnostics=problems, **where)
    if not isinstance(node, YamlMap):
        shape = YamlFault("it is no list of `key: value` lines", node.line)
        return _read_leniently(header, uri, known_keys, problems, where, shape)
    if node.repeated:
        key, line, first = node.repeated[0]
        message = f"`{key}` is given twice, first on line {first + 1}"
        repeated = _fault(uri, "repeated_key", message, line + 1, "keep one of them")
        return FrontMatter(data={}, lines={}, diagnostics=(*problems, repeated), broken=True, **where)
    return FrontMatter(
        data={key: plain_value(entry.node) for key, entry in node.entries.items()},
        lines={key: entry.line + 1 for key, entry in node.entries.items()},
        written={key: entry.node.text for key, entry in node.entries.items() if isinstance(entry.node, YamlScalar)},
        diagnostics=problems,
        **where,
    )


def _read_leniently(
    header: str,
    uri: str,
    known_keys: Collection[str],
    problems: tuple[Diagnostic, ...],
    where: Mapping[str, Any],
    fault: YamlFault,
) -> FrontMatter:
    """Read what people write and YAML refuses; where even that fails, name the line and refuse the file."""
    try:
        found = read_header_lines(header, known_keys)
    except HeaderLineFault as error:
        line = fault.line if error.line is None else error.line
        message = f"the header is no YAML ({fault.message}, line {fault.line + 1})"
        invalid = _fault(uri, "invalid", message, line + 1, error.hint)
        return FrontMatter(data={}, lines={}, diagnostics=(*problems, invalid), broken=True, **where)
    warning = Diagnostic(
        severity="warning",
        code="front_matter.lenient",
        message=f"the header is no YAML ({fault.message}); its lines were taken as plain text",
        uri=uri,
        line=fault.line + 1,
        hint="put values that hold `*`, `{`, `[` or `: ` in quotes",
    )
    return FrontMatter(
        data={key: value for key, (_, value) in found.items()},
        lines={key: line + 1 for key, (line, _) in found.items()},
        written={key: value for key, (_, value) in found.items() if isinstance(value, str)},
        diagnostics=(*problems, warning),
        **where,
    )


def _fault(uri: str, code: str, message: str, line: int, hint: str) -> Diagnostic:
    return Diagnostic(severity="error", code=f"front_matter.{code}", message=message, uri=uri, line=line, hint=hint)
