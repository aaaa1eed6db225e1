"""`aircoding context omissions` and `conflicts`: what prompts left out, and what contradicted itself in them."""

from __future__ import annotations

from pathlib import Path

import click

from aircoding.cli.output import MOST_LINES, emit, json_option, note
from aircoding.records.layers import Layer, Reason

__all__ = ["conflicts", "omissions"]

_run = click.option("--run", "run_id", help="A run, or `all`; default the newest one.")
_task = click.option("--task", "task_id", help="Only this task's workers.")
_role = click.option("--role", help="Only this role; default all.")
_limit = click.option("--limit", type=click.IntRange(1, MOST_LINES), default=20, show_default=True)
_offset = click.option("--offset", type=click.IntRange(0, MOST_LINES), default=0)


@click.command()
@_run
@_task
@_role
@click.option("--layer", type=click.Choice([layer.value for layer in Layer]))
@click.option("--reason", type=click.Choice([reason.value for reason in Reason]))
@click.option("--manifest", "manifest_id", help="Only this assembly.")
@_limit
@_offset
@json_option
def omissions(
    run_id: str | None,
    task_id: str | None,
    role: str | None,
    layer: str | None,
    reason: str | None,
    manifest_id: str | None,
    limit: int,
    offset: int,
    as_json: bool,
) -> None:
    """Say what was left out of prompts or shortened, by source and reason, and what would let it in; the most first."""
    from aircoding.app.questions.omissions import Asked
    from aircoding.app.questions.omissions import omissions as ask
    from aircoding.cli.context.omission_answers import omissions_text

    asked = Asked(
        start=Path.cwd(),
        run_id=run_id,
        task_id=task_id,
        role=role,
        layer=layer,
        reason=reason,
        manifest_id=manifest_id,
    )
    found = ask(asked, limit=limit, offset=offset)
    emit("omissions", found, as_json=as_json, text=lambda: omissions_text(found))
    _more(len(found.page), found.total, offset, as_json=as_json)


@click.command()
@_run
@_task
@_role
@_limit
@_offset
@json_option
def conflicts(
    run_id: str | None, task_id: str | None, role: str | None, limit: int, offset: int, as_json: bool
) -> None:
    """Say in whose prompts contradictions stood, and what held there. To rule on one: `aircoding conflicts rule`."""
    from aircoding.app.questions.omissions import Asked, met_conflicts
    from aircoding.cli.context.omission_answers import conflicts_text

    asked = Asked(start=Path.cwd(), run_id=run_id, task_id=task_id, role=role)
    found = met_conflicts(asked, limit=limit, offset=offset)
    emit("conflicts", found, as_json=as_json, text=lambda: conflicts_text(found))
    _more(len(found.page), found.total, offset, as_json=as_json)


def _more(shown: int, total: int, offset: int, *, as_json: bool) -> None:
    if offset + shown < total and not as_json:
        note(f"{offset + shown} of {total} shown; go on with --offset {offset + shown}")
