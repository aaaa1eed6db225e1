"""Connections and transactions: the one place that knows how each database commits.

Writes run in one transaction that takes the write lock at once (`BEGIN IMMEDIATE`: a read that is upgraded
to a write fails at once when another writes, whatever the timeout). Durable writes are on disk when they return
(`synchronous=FULL`, `synchronous_commit=on`); the others may lose their last ones on power loss, never on a crash
of the process, and the next durable commit takes them along (both logs are sequential). Reads take
connections of their own and see one moment of the database.
"""

from __future__ import annotations

import os
import sqlite3
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, OperationalError, SQLAlchemyError
from sqlalchemy.pool import QueuePool

from aircoding.errors import StoreError, UnfitStoreError
from aircoding.store.faults import store_error, translated

__all__ = ["Database", "connect_database"]

Value = TypeVar("Value")

BUSY_TIMEOUT_SECONDS = 30.0
"""How long a writer waits for another: the same as the durable engine's own (`reference/engine.md` 3.2)."""
PAGE_BYTES = 8192
"""Texts of one to three kilobytes are most of a record; they leave a seventh of smaller pages empty."""
_RETRYABLE_SQLSTATES = frozenset({"40001", "40P01"})
"""PostgreSQL: serialization failure, deadlock; the transaction was rolled back and may run again."""
_TRIES = 5


class Database(ABC):
    """One database. `path` is the file of a SQLite database, None for PostgreSQL; `where` names it to people."""

    def __init__(self, *, where: str, path: Path | None, read_only: bool) -> None:
        self.where = where
        self.path = path
        self.read_only = read_only

    @property
    @abstractmethod
    def dialect(self) -> str:
        """`sqlite` or `postgresql`."""

    @abstractmethod
    def read(self) -> AbstractContextManager[Connection]:
        """Open a read transaction.

        Raises:
            StoreError: the database cannot do it.
        """

    @abstractmethod
    def write(self, body: Callable[[Connection], Value], *, durable: bool = False) -> Value:
        """Run `body` in one write transaction and return what it returns; commit unless it raises.

        `body` may run again when PostgreSQL chose it as the victim of a deadlock: it must do nothing but SQL.

        Raises:
            StoreError: the database cannot do it.
        """

    @contextmanager
    def unchecked(self) -> Iterator[Database]:
        """Give this database as one whose writes do not look for rows that name what they delete.

        SQLite looks through whole tables for each row that goes; who sweeps has looked once for all of them. Where that
        cannot be had (a server always looks), it is the same database.
        """
        yield self

    @abstractmethod
    def close(self) -> None:
        """Give the connections back."""


class _Connected(Database):
    """A database with connections of its own: for durable writes, for other writes, for reads."""

    def __init__(
        self, *, where: str, path: Path | None, engines: tuple[Engine, Engine, Engine], read_only: bool
    ) -> None:
        super().__init__(where=where, path=path, read_only=read_only)
        self._durable, self._relaxed, self._reading = engines

    @property
    def dialect(self) -> str:
        return self._reading.dialect.name

    @contextmanager
    def read(self) -> Iterator[Connection]:
        with translated(self.where), self._reading.connect() as connection, connection.begin():
            yield connection

    def write(self, body: Callable[[Connection], Value], *, durable: bool = False) -> Value:
        if self.read_only:
            raise StoreError(
                f"The database {self.where} was opened for reading only.",
                hint="This is a command that only reads; nothing was changed.",
                code="store.read_only",
            )
        engine = self._durable if durable else self._relaxed
        for tries_left in reversed(range(_TRIES)):
            try:
                with engine.begin() as connection:
                    return body(connection)
            except SQLAlchemyError as error:
                if tries_left == 0 or not _is_retryable(error):
                    raise store_error(error, self.where) from error
            time.sleep(0.05 * (_TRIES - tries_left))
        raise AssertionError("unreachable")  # the last try returns or raises

    @contextmanager
    def unchecked(self) -> Iterator[Database]:
        if self.path is None:
            yield self
            return
        database = _sqlite(self.path, self.read_only, foreign_keys=False)
        try:
            yield database
        finally:
            database.close()

    def close(self) -> None:
        for engine in (self._durable, self._relaxed, self._reading):
            engine.dispose()


def connect_database(url_or_path: str | Path, *, read_only: bool = False) -> Database:
    """Return a database; nothing but the file's WAL mode is changed.

    Args:
        url_or_path: a file, `sqlite:///FILE`, or `postgresql://…`.
        read_only: open for reading only; a SQLite file must then be there already.

    Raises:
        StoreError: not a URL that is known, or the file cannot be opened.
    """
    if isinstance(url_or_path, Path) or "://" not in url_or_path:
        return _sqlite(Path(url_or_path), read_only)
    try:
        url = make_url(url_or_path)
    except ArgumentError:
        raise _unknown_url(url_or_path.split("://")[0]) from None
    name = url.get_backend_name()
    if name == "sqlite" and url.database:
        return _sqlite(Path(url.database), read_only)
    if name in {"postgresql", "postgres"}:
        return _postgresql(url.set(drivername="postgresql+psycopg"), read_only)
    raise _unknown_url(name)


