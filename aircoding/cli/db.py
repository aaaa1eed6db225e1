"""`aircoding db`: the database."""

from __future__ import annotations

from pathlib import Path

import click

from aircoding.cli.output import emit, json_option, table

__all__ = ["db"]


@click.group()
def db() -> None:
    """Upgrade the database, or say what is in it."""


@db.command()
@json_option
def upgrade(as_json: bool) -> None:
    """Bring the database to this version's schema; a SQLite file is copied first."""
    from aircoding.app.records import upgrade_database

    report = upgrade_database(Path.cwd())
    emit("database", report, as_json=as_json, text=lambda: f"{report.location}: schema {report.revision}")


@db.command()
@json_option
def info(as_json: bool) -> None:
    """Say where the database is, its schema, and how much is in it."""
    from aircoding.app.records import database_info

    report = database_info(Path.cwd())
    rows = list(report.rows.items())
    text = f"{report.location}\nschema {report.revision}\n\n"
    emit("database", report, as_json=as_json, text=lambda: text + table(("table", "rows"), rows))
