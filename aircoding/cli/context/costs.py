"""`aircoding context costs`: what a run's prompts and answers cost."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from aircoding.cli.output import json_option
from aircoding.cli.paging import emit_paged, page_options

if TYPE_CHECKING:
    from aircoding.app.questions.asking import Page
    from aircoding.app.questions.costs import By

__all__ = ["costs"]


@click.command()
@click.option("--run", "run_id", help="A run, or `all`; default the newest one.")
@click.option("--by", type=click.Choice(["task", "role", "layer", "model"]), default="task", show_default=True)
@page_options()
@json_option
def costs(run_id: str | None, by: str, page: Page, as_json: bool) -> None:
    """Say what prompts and answers cost by task, role, layer or model, and what of it was measured."""
    from aircoding.app.questions.costs import costs as ask
    from aircoding.cli.context.cost_answers import costs_text

    found = ask(Path.cwd(), run_id=run_id, by=cast("By", by), page=page)
    emit_paged(found, as_json=as_json, text=lambda: costs_text(found))
