"""`aircoding emulator`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aircoding.cli.output import emit, json_option, note

if TYPE_CHECKING:
    from aircoding.app.emulator import Served

__all__ = ["emulator"]


@click.command()
@click.option("--script", type=click.Path(path_type=Path), required=True, help="The scripted model's file.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port on 127.0.0.1; default a free one.")
@click.option("--model", "models", multiple=True, help="Answer for this model too, with the limits of the script's.")
@json_option
def emulator(script: Path, port: int, models: tuple[str, ...], as_json: bool) -> None:
    """Serve a scripted Messages API on 127.0.0.1 until Ctrl-C, which is its normal end (exit code 0).

    The variables that a client needs are printed on stdout as `export` lines; each request is told on stderr.
    """
    from aircoding.app.emulator import serve_emulator

    def ready(served: Served) -> None:
        lines = (f"export {name}={value}" for name, value in served.environment.items())
        emit("emulator", served, as_json=as_json, text=lambda: "\n".join(lines))
        sys.stdout.flush()
        note(f"serving {served.script} at {served.base_url}; usage is simulated; Ctrl-C ends it")

    serve_emulator(script, port=port, models=models, ready=ready, report=note)
    note("stopped")