def _unknown_url(scheme: str) -> StoreError:
    return UnfitStoreError(
        f"AIR_DATABASE_URL names a database that is not known: {scheme}",
        hint="Use a file, sqlite:///FILE, or postgresql://USER@HOST/DATABASE.",
        code="store.url",
    )


def _is_retryable(error: SQLAlchemyError) -> bool:
    return isinstance(error, OperationalError) and getattr(error.orig, "sqlstate", None) in _RETRYABLE_SQLSTATES


def _sqlite(path: Path, read_only: bool, *, foreign_keys: bool = True) -> Database:
    where = str(path)
    if read_only and not path.is_file():
        raise UnfitStoreError(
            f"There is no database at {where}.", hint="Run `aircoding run` first.", code="store.absent"
        )
    if not read_only:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(
                f"The directory of the database cannot be made: {error}",
                hint="Check who owns it, or set AIR_DATABASE_URL to a place that you may write.",
                code="store.unreachable",
            ) from None
    if not read_only and not _is_writable(path):
        raise store_error(OperationalError("", None, sqlite3.OperationalError("readonly database")), where)
    try:
        uri = _sqlite_uri(path, read_only)
        if not read_only:
            _switch_to_wal(uri)
    except sqlite3.Error as error:
        raise store_error(OperationalError("", None, error), where) from None
    engines = (
        _sqlite_engine(uri, "BEGIN IMMEDIATE", synchronous="FULL", foreign_keys=foreign_keys),
        _sqlite_engine(uri, "BEGIN IMMEDIATE", synchronous="NORMAL", foreign_keys=foreign_keys),
        _sqlite_engine(uri, "BEGIN", synchronous="NORMAL", query_only=True),
    )
    return _Connected(where=where, path=path, engines=engines, read_only=read_only)


def _is_writable(path: Path) -> bool:
    """Whether the file and its directory may be written (SQLite keeps its log and its index beside the file)."""
    return os.access(path.parent, os.W_OK) and (not path.exists() or os.access(path, os.W_OK))


def _sqlite_uri(path: Path, read_only: bool) -> str:
    base = f"file:{quote(str(path.absolute()))}"
    if not read_only:
        return base
    # A WAL database on a read-only disk can be read only as a file that nobody changes.
    try:
        with _connect(f"{base}?mode=ro") as connection:
            connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    except sqlite3.OperationalError:
        wal = path.with_name(f"{path.name}-wal")
        if wal.exists() and wal.stat().st_size:
            raise
        return f"{base}?mode=ro&immutable=1"
    return f"{base}?mode=ro"


def _connect(uri: str) -> sqlite3.Connection:
    return sqlite3.connect(
        uri,
        uri=True,
        timeout=BUSY_TIMEOUT_SECONDS,
        check_same_thread=False,
        isolation_level=None,
        cached_statements=256,
    )


def _switch_to_wal(uri: str) -> None:
    """Put the file into WAL mode, once; two processes that make it at the same time wait for each other."""
    connection = _connect(uri)
    try:
        connection.execute(f"PRAGMA page_size={PAGE_BYTES}")  # of a new file; another keeps its own
        deadline = time.monotonic() + BUSY_TIMEOUT_SECONDS
        while connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
            try:
                connection.execute("PRAGMA journal_mode=WAL")
            except sqlite3.OperationalError as error:
                # The switch needs the file alone and does not heed the busy timeout.
                if "locked" not in str(error) or time.monotonic() > deadline:
                    raise
                time.sleep(0.02)
    finally:
        connection.close()


def _sqlite_engine(
    uri: str, begin: str, *, synchronous: str, query_only: bool = False, foreign_keys: bool = True
) -> Engine:
    def connect() -> sqlite3.Connection:
        connection = _connect(uri)
        connection.execute(f"PRAGMA synchronous={synchronous}")
        connection.execute(f"PRAGMA foreign_keys={'ON' if foreign_keys else 'OFF'}")
        if query_only:
            connection.execute("PRAGMA query_only=ON")
        return connection

    engine = create_engine("sqlite://", creator=connect, poolclass=QueuePool, pool_size=4, max_overflow=16)

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        connection.exec_driver_sql(begin)

    return engine


def _postgresql(url: URL, read_only: bool) -> Database:
    where = url.render_as_string(hide_password=True)
    engines = (
        _postgresql_engine(url, "SET synchronous_commit = on"),
        _postgresql_engine(url, "SET synchronous_commit = off"),
        _postgresql_engine(
            url, "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"
        ),
    )
    return _Connected(where=where, path=None, engines=engines, read_only=read_only)


def _postgresql_engine(url: URL, setting: str) -> Engine:
    engine = create_engine(
        url,
        pool_size=4,
        max_overflow=16,
        pool_pre_ping=True,
        connect_args={"connect_timeout": 10, "application_name": "aircoding"},
    )

    @event.listens_for(engine, "connect")
    def _set(connection: object, _record: object) -> None:
        cursor = connection.cursor()  # type: ignore[attr-defined]  # a DBAPI connection
        cursor.execute(setting)
        cursor.close()
        connection.commit()  # type: ignore[attr-defined]  # else the pool's rollback undoes it

    return engine
