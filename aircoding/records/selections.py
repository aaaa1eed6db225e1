"""What let a candidate in: as data, and as the words that stand in a manifest; one can be read back from the other."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

__all__ = ["CONVERSATION", "Selection", "in_words", "read_selection"]

CONVERSATION = "conversation"
"""Lets in what the session itself brought."""
_IMPORTED = ", imported by "
_QUOTED = re.compile(rf'(?P<by>\S+) (?P<what>"(?:[^"\\]|\\.)*")(?:{_IMPORTED}(?P<importer>.*))?', re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What let a candidate in.

    `by` is one word: profile, trigger, path, tag or conversation. `what` is which one, `importer` the uri of the file
    that takes the candidate's file in.
    """

    by: str
    what: str = ""
    importer: str | None = None


def in_words(selection: Selection) -> str:
    """Return the words; a name that could be taken for more than a name is quoted."""
    what = f"`{selection.what}`" if selection.by == "trigger" else selection.what
    if _IMPORTED in what or what.startswith('"'):
        what = json.dumps(what)
    said = f"{selection.by} {what}" if what else selection.by
    return said if selection.importer is None else f"{said}{_IMPORTED}{selection.importer}"


def read_selection(words: str) -> Selection:
    """Return what the words of a manifest say."""
    found = _QUOTED.fullmatch(words)
    what = _name(found["what"]) if found is not None else None
    if found is not None and what is not None:
        by, importer = found["by"], found["importer"]
    else:
        head, is_imported, rest = words.partition(_IMPORTED)
        by, _, what = head.partition(" ")
        importer = rest if is_imported else None
    return Selection(by=by, what=what[1:-1] if by == "trigger" else what, importer=importer)


def _name(quoted: str) -> str | None:
    try:
        return str(json.loads(quoted))
    except ValueError:
        return None
