"""The database: bring it up to date, say what is in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from aircoding.app.project import open_recorded

__all__ = ["DatabaseReport", "UpgradeReport", "database_info", "upgrade_database"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseReport:
    """Where the database is (without a password), its schema, and its rows by table."""

    location: str
    revision: str
    rows: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class UpgradeReport:
    """Where the database is (without a password), its schema now and before, and the copy of a file as it was.

    `before` is None where it was up to date already or is new; `backup` too, and where a server holds it.
    """

    location: str
    revision: str
    before: str | None
    backup: str | None


def upgrade_database(start: Path) -> UpgradeReport:
    """Bring the project's database to this version's schema.

    Raises:
        StoreError: it cannot be upgraded; it is as it was.
    """
    project = open_recorded(start)
    # One that is there is opened as it can be: where it is up to date, nothing need be written.
    is_new = "://" not in project.database and not Path(project.database).exists()
    with project.open_store(create=is_new, migrate="never") as store:
        before = store.schema_state()
        after, backup = store.upgrade()
        return UpgradeReport(
            location=store.where,
            revision=after.current or "",
            before=before.current if before.status == "behind" else None,
            backup=None if backup is None else str(backup),
        )


def database_info(start: Path) -> DatabaseReport:
    """Say what is in the project's database."""
    with open_recorded(start).open_store() as store:
        state = store.schema_state()
        return DatabaseReport(location=store.where, revision=state.current or "", rows=store.index.row_counts())
