"""Which texts are needed: named by a row, or by a text that is needed itself.

A row names a text by a foreign key, or by the digest anywhere in its JSON; a text names others the same way (skeletons,
snapshots, briefs, references to artifacts). So whatever looks like the digest of a text keeps it: too much may be kept
so, never too little.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial
from typing import Any

from sqlalchemy import Column, ColumnElement, Connection, LargeBinary, Select, Table, or_, select, true
from sqlalchemy import Text as TextType
from sqlmodel import SQLModel

from aircoding.errors import StoreError
from aircoding.records.digests import canonical_json
from aircoding.store.accounts import ASSEMBLIES, SEGMENT_TEXTS, SEGMENT_USES
from aircoding.store.column_types import HexDigest
from aircoding.store.columns import table_of
from aircoding.store.deltas import unpack
from aircoding.store.dictionary import inflate
from aircoding.store.fences import RUNS
from aircoding.store.statements import chunks
from aircoding.store.tables import every
from aircoding.store.tables.sessions import SessionRow
from aircoding.store.texts import TEXTS, find_texts

__all__ = ["named_besides", "named_digests", "of_runs", "reached"]

assert every.__all__  # noqa: S101 - imported so that the metadata is full

SESSIONS = table_of(SessionRow)
_DIGEST = re.compile(r"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])")
_TIMES = ("recorded_at", "started_at", "finished_at", "opened_at", "closed_at", "at", "ended_at", "created_at")
_SHARED = frozenset({"texts", "segments", "segment_texts", "outcomes"})
"""Tables whose rows belong to no run: they are reached from the uses that do."""
_AT_ONCE = 400
_Rows = Callable[[Table], ColumnElement[bool] | None]
"""Which rows of a table are meant; None: none of them."""


def of_runs(table: Table, runs: ColumnElement[bool]) -> ColumnElement[bool] | None:
    """Return which rows of a table belong to the runs that a condition names; None: its rows belong to no run."""
    columns = table.c
    if table.name in _SHARED:
        return None
    if "run_id" in columns:
        return columns.run_id.in_(select(RUNS.c.run_id).where(runs))
    if "session_id" in columns:
        return columns.session_id.in_(select(SESSIONS.c.session_id).where(_run_of(SESSIONS, runs)))
    if "assembly" in columns:
        return columns.assembly.in_(select(ASSEMBLIES.c.assembly).where(_run_of(ASSEMBLIES, runs)))
    if "manifest_id" in columns:
        return columns.manifest_id.in_(select(ASSEMBLIES.c.manifest_id).where(_run_of(ASSEMBLIES, runs)))
    return None


def _run_of(table: Table, runs: ColumnElement[bool]) -> ColumnElement[bool]:
    return table.c.run_id.in_(select(RUNS.c.run_id).where(runs))


def _besides(table: Table, runs: ColumnElement[bool]) -> ColumnElement[bool] | None:
    """Return which rows of a table belong to other runs than these, or to one that is not on record."""
    which = of_runs(table, runs)
    return None if which is None else which.is_not(true())


def named_digests(connection: Connection, runs: ColumnElement[bool], *, since: str | None = None) -> Iterator[str]:
    """Yield what rows of some runs name, with repeats.

    Args:
        connection: any transaction.
        runs: a condition on the table of runs.
        since: only what was recorded at this time or later, and runs that were imported since.
    """
    return _named(connection, partial(of_runs, runs=runs), since)


def named_besides(connection: Connection, runs: ColumnElement[bool], *, since: str | None = None) -> Iterator[str]:
    """Yield what all rows name that are not of these runs, as `named_digests` does.

    A row whose run is not on record is one of them: nobody said that it may go.
    """
    return _named(connection, partial(_besides, runs=runs), since)


def _named(connection: Connection, rows: _Rows, since: str | None) -> Iterator[str]:
    for table in SQLModel.metadata.sorted_tables:
        which = rows(table)
        columns = [column for column in table.c if _may_name(column)]
        if which is None or not columns:
            continue
        if since is not None:
            recent = _recent(table, since)
            if recent is None:
                continue  # rows without a time of their own name what the rows above them name
            which &= recent
        query = select(*columns).where(which)
        for column in (each for each in table.c if each.references(TEXTS.c.text_row)):
            numbered = select(TEXTS.c.digest).join(table, column == TEXTS.c.text_row).where(which)
            yield from connection.execute(numbered).scalars()
        for row in connection.execute(query):
            for value in row:
                yield from _digests(value)
        if table is ASSEMBLIES:
            yield from _of_accounts(connection, query)
    yield from _shown(connection, rows(ASSEMBLIES), since)


def _of_accounts(connection: Connection, assemblies: Select[Any]) -> Iterator[str]:
    """Yield what accounts name: each is packed like that of the turn from which its nodes count."""
    first = ASSEMBLIES.alias("first")
    same = (first.c.session_id == ASSEMBLIES.c.session_id) & (first.c.turn == ASSEMBLIES.c.nodes_since)
    columns = (ASSEMBLIES.c.account, first.c.account, ASSEMBLIES.c.turn == ASSEMBLIES.c.nodes_since)
    query = assemblies.with_only_columns(*columns).join(first, same)
    for account, like, is_first in connection.execute(query):
        yield from _DIGEST.findall(canonical_json(unpack(account, None if is_first else like)).decode("utf-8"))


def _may_name(column: Column[Any]) -> bool:
    if column is ASSEMBLIES.c.account:
        return False  # it is packed like another one: see `_of_accounts`
    return isinstance(column.type, (TextType, LargeBinary, HexDigest)) and not column.name.endswith("_at")


def _recent(table: Table, since: str) -> ColumnElement[bool] | None:
    times = [table.c[name] >= since for name in _TIMES if name in table.c]
    imported = of_runs(table, RUNS.c.imported_at >= since)
    return or_(*times, *([] if imported is None else [imported])) if times else None


def _shown(connection: Connection, which: ColumnElement[bool] | None, since: str | None) -> Iterator[str]:
    """Yield the texts of segments, which many runs share."""
    query: Select[Any] = (
        select(TEXTS.c.digest)
        .join(SEGMENT_TEXTS, SEGMENT_TEXTS.c.text_row == TEXTS.c.text_row)
        .join(SEGMENT_USES, SEGMENT_USES.c.segment == SEGMENT_TEXTS.c.segment)
        .join(ASSEMBLIES, ASSEMBLIES.c.assembly == SEGMENT_USES.c.assembly)
        .distinct()
    )
    query = query if which is None else query.where(which)
    recent = None if since is None else _recent(ASSEMBLIES, since)
    if recent is not None:
        query = query.where(recent)
    yield from connection.execute(query).scalars()


def _digests(value: Any) -> Iterable[str]:
    if isinstance(value, (bytes, memoryview)):
        try:
            value = inflate(bytes(value)).decode("utf-8", "replace")
        except StoreError:
            return ()  # no packed text
    return _DIGEST.findall(value) if isinstance(value, str) and len(value) >= 64 else ()


def reached(connection: Connection, named: Iterable[str], *, known: Collection[str] = ()) -> set[str]:
    """Return the digests that are named, and all that the texts of those name in turn.

    Args:
        connection: any transaction.
        named: where to begin.
        known: texts that were followed before; they are not followed again.
    """
    found: set[str] = set()
    waiting = set(named)
    while waiting:
        new = waiting - found
        if known:
            new.difference_update(known)
        found |= new
        waiting = set()
        for some in chunks(sorted(new), _AT_ONCE):
            for text in find_texts(connection, some).values():  # type: ignore[arg-type]  # digests, as far as they are any
                waiting.update(_DIGEST.findall(text))
    return found
