"""JSON with comments and trailing commas, as settings of editors have it."""

from __future__ import annotations

import json
import re
from typing import Any

__all__ = ["parse_json_with_comments"]

_TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
_TRAILING = re.compile(r'("(?:\\.|[^"\\])*")|(?<=[\w"\]}])(\s*),(?=\s*[}\]])', re.DOTALL)


def parse_json_with_comments(text: str) -> Any:
    """Return the value of a text.

    Raises:
        ValueError: it is no JSON even so.
    """
    plain = _TOKEN.sub(lambda found: found[0] if found[0].startswith('"') else _blank(found[0]), text)
    try:
        return json.loads(_TRAILING.sub(lambda found: found[1] or found[2], plain))
    except RecursionError as error:
        raise ValueError("it nests too deeply") from error


def _blank(comment: str) -> str:
    """Keep the line ends, so that a fault is named with its line."""
    return "\n" * comment.count("\n") or " "
