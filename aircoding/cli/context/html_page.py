"""The option `--html`: an assembly as a page in a file of its own."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aircoding.cli.output import emit

if TYPE_CHECKING:
    from aircoding.records.manifest import AssembledContext

__all__ = ["emit_html", "html_option"]

html_option = click.option(
    "--html",
    "page_file",
    type=click.Path(path_type=Path, allow_dash=True),
    metavar="FILE",
    help="Write one HTML page that needs no network to FILE (one there is replaced); - for stdout.",
)


def emit_html(assembled: AssembledContext, file: Path, *, as_json: bool) -> None:
    """Write the page of an assembly and say where it is; to stdout goes the page itself and nothing else."""
    from aircoding.app.questions.pages import inspector_text, write_inspector

    if str(file) == "-":
        if as_json:
            raise click.UsageError("--html - prints the page itself; --json needs a file")
        sys.stdout.buffer.write(inspector_text(assembled).encode("utf-8"))
        return
    written = write_inspector(assembled, file)
    emit("page", written, as_json=as_json, text=lambda: f"the page of {written.manifest_id} is in {written.file}")
