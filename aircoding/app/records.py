"""The database: bring it up to date, say what is in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from aircoding.app.project import open_project

__all__ = ["DatabaseReport", "database_info", "upgrade_database"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseReport:
    """Where the database is (without a password), its schema, and its rows by table."""

    location: str
    revision: str
    rows: Mapping[str, int]


def upgrade_database(start: Path) -> DatabaseReport:
    """Bring the project's database to this version's schema.

    Raises:
        StoreError: it cannot be upgraded; it is as it was.
    """
    project = open_project(start)
    with project.open_store(create=True, migrate="never") as store:
        store.upgrade()
        return DatabaseReport(location=store.where, revision=store.schema_state().current or "", rows={})


def database_info(start: Path) -> DatabaseReport:
    """Say what is in the project's database."""
    with open_project(start).open_store() as store:
        state = store.schema_state()
        return DatabaseReport(location=store.where, revision=state.current or "", rows=store.index.row_counts())
