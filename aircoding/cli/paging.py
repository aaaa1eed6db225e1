"""Answers that have pages: the options that ask for one, and how it is printed."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from aircoding.cli.output import SCHEMA_VERSION, note, print_document, visible
from aircoding.records.jsonable import jsonable

if TYPE_CHECKING:
    from aircoding.app.questions.asking import Paged

__all__ = ["emit_paged", "page_options"]

_MOST = 2**31 - 1
"""Most lines that a page may be asked for or begin after."""


def page_options(limit: int = 50) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command `--limit` (of default `limit`) and `--offset`, as one `page`."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def with_page(**given: Any) -> None:
            from aircoding.app.questions.asking import Page

            command(page=Page(limit=given.pop("limit"), offset=given.pop("offset")), **given)

        most = click.IntRange(1, _MOST)
        shown = click.option("--limit", type=most, default=limit, show_default=True, help="Lines at most.")
        first = click.option("--offset", type=click.IntRange(0, _MOST), default=0, help="Lines to leave out first.")
        return shown(first(with_page))

    return decorate


def emit_paged(answer: Paged, *, as_json: bool, text: Callable[[], str]) -> None:
    """Print a page of an answer: its fields as one JSON document with `schema_version`, else what `text` returns.

    What comes after the page is said on stderr; in JSON `total` and `offset` say it.
    """
    if as_json:
        print_document({"schema_version": SCHEMA_VERSION, **jsonable(answer)})
        return
    click.echo(visible(text()))
    end = answer.offset + len(answer.items)
    if end < answer.item_count:
        note(f"{end} of {answer.item_count} shown; go on with --offset {end}")
