"""`aircoding context blame`: each line of a prompt with its layer, source, version and rule."""

from __future__ import annotations

from pathlib import Path

import click

from aircoding.cli.output import emit, json_option

__all__ = ["blame"]


@click.command()
@click.argument("manifest_id")
@click.option("--block", help="One block: its number in the request, from 1, or its JSON pointer.")
@click.option("--layer", type=click.Choice([f"L{number}" for number in range(10)]), help="Only lines of this layer.")
@click.option("--source", help="Only lines of this source: a path, the end of one, or a uri.")
@json_option
def blame(manifest_id: str, block: str | None, layer: str | None, source: str | None, as_json: bool) -> None:
    """Say for each line of a prompt whose it is: layer, source and line, version, rule."""
    from aircoding.app.questions.blames import blame_recorded
    from aircoding.cli.context.blame_answers import blame_document, blame_text

    lines = blame_recorded(Path.cwd(), manifest_id, block=block, layer=layer, source=source)
    emit("blame", blame_document(lines) if as_json else lines, as_json=as_json, text=lambda: blame_text(lines))
