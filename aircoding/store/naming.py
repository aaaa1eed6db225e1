"""Find the distinct segments and outcomes that a subject names, each stored once, however many workers had it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Dialect,
    Row,
    Table,
    TextClause,
    bindparam,
    literal_column,
    or_,
    select,
    union,
)
from sqlalchemy import text as sql
from sqlalchemy.types import UserDefinedType

from aircoding.store.columns import table_of
from aircoding.store.tables.assemblies import SHARED, SegmentRow

__all__ = ["named_rows", "one_of"]

_OWN_ID = re.compile(r"L\d+:(air:session/.+)@[0-9a-f]{8}")
"""The id of what a session brought: its layer, its uri, the start of its text's digest; the row says it by these."""
_LINES = re.compile(r":\d+(-\d+)?$")


def named_rows(connection: Connection, table: Table, subject: str) -> list[Row[Any]]:
    """Return the rows of `segments` or `outcomes` that may be meant: a superset of what `matches` says.

    Names of paths are looked up whole in an index; a path's tail is tried on the distinct uris of files only.
    """
    bases = {subject, subject.partition("#")[0], _LINES.sub("", subject)} - {""}
    if (own := _OWN_ID.fullmatch(subject)) is not None:
        bases.add(own[1])
    uris = bases | {f"{scheme}:{base}" for base in bases for scheme in ("project", "air")}
    shared = _shared(table, subject)
    uris |= set(connection.execute(_tails(connection, table, bases)).scalars())
    key = next(iter(table.primary_key))
    found: dict[int, Row[Any]] = {}
    # One query for each index: of a condition with OR no index would be used that holds only a part of the rows.
    for named, narrow in (
        (table.c.uri.in_(sorted(uris)), shared),
        (table.c.rule_id == subject, ()),
        (table.c.segment_id == subject, shared),
    ):
        for each in connection.execute(select(table).where(named, *narrow)):
            found[each._mapping[key]] = each
    return [found[number] for number in sorted(found)]


def _shared(table: Table, subject: str) -> tuple[TextClause, ...]:
    """Return the condition under which segments are indexed: what a session itself brought is looked up by its name."""
    is_of_session = "session/" in subject or table is not table_of(SegmentRow)
    return () if is_of_session else (sql(SHARED),)


def _tails(connection: Connection, table: Table, bases: Iterable[str]) -> Any:
    """Select the uris of files that end in a name, after `/` or after the scheme."""
    uri = table.c.uri
    ends = [uri.endswith(f"{mark}{base}", autoescape=True) for base in sorted(bases) for mark in "/:"]
    named = select(uri).where(or_(*ends), *_shared(table, ""))
    if connection.dialect.name != "sqlite":  # the order of text is another one there
        return named.where(uri.notlike("air:%")).distinct()
    # Two stretches of the index, past all that each session makes anew; one condition for both would read everything.
    return union(named.where(uri < "air:"), named.where(uri >= "air;"))


def one_of(column: ColumnElement[Any], numbers: Iterable[int], *, few_assemblies: bool = False) -> ColumnElement[bool]:
    """Whether a column is one of these numbers, written out: no limit of bound variables holds.

    With `few_assemblies` the database is kept from beginning with these: what else is asked for leads to fewer rows.
    """
    name = f"one_of_{column.key}"
    values = sorted(numbers)
    asked: ColumnElement[Any] = column + literal_column("0") if few_assemblies else column
    written = bindparam(name, values, type_=_Numbers(), literal_execute=True, unique=True)
    return asked.bool_op("IN")(written)


class _Numbers(UserDefinedType[Sequence[int]]):
    """A list of numbers, written out at once: one by one a hundred thousand of them take a second."""

    cache_ok = True

    def literal_processor(self, dialect: Dialect) -> Callable[[Sequence[int]], str]:  # noqa: ARG002 - the signature is SQLAlchemy's
        """Return what writes the list; of an empty one nothing is."""
        return lambda numbers: f"({', '.join(map(str, map(int, numbers))) or 'NULL'})"
