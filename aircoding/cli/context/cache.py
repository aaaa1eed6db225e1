"""`aircoding context cache`: what a call read from the prompt cache."""

from __future__ import annotations

from pathlib import Path

import click

from aircoding.cli.output import emit, json_option

__all__ = ["cache"]


@click.command()
@click.argument("manifest_id")
@click.option("--against", help="The earlier assembly whose bytes it should share; default the turn before.")
@json_option
def cache(manifest_id: str, against: str | None, as_json: bool) -> None:
    """Say what the call of an assembly read from the prompt cache, what it should have read, and why it did not."""
    from aircoding.app.questions.cache_reports import cache_report
    from aircoding.cli.context.cache_answers import cache_text

    report = cache_report(Path.cwd(), manifest_id, against=against)
    emit("cache", report, as_json=as_json, text=lambda: cache_text(report))
