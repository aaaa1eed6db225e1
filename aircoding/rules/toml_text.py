"""Set one key in the text of a TOML file, and leave every other line, comments included, as a person wrote it."""

from __future__ import annotations

import copy
import re
import tomllib
from typing import Any

from aircoding.errors import ConfigError

__all__ = ["with_flag"]

_TABLE = re.compile(r"[ \t]*\[")


def with_flag(text: str, section: str, key: str, *, value: bool) -> str:
    """Return the text with `key = value` in `[section]`; itself when it says so already.

    Raises:
        ConfigError: the text is no TOML, or says the key in a form that is not a line of its own.
    """
    before = _parsed(text)
    if isinstance(before.get(section), dict) and before[section].get(key) is value:
        return text
    wanted = copy.deepcopy(before)
    line = f"{key} = {str(value).lower()}"
    if isinstance(wanted.setdefault(section, {}), dict):
        wanted[section][key] = value
        changed = _changed(text, section, key, line)
        if _same(changed, wanted):
            return changed
    raise ConfigError(
        f"`{line}` cannot be put into [{section}] without changing other lines",
        hint=f"write it there by hand: [{section}], below it {line}",
        code="config.form",
    )


def _parsed(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(
            f"the file is no TOML: {error}", hint="correct it, or delete it", code="config.form"
        ) from error


def _same(text: str, wanted: dict[str, Any]) -> bool:
    try:
        return tomllib.loads(text) == wanted
    except tomllib.TOMLDecodeError:
        return False


def _changed(text: str, section: str, key: str, line: str) -> str:
    """Put the line in the place of the key's, else behind the section's heading, else into a section at the end."""
    lines = text.split("\n")
    heading = next((place for place, one in enumerate(lines) if _is_heading(one, section)), None)
    if heading is None:
        gap = "" if not text or text.endswith("\n\n") else "\n" if text.endswith("\n") else "\n\n"
        return f"{text}{gap}[{section}]\n{line}\n"
    end = next((place for place in range(heading + 1, len(lines)) if _TABLE.match(lines[place])), len(lines))
    own = re.compile(rf"[ \t]*{re.escape(key)}[ \t]*=")
    place = next((place for place in range(heading + 1, end) if own.match(lines[place])), None)
    if place is not None:
        lines[place] = line
    else:
        lines.insert(heading + 1, line)
    return "\n".join(lines)


def _is_heading(line: str, section: str) -> bool:
    found = re.match(r"[ \t]*\[[ \t]*([A-Za-z0-9_-]+)[ \t]*\][ \t]*(?:#.*)?\r?$", line)
    return found is not None and found[1] == section
