"""How commands speak: data on stdout, all else on stderr, JSON with a schema version, no control characters."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import click

from aircoding.records.jsonable import jsonable
from aircoding.records.printable import visible, visible_line

__all__ = [
    "SCHEMA_VERSION",
    "emit",
    "json_option",
    "note",
    "print_document",
    "print_error",
    "progress",
    "table",
    "visible",
    "visible_line",
]
__all__ += ["visible_words"]

SCHEMA_VERSION = 1

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")


def visible_words(words: Iterable[str]) -> str:
    """Return the words of a command on one line, quoted as a shell would need them, so that each can be told."""
    return visible_line(" ".join(shlex.quote(word) for word in words))


def emit(kind: str, value: Any, *, as_json: bool, text: Callable[[], str], **more: Any) -> None:
    """Print a result: `{"schema_version", "kind": value}` with `more` as JSON, else what `text` returns."""
    if as_json:
        print_document({"schema_version": SCHEMA_VERSION, kind: jsonable(value), **more})
    else:
        click.echo(visible(text()))


def print_document(document: Mapping[str, Any]) -> None:
    """Print a JSON document, on one line unless a person reads it."""
    written = json.dumps(document, ensure_ascii=False, indent=2 if sys.stdout.isatty() else None)
    # A name of bytes that are no UTF-8 holds lone surrogates; escaped as JSON has it, the document stays UTF-8.
    click.echo(written.encode("utf-8", "backslashreplace").decode("utf-8"))


def note(text: str) -> None:
    """Say something on stderr."""
    click.echo(visible(text), err=True)


def progress(text: str) -> None:
    """Say what goes on, on stderr, to a person who waits; a script reads the result."""
    if sys.stderr.isatty():
        note(text)


def print_error(code: str, message: str, hint: str, *, as_json: bool) -> None:
    """Print an error: an object on stdout in JSON mode, else two lines on stderr."""
    if as_json:
        error = {"code": code, "message": message, "hint": hint}
        print_document({"schema_version": SCHEMA_VERSION, "error": error})
        return
    note(f"error: {message}")
    if hint:
        note(f"  try: {hint}")


def table(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return rows in columns, two blanks apart; numbers to the right."""
    cells = [[visible_line(str(cell)) for cell in row] for row in rows]
    widths = [
        max(len(heading), *(len(row[n]) for row in cells)) if cells else len(heading)
        for n, heading in enumerate(headings)
    ]
    right = [bool(cells) and all(_is_number(row[n]) for row in cells) for n in range(len(headings))]
    lines = [_line(headings, widths, right), _line(["-" * width for width in widths], widths, right)]
    return "\n".join([*lines, *(_line(row, widths, right) for row in cells)])


def _is_number(cell: str) -> bool:
    return cell.replace(",", "").replace(".", "").replace("$", "").replace("%", "").isdigit() or cell in {"", "-"}


def _line(cells: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    parts = (
        cell.rjust(width) if on_right else cell.ljust(width)
        for cell, width, on_right in zip(cells, widths, right, strict=True)
    )
    return "  ".join(parts).rstrip()
