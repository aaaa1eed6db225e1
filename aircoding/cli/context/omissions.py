"""`aircoding context omissions` and `conflicts`: what prompts left out, and what contradicted itself in them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from aircoding.cli.context.asked import asked_options, manifest_option
from aircoding.cli.output import json_option
from aircoding.cli.paging import emit_paged, page_options
from aircoding.records.layers import Layer, Reason

if TYPE_CHECKING:
    from aircoding.app.questions.asking import Asked, Page

__all__ = ["conflicts", "omissions"]


@click.command()
@asked_options()
@click.option("--layer", type=click.Choice([layer.value for layer in Layer]))
@click.option("--reason", type=click.Choice([reason.value for reason in Reason]))
@manifest_option
@page_options(limit=20)
@json_option
def omissions(
    asked: Asked, page: Page, layer: str | None, reason: str | None, manifest_id: str | None, as_json: bool
) -> None:
    """Say what was left out of prompts or shortened, by source and reason, and what would let it in; the most first."""
    from aircoding.app.questions.omissions import omissions as ask
    from aircoding.cli.context.omission_answers import omissions_text

    found = ask(Path.cwd(), asked, page=page, layer=layer, reason=reason, manifest_id=manifest_id)
    emit_paged(found, as_json=as_json, text=lambda: omissions_text(found))


@click.command()
@asked_options()
@page_options(limit=20)
@json_option
def conflicts(asked: Asked, page: Page, as_json: bool) -> None:
    """Say in whose prompts contradictions stood, and what held there. To rule on one: `aircoding conflicts rule`."""
    from aircoding.app.questions.omissions import met_conflicts
    from aircoding.cli.context.omission_answers import conflicts_text

    found = met_conflicts(Path.cwd(), asked, page=page)
    emit_paged(found, as_json=as_json, text=lambda: conflicts_text(found))
