"""`aircoding context replay`: a recorded request again, from the store alone."""

from __future__ import annotations

from pathlib import Path

import click

from aircoding.cli.context import replay_answers
from aircoding.cli.output import emit, json_option

__all__ = ["replay"]


@click.command()
@click.argument("manifest_id", required=False)
@click.option(
    "--all", "whole_run", is_flag=True, help="MANIFEST_ID is a run (default the newest): replay every assembly of it."
)
@click.option("--request", "show_request", is_flag=True, help="Print the request itself, byte for byte.")
@json_option
def replay(manifest_id: str | None, whole_run: bool, show_request: bool, as_json: bool) -> None:
    """Rebuild a recorded request from the store alone, and compare its digest with the recorded one."""
    from aircoding.app.questions.assemblies import load_context
    from aircoding.app.questions.replays import replay_contexts
    from aircoding.records.digests import canonical_json

    if show_request:
        if manifest_id is None:
            raise click.UsageError("--request needs an assembly: see `aircoding context list`")
        click.echo(canonical_json(load_context(Path.cwd(), manifest_id).request).decode("utf-8"))
        return
    replays = replay_contexts(Path.cwd(), manifest_id, whole_run=whole_run)
    emit("replays", replays, as_json=as_json, text=lambda: replay_answers.replay_text(replays))
    if any(not (one.equal or one.redacted) for one in replays):
        raise SystemExit(1)
