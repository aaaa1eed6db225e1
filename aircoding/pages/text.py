"""Text that somebody else wrote, as a page may hold it: escaped, and what cannot be seen made visible."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from aircoding.records.printable import is_unseen, shown_escape, visible_line

if TYPE_CHECKING:
    from markupsafe import Markup

    from aircoding.audit.prompt_pieces import PromptPiece

__all__ = ["safe_lines", "script_json", "shown", "shown_word"]


def shown(text: object) -> Markup:
    """Return text for a page; each unseen character stands as an escape that is marked as one."""
    from markupsafe import Markup, escape

    written = str(text)
    if written.isascii() and written.isprintable():
        return escape(written)
    unseen = _unseen_in(written)
    if unseen is None:
        return escape(written)
    parts = unseen.split(written)
    return Markup("").join(
        Markup('<span class="unseen">{}</span>').format("".join(map(shown_escape, part))) if place % 2 else escape(part)
        for place, part in enumerate(parts)
    )


def shown_word(text: object) -> str:
    """Return a name, a path or a sentence on one line, for where no markup can stand; the template escapes it."""
    return visible_line(str(text))


def safe_lines(piece: PromptPiece) -> Markup:
    """Return the lines of a piece, each in an element that carries its numbers.

    This is the one place where markup is put together outside a template: a prompt has tens of thousands of lines.
    """
    from markupsafe import Markup

    drawn = []
    for place, (line, source_line) in enumerate(zip(piece.text.split("\n"), piece.source_lines, strict=False)):
        number = "+" if piece.continues and not place else piece.line + place
        source = "" if source_line is None else f' data-s="{source_line}"'
        drawn.append(f'<div data-n="{number}"{source}>{shown(line)}</div>')
    return Markup("".join(drawn))  # noqa: S704  # numbers of ours, and text that `shown` escaped


def script_json(value: Any) -> Markup:
    """Return a value as JSON that can stand in an element of a page: nothing in it can end the element or hide."""
    from markupsafe import Markup

    written = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    unseen = _unseen_in(written)
    if unseen is not None:
        written = unseen.sub(lambda found: json.dumps(found[0])[1:-1], written)
    for char, escape in (("<", "\\u003c"), (">", "\\u003e"), ("&", "\\u0026")):
        written = written.replace(char, escape)
    return Markup(written)  # noqa: S704  # no character of markup is left


def _unseen_in(text: str) -> re.Pattern[str] | None:
    """Return what finds runs of the unseen characters that are in a text; None where there are none."""
    unseen = sorted(char for char in set(text) if is_unseen(char))
    return re.compile(f"([{re.escape(''.join(unseen))}]+)") if unseen else None
