"""`aircoding context diff`: what changed between two prompts."""

from __future__ import annotations

from pathlib import Path

import click

from aircoding.cli.context import diff_answers
from aircoding.cli.output import emit, json_option

__all__ = ["diff"]


@click.command()
@click.argument("before")
@click.argument("after")
@click.option("--exit-code", is_flag=True, help="Exit with 1 when they differ.")
@json_option
def diff(before: str, after: str, exit_code: bool, as_json: bool) -> None:
    """Say what changed between two assemblies: segments, layers, omissions, conflicts, shared prefix."""
    from aircoding.app.questions.differences import diff_contexts

    difference = diff_contexts(Path.cwd(), before, after)
    emit("difference", difference, as_json=as_json, text=lambda: diff_answers.diff_text(difference))
    if exit_code and not difference.empty:
        raise SystemExit(1)
