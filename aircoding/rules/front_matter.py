"""The YAML header of a Markdown file, read leniently but never silently.

Cases E01 to E06 of the compatibility table: a byte order mark, CR and CRLF, a closing fence at the end of the file, an
unclosed header, invalid YAML such as an unquoted glob.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from aircoding.records.diagnostics import Diagnostic

__all__ = ["MAX_HEADER_BYTES", "FrontMatter", "normalise", "parse_front_matter"]

MAX_HEADER_BYTES = 64_000
"""A longer header is taken for damage; real ones have a few hundred bytes."""

_FENCE = "---"
_KEY_LINE = re.compile(r"([A-Za-z][A-Za-z0-9_-]*)[ \t]*:(?:[ \t]+(.*))?$")
_ITEM_LINE = re.compile(r"[ \t]*-[ \t]+(.*)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontMatter:
    """A parsed file. `lines` gives the line (from 1) of each top-level key, `body_start_line` that of the body.

    `broken` says that there is a header that could not be read: the text must not be applied.
    """

    data: Mapping[str, Any]
    body: str
    body_start_line: int
    lines: Mapping[str, int]
    diagnostics: tuple[Diagnostic, ...] = ()
    broken: bool = False
    present: bool = field(default=False)


def normalise(text: str) -> str:
    """Return `text` without a leading byte order mark and with `\\n` as its only line end."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def parse_front_matter(text: str, uri: str = "") -> FrontMatter:
    """Split a file into header and body. Never raises; a header that cannot be read is `broken` and named."""
    text = normalise(text)
    lines = text.split("\n")
    if lines[0].rstrip() != _FENCE:
        return FrontMatter(data={}, body=text, body_start_line=1, lines={})
    end = next((number for number in range(1, len(lines)) if lines[number].rstrip() == _FENCE), None)
    if end is None:
        problem = _fault(uri, "front_matter.unclosed", "the header has no closing `---`", 1, "add a line `---`")
        return FrontMatter(data={}, body=text, body_start_line=1, lines={}, diagnostics=(problem,), broken=True)
    header = "\n".join(lines[1:end])
    body = "\n".join(lines[end + 1 :])
    where: dict[str, Any] = {"body": body, "body_start_line": end + 2, "present": True}
    if len(header.encode("utf-8", "surrogatepass")) > MAX_HEADER_BYTES:
        problem = _fault(uri, "front_matter.too_long", f"the header is longer than {MAX_HEADER_BYTES} bytes", 1, "")
        return FrontMatter(data={}, lines={}, diagnostics=(problem,), broken=True, **where)
    return _read_header(header, uri, where)


def _read_header(header: str, uri: str, where: Mapping[str, Any]) -> FrontMatter:
    try:
        if any(isinstance(token, (yaml.AnchorToken, yaml.AliasToken)) for token in yaml.scan(header, yaml.CSafeLoader)):
            raise _AliasFoundError
        node = yaml.compose(header, yaml.CSafeLoader)
        data = yaml.load(header, yaml.CSafeLoader)
    except (_AliasFoundError, yaml.YAMLError, ValueError, RecursionError) as error:
        return _read_lines(header, uri, where, error)
    if data is None:
        return FrontMatter(data={}, lines={}, **where)
    if not isinstance(data, dict) or not isinstance(node, yaml.MappingNode):
        return _read_lines(header, uri, where, ValueError("it is no list of `key: value`"))
    lines = {str(key.value): key.start_mark.line + 2 for key, _ in node.value}
    return FrontMatter(data={str(key): value for key, value in data.items()}, lines=lines, **where)


class _AliasFoundError(Exception):
    """Anchors and aliases can blow a short header up; no rule file needs one. An unquoted glob looks like one."""


def _read_lines(header: str, uri: str, where: Mapping[str, Any], error: Exception) -> FrontMatter:
    """Read `key: value` lines as text, for headers that people write and YAML refuses (case E06)."""
    data: dict[str, Any] = {}
    lines: dict[str, int] = {}
    last: str | None = None
    for number, line in enumerate(header.split("\n"), 2):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        found, item = _KEY_LINE.match(line), _ITEM_LINE.match(line)
        if found:
            last = found[1]
            data[last] = _scalar(found[2] or "")
            lines[last] = number
        elif item and last is not None and data[last] in ("", *([data[last]] if isinstance(data[last], list) else [])):
            data[last] = [*(data[last] if isinstance(data[last], list) else []), _scalar(item[1])]
        else:
            problem = _fault(
                uri, "front_matter.invalid", f"the header is no YAML: {_short(error)}", number, "correct this line"
            )
            return FrontMatter(data={}, lines={}, diagnostics=(problem,), broken=True, **where)
    warning = Diagnostic(
        severity="warning",
        code="front_matter.lenient",
        message=f"the header is no YAML ({_short(error)}); its lines were taken as plain text",
        uri=uri,
        line=2,
        hint="put values with `*`, `:` or `{` in quotes",
    )
    return FrontMatter(data=data, lines=lines, diagnostics=(warning,), **where)


def _scalar(text: str) -> Any:
    text = text.strip()
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "\"'":
        return text[1:-1]
    return {"true": True, "false": False}.get(text, text)


def _short(error: Exception) -> str:
    return (getattr(error, "problem", None) or str(error) or "an alias or an unquoted glob").split("\n")[0]


def _fault(uri: str, code: str, message: str, line: int, hint: str) -> Diagnostic:
    return Diagnostic(severity="error", code=code, message=message, uri=uri, line=line, hint=hint)
