"""Regular expressions that only list how a command begins, as those beginnings."""

from __future__ import annotations

import re

__all__ = ["beginnings"]

_MOST = 64
_LITERAL = re.compile(r"[A-Za-z0-9_/:@%=,~ -]")
_ESCAPED = re.compile(r"\\[^A-Za-z0-9]")
_BLANK = re.compile(r"\\s\+?| \+")
_GROUP = re.compile(r"\((?:\?:)?([^()]*)\)(?![*+?{])")
_OPEN_END = re.compile(r"(?:\.\*)?\$?|\\b(?:\.\*)?")
"""What may stand behind a beginning: anything, or the end of a word; the end of the text is not that of the command."""


def beginnings(regex: str) -> tuple[str, ...]:
    """Return all texts that a match may begin with, anything following; () where it says more than that."""
    found = [""]
    place = 0
    while place < len(regex) and not (place and _OPEN_END.fullmatch(regex, place)):
        options, place = _next(regex, place)
        found = [begun + one for begun in found for one in options]
        if not options or len(found) > _MOST:
            return ()
    if regex.endswith("$") and not regex.endswith("\\$"):
        return ()
    return tuple(dict.fromkeys(one for one in found)) if all(found) else ()


def _next(regex: str, place: int) -> tuple[list[str], int]:
    """Return what the next part of an expression may be, and where the one after it begins."""
    if group := _GROUP.match(regex, place):
        options = [_literal(part) for part in group[1].split("|")]
        return ([] if None in options or "" in options else [one for one in options if one]), group.end()
    for pattern in (_BLANK, _ESCAPED, _LITERAL):
        if one := pattern.match(regex, place):
            if regex[one.end() : one.end() + 1] in {"*", "+", "?", "{"}:
                return [], place
            return [" " if pattern is _BLANK else one[0].removeprefix("\\")], one.end()
    return [], place


def _literal(text: str) -> str | None:
    """Return a part of a group without its escapes, or None where it is more than a text."""
    done, place = "", 0
    while place < len(text):
        options, place = _next(text, place) if text[place] != "(" else ([], place)
        if not options:
            return None
        done += options[0]
    return done
