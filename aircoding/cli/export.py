"""`aircoding export`: a recorded run in a form that other programs read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from aircoding.cli.output import emit, json_option, note, progress
from aircoding.records.words import counted

if TYPE_CHECKING:
    from aircoding.app.bundles.writing import BundleReport

__all__ = ["export"]


class _RunByDefault(click.Group):
    """A group in which `export RUN` means `export run RUN`: that is what a person types who knows no more."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put `run` before what is no command of ours."""
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            args = ["run", *args]
        return super().parse_args(ctx, args)


@click.group(cls=_RunByDefault)
def export() -> None:
    """Write a recorded run for elsewhere: as a bundle that `aircoding import` reads, or as spans.

    `aircoding export RUN` is short for `aircoding export run RUN`.
    """


@export.command()
@click.argument("run_id", required=False)
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    help="A .tar.gz, a .zip, or a new folder; default RUN.tar.gz here. An archive that is there is replaced.",
)
@click.option(
    "--no-texts", is_flag=True, help="Leave out all texts: what was decided and what it cost, not what was said."
)
@click.option("--mask-paths", is_flag=True, help="Mask home folders in prompts too; those are then marked redacted.")
@json_option
def run(run_id: str | None, output: Path | None, no_texts: bool, mask_paths: bool, as_json: bool) -> None:
    """Write RUN_ID (default: the newest run) as a bundle: prompts, manifests, events, results as JSON Lines.

    Secrets are masked once more on the way out. A prompt that held one is marked redacted; all others can be replayed
    byte for byte where the bundle is taken in. Outside of prompts, paths and names of this machine are masked as well.
    """
    from aircoding.app.bundles.writing import export_run

    report = export_run(Path.cwd(), run_id, output, texts=not no_texts, mask_paths=mask_paths, say=progress)
    emit("export", report, as_json=as_json, text=lambda: _bundled(report))


def _bundled(report: BundleReport) -> str:
    redaction = report.redaction
    masked = ", ".join(f"{count} {kind}" for kind, count in redaction.secrets.items())
    lines = [f"run {report.run_id}, {counted(report.assemblies, 'recorded prompt')}: {report.file}"]
    if report.texts == "none":
        lines.append("without texts: the account alone")
    lines.append(f"secrets masked: {masked or 'none'}; prompts marked redacted: {redaction.assemblies}")
    if redaction.texts_with_paths:
        lines.append(
            f"{counted(redaction.texts_with_paths, 'text')} of prompts name a folder of this machine;"
            " --mask-paths masks that too"
        )
    return "\n".join(lines)


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
