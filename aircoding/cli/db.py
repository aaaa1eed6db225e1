"""`aircoding db`: the database."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from aircoding.cli.output import emit, json_option, table
from aircoding.records.words import counted

if TYPE_CHECKING:
    from aircoding.app.pruning import PruneReport
    from aircoding.app.records import UpgradeReport

__all__ = ["db"]


@click.group()
def db() -> None:
    """Upgrade the database, say what is in it, or let go of what is old."""


@db.command()
@json_option
def upgrade(as_json: bool) -> None:
    """Bring the database to this version's schema; a SQLite file is copied first."""
    from aircoding.app.records import upgrade_database

    report = upgrade_database(Path.cwd())
    emit("database", report, as_json=as_json, text=lambda: _upgraded(report))


def _upgraded(report: UpgradeReport) -> str:
    if report.before is None:
        return f"{report.location}: schema {report.revision}, up to date"
    copied = "" if report.backup is None else f"\nthe file as it was: {report.backup}"
    return f"{report.location}: schema {report.revision}, was {report.before}{copied}"


@db.command()
@json_option
def info(as_json: bool) -> None:
    """Say where the database is, its schema, and how much is in it."""
    from aircoding.app.records import database_info

    report = database_info(Path.cwd())
    rows = list(report.rows.items())
    text = f"{report.location}\nschema {report.revision}\n\n"
    emit("database", report, as_json=as_json, text=lambda: text + table(("table", "rows"), rows))


_UNITS = {"h": "hours", "d": "days", "w": "weeks"}


class _Age(click.ParamType[timedelta]):
    """A number with its unit: `12h`, `30d`, `8w`."""

    name = "AGE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> timedelta:
        """Return the age."""
        match = re.fullmatch(r"([0-9]{1,5})([hdw])", value) if isinstance(value, str) else None
        if match is None:
            self.fail(f"{value!r} is no age; write 12h, 30d or 8w", param, ctx)
        return timedelta(**{_UNITS[match[2]]: int(match[1])})


@db.command()
@click.option("--older-than", type=_Age(), help="Runs that ended longer ago than this: 12h, 30d, 8w.")
@click.option("--keep-runs", type=click.IntRange(min=0), help="Keep the newest N runs, whatever their age.")
@click.option("--bodies-only", is_flag=True, help="Keep the account of these runs; only their texts go.")
@click.option("--include-unfinished", is_flag=True, help="Also runs that could be resumed; never one that goes on.")
@click.option("--dry-run", is_flag=True, help="Say what would go; change nothing.")
@json_option
def prune(
    older_than: timedelta | None,
    keep_runs: int | None,
    bodies_only: bool,
    include_unfinished: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Remove old runs from the record, or only their texts; whatever a run that stays needs is kept.

    Name an age, or how many runs stay; with both, a run goes when both say so. Worktrees are never removed.
    """
    from aircoding.app.pruning import Wanted, prune_record

    if older_than is None and keep_runs is None:
        raise click.UsageError("say what may go: --older-than 30d, or --keep-runs 20")
    wanted = Wanted(
        older_than=older_than,
        keep_runs=keep_runs or 0,
        bodies_only=bodies_only,
        include_unfinished=include_unfinished,
    )
    report = prune_record(Path.cwd(), wanted, dry_run=dry_run)
    emit("prune", report, as_json=as_json, text=lambda: _pruned(report))


def _pruned(report: PruneReport) -> str:
    runs, texts = counted(len(report.runs), "run"), counted(report.texts, "text")
    what = f"the texts of {runs}" if report.bodies_only else runs
    removed, freed = ("would remove", "would free") if report.dry_run else ("removed", "freed")
    lines = [
        f"{removed} {what}",
        *(f"  {run}  {_age(report, run)}" for run in report.runs),
        f"{freed} {texts} that nothing else needs, {report.stored_bytes:,} bytes as stored",
    ]
    if report.kept:
        stay = "would stay" if report.dry_run else "stayed"
        lines.append(f"{counted(len(report.kept), 'run')} of that age {stay}")
        lines += [f"  {run}  {_age(report, run)}: {why}" for run, why in report.kept.items()]
    if report.others:
        lines.append(f"{counted(report.others, 'run')} not asked about: newer than that, or of those to keep")
    if report.size_before_bytes is not None and report.size_bytes is not None:
        lines.append(f"the file: {report.size_before_bytes:,} bytes before, {report.size_bytes:,} now")
    if report.remark:
        lines.append(report.remark)
    if report.dry_run:
        lines.append("nothing was changed")
    return "\n".join(lines)


def _age(report: PruneReport, run: str) -> str:
    ended = datetime.fromisoformat(report.ended_at[run])
    hours = max(0, int((datetime.fromisoformat(report.at) - ended).total_seconds())) // 3600
    age = counted(hours // 24, "day") if hours >= 48 else counted(hours, "hour")
    return f"ended {ended:%Y-%m-%d %H:%M} UTC, {age} ago"
