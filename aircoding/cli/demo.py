"""`aircoding demo`."""

from __future__ import annotations

from pathlib import Path

import click

from aircoding.cli.output import note
from aircoding.cli.run import Reporter

__all__ = ["demo"]


@click.command()
@click.option(
    "--dir", "folder", type=click.Path(path_type=Path), help="Where to put the project; default a new temporary folder."
)
def demo(folder: Path | None) -> None:
    """Watch a small fleet work: a real repository, real tools and tests, a scripted model, no key, no network."""
    from aircoding.app.demo import run_demo

    reporter = Reporter(as_json=False)
    for line in run_demo(folder, report=reporter, say=note):
        click.echo(line)
