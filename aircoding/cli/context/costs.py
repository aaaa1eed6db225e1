"""`aircoding context costs`: what a run's prompts and answers cost."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from aircoding.cli.output import MOST_LINES, emit, json_option, note

if TYPE_CHECKING:
    from aircoding.app.questions.costs import By

__all__ = ["costs"]


@click.command()
@click.option("--run", "run_id", help="A run, or `all`; default the newest one.")
@click.option("--by", type=click.Choice(["task", "role", "layer", "model"]), default="task", show_default=True)
@click.option("--limit", type=click.IntRange(1, MOST_LINES), default=50, show_default=True)
@click.option("--offset", type=click.IntRange(0, MOST_LINES), default=0)
@json_option
def costs(run_id: str | None, by: str, limit: int, offset: int, as_json: bool) -> None:
    """Say what prompts and answers cost by task, role, layer or model, and what of it was measured."""
    from aircoding.app.questions.costs import costs as ask
    from aircoding.cli.context.cost_answers import basis_of, costs_text

    found = ask(Path.cwd(), run_id=run_id, by=cast("By", by), limit=limit, offset=offset)
    emit("costs", found, as_json=as_json, text=lambda: costs_text(found), basis=basis_of(found))
    shown = offset + len(found.rows or found.layers)
    if shown < found.total and not as_json:
        note(f"{shown} of {found.total} shown; go on with --offset {shown}")
