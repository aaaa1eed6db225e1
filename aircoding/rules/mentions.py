"""Files that a rule file takes in by `@path`: where they are named, without looking whether they are there.

Read as Claude Code and Gemini CLI read them (documentation of 2026-08): outside code spans and fences, an `@` that
begins a word. Cases E21 to E26 of the compatibility table.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from aircoding.rules.markdown_lines import read_lines, ticked_ranges

__all__ = ["MAX_MENTIONS", "Mention", "bare_file_name", "mentions"]

MAX_MENTIONS = 1000
"""Most mentions that are read of one file; a rule file with more is no rule file."""

_MENTION = re.compile(r'(?:^|(?<=\s))@(?:"([^"\n]+)"|((?:\\ |[^\s\\"])(?:\\ |[^\s\\])*))')
_TRAILING = ".,;:!?)]}'\""
_PATH_LENGTH = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """One `@path`. `targets` are the paths that may be meant, the likeliest first: a sentence may end behind a path.

    Lines count from 1.
    """

    line: int
    written: str
    targets: tuple[str, ...]


def mentions(text: str, *, most: int = MAX_MENTIONS) -> tuple[Mention, ...]:
    """Return each mention once per target, in order, `most` at most; `user@example.com` and what is in code is none."""
    found: dict[str, Mention] = {}
    for line in read_lines(text):
        if line.fence is not None or "@" not in line.text:
            continue
        code = ticked_ranges(line.text)
        for match in _MENTION.finditer(line.text):
            if any(start <= match.start() < end for start, end in code):
                continue
            targets = _targets(match[1], match[2])
            if targets and len(found) < most:
                found.setdefault(targets[0], Mention(line=line.number, written=match[0], targets=targets))
    return tuple(found.values())


def _targets(quoted: str | None, bare: str | None) -> tuple[str, ...]:
    if quoted is not None:
        return (quoted,) if _may_be_path(quoted) else ()
    written = (bare or "").replace("\\ ", " ")
    shorter = written.rstrip(_TRAILING)
    return tuple(path for path in dict.fromkeys((written, shorter)) if _may_be_path(path))


def _may_be_path(path: str) -> bool:
    return bool(path.strip("./~ ")) and len(path) <= _PATH_LENGTH and "\0" not in path


def bare_file_name(text: str) -> str | None:
    """Return the file that a text consists of, or None: a link that a clone without links turned into text (E20)."""
    name = text.strip()
    is_name = 0 < len(name) <= _PATH_LENGTH and name.endswith(".md") and not any(char.isspace() for char in name)
    return name if is_name and not name.startswith(("#", "-", "@")) else None
