"""Fill templates: escaping is always on, and a name that a template does not get is a fault."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from aircoding.pages.text import safe_lines, script_json, shown, shown_word

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["environment", "inline_asset", "inline_source"]

_FOLDER = Path(__file__).resolve().parent


@cache
def environment() -> Environment:
    """Return the templates of the pages."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader(_FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters.update(
        shown=shown, word=shown_word, lines=safe_lines, json=script_json, grouped=lambda number: f"{number:,}"
    )
    return made


@cache
def inline_asset(name: str) -> str:
    """Return a style or a script of ours as it may stand in a page (it holds no end of its element)."""
    text = (_FOLDER / "static" / name).read_text(encoding="utf-8")
    if "</" in text or "<!--" in text:
        raise ValueError(f"{name} holds what could end the element that it stands in")
    return text


def inline_source(text: str) -> str:
    """Return the source by which a content policy lets this inline style or script in, and no other."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode('utf-8')).digest()).decode('ascii')}'"
