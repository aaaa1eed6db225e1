"""Find the distinct segments and outcomes that a subject names, each stored once, however many workers had it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Table, bindparam, or_, select

__all__ = ["named_rows", "one_of"]

_LINES = re.compile(r":\d+(-\d+)?$")


def named_rows(connection: Connection, table: Table, subject: str) -> list[Row[Any]]:
    """Return the rows of `segments` or `outcomes` that may be meant: a superset of what `matches` says.

    Names of paths are looked up whole in an index; a path's tail is tried on the distinct uris of files only.
    """
    bases = {subject, subject.partition("#")[0], _LINES.sub("", subject)} - {""}
    uris = bases | {f"{scheme}:{base}" for base in bases for scheme in ("project", "air")}
    uris |= set(connection.execute(_tails(connection, table, bases)).scalars())
    named = or_(table.c.uri.in_(sorted(uris)), table.c.rule_id == subject, table.c.segment_id == subject)
    return list(connection.execute(select(table).where(named)))


def _tails(connection: Connection, table: Table, bases: Iterable[str]) -> Any:
    """Select the uris of files that end in a name, after `/` or after the scheme."""
    uri = table.c.uri
    ends = [uri.endswith(f"{mark}{base}", autoescape=True) for base in sorted(bases) for mark in "/:"]
    query = select(uri).distinct().where(or_(*ends))
    # On SQLite two stretches of the index, past all that each session makes anew; elsewhere the order is another one.
    is_ordered = connection.dialect.name == "sqlite"
    files = or_(uri < "air:", uri >= "air;") if is_ordered else uri.notlike("air:%")
    return query.where(files)


def one_of(column: ColumnElement[Any], numbers: Iterable[int]) -> ColumnElement[bool]:
    """Whether a column is one of these numbers, written out: no limit of bound variables holds."""
    name = f"one_of_{column.key}"
    values = sorted(numbers)
    return column.in_(bindparam(name, values, expanding=True, literal_execute=True, unique=True))
