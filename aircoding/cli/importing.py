"""`aircoding import`: take a bundle into the record."""

from __future__ import annotations

from pathlib import Path

import click

from aircoding.cli.output import emit, json_option, progress
from aircoding.records.words import counted

__all__ = ["import_bundle"]


@click.command("import")
@click.argument("bundle", type=click.Path(path_type=Path, exists=True))
@json_option
def import_bundle(bundle: Path, as_json: bool) -> None:
    """Take the run of BUNDLE, as `aircoding export` wrote it, into this project's record.

    All of it is checked first; then it is on record as a whole, or nothing is. It can be asked about like a run of this
    project; it cannot be resumed. Nothing of it is executed, and nothing but the record is written. No repository is
    needed: in a folder that is none, the record is made there.
    """
    from aircoding.app.bundles.reading import import_run

    found = import_run(Path.cwd(), bundle, say=progress)
    if found.known:
        text = f"run {found.run_id}: this bundle was taken in before; nothing to do"
    else:
        without = "" if found.texts == "full" else ", without their texts"
        masked = f", {found.redacted} of them redacted" if found.redacted else ""
        text = (
            f"run {found.run_id} is on record: {counted(found.assemblies, 'recorded prompt')}{masked}{without},"
            f" {counted(found.events, 'event')}\nlook around: aircoding status {found.run_id}"
        )
    emit("import", found, as_json=as_json, text=lambda: text)
