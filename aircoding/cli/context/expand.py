"""`aircoding context expand`: what a reference in a prompt stands for."""

from __future__ import annotations

from pathlib import Path

import click

from aircoding.cli.output import emit, json_option

__all__ = ["expand"]


@click.command()
@click.argument("reference")
@click.option("--manifest", help="The assembly that has it: an id, SESSION@TURN, RUN/TASK, ...; default the newest.")
@click.option("--now", is_flag=True, help="The source as it is now, too, and whether it is another.")
@json_option
def expand(reference: str, manifest: str | None, now: bool, as_json: bool) -> None:
    """Print the text that REFERENCE stands for, as it was when the prompt was made.

    REFERENCE is a segment's id or the start of one, PATH#SECTION, PATH:1-20, a uri, a path, a digest, or the
    air:artifact/DIGEST of a large output. The text comes from the store; secrets stay masked.
    """
    from aircoding.app.questions.expansions import expand_reference
    from aircoding.cli.context.expand_answers import expand_text

    found = expand_reference(Path.cwd(), reference, manifest=manifest, now=now)
    emit("expansions", found, as_json=as_json, text=lambda: expand_text(found))
    if any(one.referent.text is None for one in found):
        raise SystemExit(1)
