"""Let go of what nobody needs any more: whole runs, or their texts alone.

Every step is a transaction of its own, after which all that is kept is whole: the rows of one run at a time, then what
no kept row names. What others record meanwhile is looked at again before each step. Texts that nothing names yet, but
that were stored a moment ago, stay: whoever stored them is about to name them.
"""

from __future__ import annotations

import shutil
import sqlite3
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, TypeVar

from sqlalchemy import Connection, delete, func, or_, select, update
from sqlalchemy import text as sql
from sqlmodel import SQLModel

from aircoding.store.accounts import OUTCOME_USES, OUTCOMES, SEGMENT_TEXTS, SEGMENT_USES, SEGMENTS
from aircoding.store.database import Database
from aircoding.store.fences import RUNS
from aircoding.store.reaching import named_besides, named_digests, of_runs, reached
from aircoding.store.statements import chunks
from aircoding.store.text_refilling import needs_refill, owe_refill, refill_step
from aircoding.store.texts import TEXTS

__all__ = ["Pruner", "Swept"]

Value = TypeVar("Value")

_FRESH = timedelta(seconds=60)
_CLOCKS = timedelta(minutes=10)
"""How far the clocks of two machines that record into one database may differ."""
_AT_ONCE = 900
"""Texts of one step, which a statement must be able to name."""
_LONGEST_PAUSE_SECONDS = 0.25
_LET_GO = RUNS.c.texts_let_go_at.is_not(None)
_ROOM = 2.2
"""How often its own size a file needs free while it is written anew."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Swept:
    """What went: texts with their size as stored. `shrunk` says whether the file was written anew without them."""

    texts: int
    stored_bytes: int
    shrunk: bool = False


class Pruner:
    """Removes runs, lets texts go, and shrinks the file; `now` is the time as RFC 3339."""

    def __init__(self, database: Database, now: Callable[[], str]) -> None:
        self._database = database
        self._now = now

    def remove(self, run_id: str) -> None:
        """Remove all rows of a run in one transaction; its texts go with the next `sweep`."""
        one = RUNS.c.run_id == run_id

        def body(connection: Connection) -> None:
            _overwrite(connection)
            for table in reversed(SQLModel.metadata.sorted_tables):  # what names a row goes before that row
                which = of_runs(table, one)
                if which is not None and table is not RUNS:
                    connection.execute(delete(table).where(which))
            connection.execute(delete(RUNS).where(one))

        self._database.write(body, durable=True)

    def let_go(self, run_ids: Sequence[str]) -> None:
        """Say of runs that their texts are not kept; they go with the next `sweep`."""
        which = RUNS.c.run_id.in_(run_ids) & RUNS.c.texts_let_go_at.is_(None)
        change = update(RUNS).where(which).values(texts_let_go_at=self._now())
        self._database.write(lambda connection: connection.execute(change), durable=True)

    def unneeded(self, *, without: Collection[str] = (), held: Iterable[str] = ()) -> Swept:
        """Return what a sweep would free if some runs were gone or had let go of their texts; nothing is changed."""
        with self._database.read() as connection:
            kept = _kept(connection, without, held)
            sizes = select(TEXTS.c.digest, func.length(TEXTS.c.body)).where(TEXTS.c.body.is_not(None))
            free = [size for digest, size in connection.execute(sizes) if digest not in kept]
        return Swept(texts=len(free), stored_bytes=sum(free))

    def sweep(self, *, held: Iterable[str] = (), ended_at: str | None = None) -> Swept:
        """Remove segments, outcomes and texts that nothing kept needs.

        Args:
            held: digests that somebody outside of these tables needs, such as the engine of an unfinished run.
            ended_at: when the newest of the runs that let go ended: what was stored by then needs no waiting.
        """
        began = self._now()
        with self._database.unchecked() as database:
            database.write(_sweep_shared, durable=True)
            with database.read() as connection:
                kept = _kept(connection, (), held)
                named = set(named_digests(connection, _LET_GO))
                there = connection.execute(select(TEXTS.c.digest, TEXTS.c.body.is_not(None), TEXTS.c.stored_at)).all()
            before = max(_earlier(began, _FRESH), ended_at or "")
            gone = [each[0] for each in there if each[0] not in kept and each[2] <= before]
            bodiless = {each[0] for each in there if not each[1]}
            del there
            texts, stored, since = 0, 0, _earlier(began, _CLOCKS)
            left = sorted(digest for digest in gone if not (digest in named and digest in bodiless))
            for some in chunks(left, _AT_ONCE):
                step = partial(_sweep_texts, digests=some, named=named, kept=kept, before=before, since=since)
                count, size = _in_turn(database, step)
                texts, stored = texts + count, stored + size
        self.refill()
        return Swept(texts=texts, stored_bytes=stored)

    def refill(self) -> None:
        """Go on with a text index that is not whole, until it is; without one to be made anew nothing is done."""
        with self._database.read() as connection:
            if not needs_refill(connection):
                return
        while _in_turn(self._database, refill_step):
            pass

    def shrink(self) -> bool:
        """Write a SQLite file anew without what went; False where there is no room for it, or another process reads.

        The log beside it is emptied as well: nothing of what went is left in either.
        """
        path = self._database.path
        if path is None:
            return False
        size = path.stat().st_size
        if shutil.disk_usage(path.parent).free < size * _ROOM:
            return False
        try:
            with closing(sqlite3.connect(path, timeout=30, isolation_level=None)) as connection:
                connection.execute("VACUUM")
                return not connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        except sqlite3.OperationalError:
            return False


def _in_turn(database: Database, step: Callable[[Connection], Value]) -> Value:
    """Run one of many steps in a transaction of its own, then leave the database to others for as long as it took.

    Who waits for SQLite asks again from time to time, a tenth of a second apart at most; without a pause they would
    hardly ever come in between.
    """
    began = time.monotonic()
    value = database.write(step, durable=True)
    time.sleep(min(_LONGEST_PAUSE_SECONDS, time.monotonic() - began))
    return value


def _kept(connection: Connection, without: Collection[str], held: Iterable[str]) -> set[str]:
    going = RUNS.c.run_id.in_(sorted(without)) | _LET_GO
    return reached(connection, [*held, *set(named_besides(connection, going))])


def _sweep_shared(connection: Connection) -> None:
    """Remove segments and outcomes that no assembly uses any more."""
    _overwrite(connection)
    _keep_others_out(connection)
    unused = SEGMENTS.c.segment.not_in(select(SEGMENT_USES.c.segment))
    untold = OUTCOMES.c.outcome_row.not_in(select(OUTCOME_USES.c.outcome_row))
    found = select(or_(select(SEGMENTS).where(unused).exists(), select(OUTCOMES).where(untold).exists()))
    if not connection.execute(found).scalar_one():
        return
    owe_refill(connection)
    connection.execute(
        delete(SEGMENT_TEXTS).where(SEGMENT_TEXTS.c.segment.in_(select(SEGMENTS.c.segment).where(unused)))
    )
    connection.execute(delete(SEGMENTS).where(unused))
    connection.execute(delete(OUTCOMES).where(untold))


def _sweep_texts(
    connection: Connection, *, digests: list[Any], named: set[str], kept: set[str], before: str, since: str
) -> tuple[int, int]:
    """Remove some texts, except what was named or stored since; return how many bodies went, and their size."""
    _overwrite(connection)
    _keep_others_out(connection)
    rescued = reached(connection, set(named_besides(connection, _LET_GO, since=since)), known=kept)
    rescued |= _named_by_key(connection, digests) - named
    kept |= rescued
    new_names = set(named_digests(connection, _LET_GO, since=since))
    count = size = 0
    owe_refill(connection)
    for some in chunks([digest for digest in digests if digest not in rescued]):
        which = TEXTS.c.digest.in_(some) & (TEXTS.c.stored_at <= before)
        bodies = select(func.count(TEXTS.c.body), func.coalesce(func.sum(func.length(TEXTS.c.body)), 0)).where(which)
        found = connection.execute(bodies).one()
        count, size = count + int(found[0]), size + int(found[1])
        stay = [digest for digest in some if digest in named or digest in new_names]
        go = [digest for digest in some if digest not in named and digest not in new_names]
        if stay:
            connection.execute(update(TEXTS).where(which, TEXTS.c.digest.in_(stay)).values(body=None))
        if go:
            connection.execute(delete(TEXTS).where(which, TEXTS.c.digest.in_(go)))
    return count, size


def _named_by_key(connection: Connection, digests: list[Any]) -> set[str]:
    """Return those texts that some row names by a foreign key.

    What was looked up before is all that is needed, unless a clock was set back meanwhile: no row may be left without
    what it names.
    """
    found: set[str] = set()
    for table in SQLModel.metadata.sorted_tables:
        for column in table.c:
            if any(key.column is TEXTS.c.digest for key in column.foreign_keys):
                found.update(connection.execute(select(column).where(column.in_(digests)).distinct()).scalars())
    return found


def _overwrite(connection: Connection) -> None:
    """Let SQLite write over what is deleted: a text that was let go is not to be found in the file."""
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("PRAGMA secure_delete=ON")


def _keep_others_out(connection: Connection) -> None:
    """Wait for those who have looked for a shared row and are about to name it (SQLite has one writer anyway)."""
    if connection.dialect.name == "postgresql":
        connection.execute(sql("LOCK TABLE texts, segments, outcomes IN ACCESS EXCLUSIVE MODE"))


def _earlier(at: str, by: timedelta) -> str:
    moment = datetime.fromisoformat(at) - by
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
