"""Headers that people write and YAML refuses: unquoted globs, colons in descriptions (case E06).

Only lines `key: value` with a known key, and `- item` lines below one, are read; whatever could mean something else in
YAML is refused, so that nothing is understood otherwise than it was meant.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from aircoding.rules.globs import split_globs

__all__ = ["HEADER_KEYS", "HeaderLineFault", "looks_like_header", "read_header_lines"]

HEADER_KEYS = frozenset(
    {
        *("kind", "paths", "tags", "required", "id", "status", "interfaces", "supersedes"),
        *("name", "description", "license", "compatibility", "version", "author"),
        *("globs", "alwaysApply", "applyTo", "excludeAgent", "trigger"),
    }
)
"""Keys of rule files, skills and decision records, ours and those of Cursor, Copilot and Windsurf."""

_KEY_LINE = re.compile(r"([A-Za-z][A-Za-z0-9_-]*)[ \t]*:(?:[ \t]+(.*)|[ \t]*)")
_ITEM_LINE = re.compile(r"[ \t]*-[ \t]+(.*)")
_COMMENT = re.compile(r"(?:^|[ \t])#.*")
_OTHER_MEANING = ("|", ">", "&", "!", "%", "@", "`")
"""A value that starts so is a block, an anchor, a tag, or reserved in YAML."""


class HeaderLineFault(Exception):  # noqa: N818 - a place in a text, for a reader that makes a diagnostic of it
    """A line cannot be read as text either; `line` counts from 1 in the header, None: the line that YAML named."""

    def __init__(self, line: int | None, hint: str) -> None:
        super().__init__(hint)
        self.line = line
        self.hint = hint


def read_header_lines(header: str, known_keys: Collection[str]) -> dict[str, tuple[int, str | list[str]]]:
    """Return for each key its line (from 1 in the header) and its text or list of texts.

    Raises:
        HeaderLineFault: a line is of another form, or its key is unknown or repeated.
    """
    found: dict[str, tuple[int, str | list[str]]] = {}
    open_key: str | None = None
    for number, line in enumerate(header.split("\n"), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        item = _ITEM_LINE.fullmatch(line)
        if item is not None and open_key is not None:
            place, value = found[open_key]
            found[open_key] = (place, [*(value if isinstance(value, list) else []), _text(item[1], number)])
            continue
        key = _KEY_LINE.fullmatch(line)
        if key is None:
            raise HeaderLineFault(number, "write `key: value`, and put values with special characters in quotes")
        if key[1] not in known_keys:
            raise HeaderLineFault(None, "correct that line, or put its value in quotes")
        if key[1] in found:
            raise HeaderLineFault(number, f"`{key[1]}` is given twice; keep one of them")
        value = _value(key[2] or "", number)
        found[key[1]] = (number, value)
        open_key = key[1] if value == "" else None
    return found


def looks_like_header(lines: Sequence[str], fence: str) -> bool:
    """Whether lines up to a fence are all of a header's form, with a key among them."""
    keys = 0
    for line in lines:
        if line.rstrip() == fence:
            return keys > 0
        if _KEY_LINE.fullmatch(line):
            keys += 1
        elif line.strip() and not line.lstrip().startswith("#") and not _ITEM_LINE.fullmatch(line):
            return False
    return False


def _value(text: str, line: int) -> str | list[str]:
    stripped = _uncommented(text)
    if stripped.startswith("[") and stripped.endswith("]") and stripped.find("]") == len(stripped) - 1:
        return [_text(part, line) for part in split_globs(stripped[1:-1])]
    return _text(text, line)


def _text(text: str, line: int) -> str:
    stripped = _uncommented(text)
    if stripped.startswith(_OTHER_MEANING):
        raise HeaderLineFault(line, "put this value in quotes")
    if stripped[:1] in ("'", '"'):
        if len(stripped) < 2 or stripped[-1] != stripped[0] or stripped[0] in stripped[1:-1] or "\\" in stripped:
            raise HeaderLineFault(line, "close the quotes")
        return stripped[1:-1]
    if stripped.count("[") != stripped.count("]") or stripped.count("{") != stripped.count("}"):
        raise HeaderLineFault(line, "close the brackets, or put the value in quotes")
    return stripped


def _uncommented(text: str) -> str:
    """Leave a comment out, as YAML would, and the blanks around."""
    text = text.strip()
    return text if text[:1] in ("'", '"') else _COMMENT.sub("", text).strip()
