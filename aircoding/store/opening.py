"""Open a store: one database, and a log for each thing that is recorded in it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Self, TypeVar

from aircoding.store.database import Database, connect_database
from aircoding.store.fences import Fences
from aircoding.store.schema import Migrate, SchemaState, prepare_schema, read_schema_state, upgrade_schema

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from aircoding.store.accounting import Accounting
    from aircoding.store.assemblies import AssemblyStore
    from aircoding.store.calibration import UsageSamples
    from aircoding.store.calls import CallStore
    from aircoding.store.describe import StoreDescription
    from aircoding.store.events import EventStore
    from aircoding.store.heads import Index
    from aircoding.store.hooks import HookStore
    from aircoding.store.pruning import Pruner
    from aircoding.store.queries import Queries
    from aircoding.store.rulings import RulingStore
    from aircoding.store.runs import RunStore
    from aircoding.store.sessions import SessionStore
    from aircoding.store.sightings import Sightings
    from aircoding.store.text_search import TextSearch
    from aircoding.store.texts import TextStore
    from aircoding.store.tools import ToolStore

__all__ = ["Store", "open_store"]

Value = TypeVar("Value")


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


class Store:
    """The record. Writes for a run that this store claimed are checked against the run's fence.

    Each log is made, and its module imported, when it is first asked for: a question needs two of them.

    Args:
        database: where it is.
        now: the time as RFC 3339 in UTC, for the `*_at` of what carries no time of its own.
    """

    def __init__(self, database: Database, *, now: Callable[[], str] = _now) -> None:
        self._database = database
        self._now = now
        self._fences = Fences()

    @cached_property
    def events(self) -> EventStore:
        """The log of events."""
        from aircoding.store.events import EventStore

        return EventStore(self._database, self._fences)

    @cached_property
    def texts(self) -> TextStore:
        """Texts by their digest."""
        from aircoding.store.texts import TextStore

        return TextStore(self._database, self._now)

    @cached_property
    def runs(self) -> RunStore:
        """Runs and where their tasks stand."""
        from aircoding.store.runs import RunStore

        return RunStore(self._database, self._fences, self._now)

    @cached_property
    def sessions(self) -> SessionStore:
        """Sessions and their messages."""
        from aircoding.store.sessions import SessionStore

        return SessionStore(self._database, self._fences, self._now)

    @cached_property
    def assemblies(self) -> AssemblyStore:
        """Requests with their manifests."""
        from aircoding.store.assemblies import AssemblyStore

        return AssemblyStore(self._database, self._fences, self._now)

    @cached_property
    def calls(self) -> CallStore:
        """Model calls."""
        from aircoding.store.calls import CallStore

        return CallStore(self._database, self._fences, self._now)

    @cached_property
    def usage(self) -> UsageSamples:
        """What calls were measured at."""
        from aircoding.store.calibration import UsageSamples

        return UsageSamples(self._database)

    @cached_property
    def tools(self) -> ToolStore:
        """Tool calls."""
        from aircoding.store.tools import ToolStore

        return ToolStore(self._database, self._fences, self._now)

    @cached_property
    def hooks(self) -> HookStore:
        """What hooks gave."""
        from aircoding.store.hooks import HookStore

        return HookStore(self._database, self._fences, self._now)

    @cached_property
    def rulings(self) -> RulingStore:
        """What people ruled on conflicts."""
        from aircoding.store.rulings import RulingStore

        return RulingStore(self._database, self._now)

    @cached_property
    def index(self) -> Index:
        """Heads of assemblies, sessions and tool calls."""
        from aircoding.store.heads import Index

        return Index(self._database)

    @cached_property
    def queries(self) -> Queries:
        """What was paid and what happened."""
        from aircoding.store.queries import Queries

        return Queries(self._database)

    @cached_property
    def search(self) -> TextSearch:
        """Search in all texts."""
        from aircoding.store.text_search import TextSearch

        return TextSearch(self._database)

    @cached_property
    def sightings(self) -> Sightings:
        """Who saw what."""
        from aircoding.store.sightings import Sightings

        return Sightings(self._database)

    @cached_property
    def accounting(self) -> Accounting:
        """What was paid, and what prompts left out, summed up."""
        from aircoding.store.accounting import Accounting

        return Accounting(self._database)

    @cached_property
    def pruner(self) -> Pruner:
        """Lets old runs and their texts go."""
        from aircoding.store.pruning import Pruner

        return Pruner(self._database, self._now)

    @property
    def where(self) -> str:
        """The database, without a password."""
        return self._database.where

    def claim(self, run_id: str) -> int:
        """Become the owner of a run; whoever was it before can write nothing more.

        Raises:
            NotFoundError: no such run.
        """
        fence = self._database.write(lambda connection: self._fences.advance(connection, run_id), durable=True)
        self._fences.hold(run_id, fence)
        return fence

    def adopt(self, run_id: str, fence: int) -> None:
        """Write with a fence that the run's coordinator claimed: a worker process of the same owner."""
        self._fences.hold(run_id, fence)

    def together(self, body: Callable[[Store], Value], *, now: Callable[[], str]) -> Value:
        """Let `body` write through a store whose writes are one transaction, durably; what it raises undoes them all.

        Args:
            body: may run again, where PostgreSQL asks for it; it must do nothing but write to its store.
            now: the time for what carries none of its own, such as that of a record from elsewhere.
        """
        where, path = self._database.where, self._database.path

        def inside(connection: Connection) -> Value:
            from aircoding.store.together import OneTransaction

            return body(Store(OneTransaction(connection, where=where, path=path), now=now))

        return self._database.write(inside, durable=True)

    def schema_state(self) -> SchemaState:
        """Return the state of the schema."""
        return read_schema_state(self._database)

    def upgrade(self) -> tuple[SchemaState, Path | None]:
        """Bring the schema up to date; a SQLite file is copied first, and the copy's path returned.

        Raises:
            StoreError: it cannot be done; the database is as it was.
        """
        return upgrade_schema(self._database, now=self._now)

    def describe(self) -> StoreDescription:
        """Return rows and sizes."""
        from aircoding.store.describe import describe_store

        return describe_store(self._database)

    def close(self) -> None:
        """Let go of all connections; the end of a `with` block does the same."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_store(
    url_or_path: str | Path,
    *,
    read_only: bool = False,
    migrate: Migrate = "create",
    now: Callable[[], str] = _now,
) -> Store:
    """Open the database at a URL or path.

    Args:
        url_or_path: a file (made unless `read_only`), `sqlite:///FILE`, or `postgresql://…`.
        read_only: read only; nothing is changed, and a read-only disk will do.
        migrate: `create` makes the schema in an empty database and refuses an old one, `upgrade` brings
            an old one up to date as well, `never` takes the database as it is (`schema_state` says how).
        now: the time as RFC 3339 in UTC.

    Raises:
        StoreError: it cannot be opened, or its schema is not one that this program can work on.
    """
    database = connect_database(url_or_path, read_only=read_only)
    try:
        prepare_schema(database, migrate)
    except BaseException:
        database.close()
        raise
    return Store(database, now=now)
