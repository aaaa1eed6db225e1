"""The state of the schema, and bringing it up to date."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from sqlalchemy import Connection, inspect
from sqlalchemy import text as sql

from aircoding.errors import StoreError, UnfitStoreError
from aircoding.store.database import Database

__all__ = [
    "HEAD",
    "VERSION_TABLE",
    "Migrate",
    "SchemaState",
    "head_statements",
    "prepare_schema",
    "read_schema_state",
    "run_migrations",
    "upgrade_schema",
]

HEAD = "0011_text_words"
"""The newest revision; kept here so that opening a store need not load Alembic (a test compares them)."""
KNOWN = (
    "0001",
    "0002_unit_prices",
    "0003_run_confinement",
    "0004_hook_results",
    "0005_run_profile",
    "0006_lean_accounts",
    "0007_text_index",
    "0008_run_keeping",
    "0009_digest_bytes",
    "0010_short_rows",
    "0011_text_words",
)
VERSION_TABLE = "aircoding_schema"
"""A name of our own, since a PostgreSQL schema may hold another program's `alembic_version`."""
_MIGRATIONS = Path(__file__).parent / "migrations"
_HEAD_FILE = _MIGRATIONS / "head.sqlite.sql"
_LOCK_KEY = 0x61697263
"""The advisory lock under which PostgreSQL schemas are made (`airc`)."""

Migrate = Literal["create", "upgrade", "never"]
"""What opening may do: make the schema in an empty database, bring an old one up to date as well, or neither."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaState:
    """`status` is empty, current, behind, newer (a later program wrote it) or foreign (not ours)."""

    status: Literal["empty", "current", "behind", "newer", "foreign"]
    current: str | None
    head: str = HEAD


def read_schema_state(database: Database) -> SchemaState:
    """Return the state of the schema.

    Raises:
        StoreError: the database cannot be read.
    """
    with database.read() as connection:
        return _state(connection)


def _state(connection: Connection) -> SchemaState:
    names = set(inspect(connection).get_table_names())
    if VERSION_TABLE not in names:
        ours = {"runs", "events", "texts", "assemblies"}
        foreign = bool(names) if connection.dialect.name == "sqlite" else bool(names & ours)
        return SchemaState(status="foreign" if foreign else "empty", current=None)
    current = connection.execute(sql(f"SELECT version_num FROM {VERSION_TABLE}")).scalar()  # noqa: S608 - a constant
    if current is None:
        return SchemaState(status="empty", current=None)
    if current not in KNOWN:
        return SchemaState(status="newer", current=current)
    return SchemaState(status="current" if current == HEAD else "behind", current=current)


def prepare_schema(database: Database, migrate: Migrate) -> SchemaState:
    """Check the schema on opening, and make or upgrade it as far as `migrate` allows.

    Raises:
        StoreError: it is not one that this program can work on.
    """
    state = read_schema_state(database)
    if migrate == "never" or state.status == "current":
        return state
    if state.status == "empty" and not database.read_only:
        return upgrade_schema(database)[0]
    if state.status == "behind" and migrate == "upgrade" and not database.read_only:
        return upgrade_schema(database)[0]
    raise _cannot_use(database, state)


def _cannot_use(database: Database, state: SchemaState) -> UnfitStoreError:
    where = database.where
    if state.status == "newer":
        return UnfitStoreError(
            f"The database {where} has schema {state.current}; this program knows up to {HEAD}.",
            hint="Upgrade aircoding, or restore the backup that was made before the database was upgraded.",
            code="store.newer",
        )
    if state.status == "foreign":
        return UnfitStoreError(
            f"The database {where} holds tables of another program.",
            hint="Give a file of its own (AIR_DATABASE_URL), or a PostgreSQL schema of its own.",
            code="store.foreign",
        )
    if state.status == "empty":
        return UnfitStoreError(
            f"The database {where} is empty.", hint="Run `aircoding run` first.", code="store.absent"
        )
    return UnfitStoreError(
        f"The database {where} has schema {state.current}, this program needs {HEAD}.",
        hint="Run `aircoding db upgrade` (a SQLite file is backed up first).",
        code="store.behind",
    )


def upgrade_schema(database: Database, *, now: Callable[[], str] | None = None) -> tuple[SchemaState, Path | None]:
    """Bring the schema to HEAD in one transaction.

    Whoever comes at the same time waits, finds it done, and makes no copy of its own.

    Args:
        database: the database.
        now: names the backup (RFC 3339); needed when there is something to back up.

    Returns:
        The new state, and the backup of a SQLite file that held something.

    Raises:
        StoreError: it is newer, foreign, or cannot be written.
    """
    if read_schema_state(database).status == "current":
        return read_schema_state(database), None

    def body(connection: Connection) -> Path | None:
        if connection.dialect.name == "postgresql":
            connection.execute(sql("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK_KEY})
        state = _state(connection)
        if state.status in {"newer", "foreign"}:
            raise _cannot_use(database, state)
        if state.status == "current":
            return None  # another process was first
        backup = None
        if state.status == "behind" and database.path is not None:
            stamp = "" if now is None else "-" + now().translate(str.maketrans("", "", "-:."))
            backup = _back_up(database.path, f"backup-{state.current}{stamp}")
        _migrate(connection)
        return backup

    backup = database.write(body, durable=True)
    return read_schema_state(database), backup


def _migrate(connection: Connection) -> None:
    if connection.dialect.name == "postgresql":
        connection.execute(sql("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK_KEY})
    status = _state(connection).status
    if status == "current":
        return  # another process was first
    if status == "empty" and connection.dialect.name == "sqlite":
        for statement in head_statements():
            connection.exec_driver_sql(statement)
        return
    run_migrations(connection)


def head_statements() -> list[str]:
    """Return what makes the newest schema in an empty SQLite file: what all migrations made, as SQLite wrote it down.

    It takes a thirtieth of the time of the migrations. A test compares the two.
    """
    return _HEAD_FILE.read_text("utf-8").removesuffix(";\n").split(";\n\n")


def run_migrations(connection: Connection) -> None:
    """Run all migrations that the database has not seen, in the connection's transaction."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def _back_up(path: Path, suffix: str) -> Path:
    """Copy a live SQLite file, WAL included; the copy has its name when it is whole.

    Nobody else upgrades it meanwhile, so a half copy that is there was left by one that was killed.
    """
    target, part = path.with_name(f"{path.name}.{suffix}"), path.with_name(f"{path.name}.backup.part")
    try:
        part.unlink(missing_ok=True)
        with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(part)) as copy:
            source.backup(copy)
        part.replace(target)
    except (sqlite3.Error, OSError) as error:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        raise StoreError(
            f"The database {path} could not be backed up to {target}: {error}",
            hint="Free disk space or make the directory writable; the database was not changed.",
            code="store.backup",
        ) from None
    return target
