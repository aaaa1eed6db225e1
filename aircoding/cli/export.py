"""`aircoding export`: a recorded run in a form that other programs read."""

from __future__ import annotations

from pathlib import Path

import click

from aircoding.cli.output import emit, json_option, note
from aircoding.records.words import counted

__all__ = ["export"]


@click.group()
def export() -> None:
    """Write a recorded run in a form that other programs read."""


@export.command()
@click.argument("run_id", required=False)
@click.option(
    "--output", type=click.Path(path_type=Path, dir_okay=False), help="A file instead of stdout; one there is replaced."
)
@json_option
def spans(run_id: str | None, output: Path | None, as_json: bool) -> None:
    """Write the spans of RUN_ID (default: the newest run) as OTLP/JSON: one document a line.

    Sessions, model calls and tool calls with their times, tokens and errors, by OpenTelemetry's GenAI conventions. No
    text of a prompt, a reply, a tool's arguments or its result is in them. --json says as JSON what went into the file.
    """
    from aircoding.app.exporting import export_spans, export_spans_to_file

    if output is None:
        if as_json:
            raise click.UsageError(
                "without --output the spans themselves are printed, and are JSON; --json needs a file"
            )
        export_spans(Path.cwd(), run_id, write=click.echo)
        return
    found = export_spans_to_file(Path.cwd(), run_id, output)
    text = f"{counted(found.spans, 'span')} of run {found.run_id} in {counted(found.sessions, 'session')}: {found.file}"
    emit("export", found, as_json=as_json, text=lambda: text)
    if found.unended and not as_json:
        note(f"{counted(found.unended, 'span')} without an end of its own: marked aircoding.unended")
