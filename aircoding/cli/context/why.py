"""`aircoding context why`, `why-not`, `who-saw`: how a text came to a worker, or did not."""

from __future__ import annotations

from pathlib import Path

import click

from aircoding.cli.context import why_answers
from aircoding.cli.output import emit, json_option

__all__ = ["who_saw", "why", "why_not"]

_run = click.option("--run", "run_id", help="A run; default the newest one, or all where that makes sense.")
_manifest = click.option("--manifest", "manifest_id", help="Only this assembly.")


@click.command()
@click.argument("text")
@_run
@_manifest
@json_option
def why(text: str, run_id: str | None, manifest_id: str | None, as_json: bool) -> None:
    """Say where TEXT stands in prompts, whose it is, and what let it in."""
    from aircoding.app.questions.why import why_text

    places = why_text(Path.cwd(), text, run_id=run_id, manifest_id=manifest_id)
    emit("places", places, as_json=as_json, text=lambda: why_answers.why_text(text, places))


@click.command("why-not")
@click.argument("subject")
@_run
@click.option("--task", "task_id", help="Only this task's workers.")
@click.option("--role", help="Only this role.")
@_manifest
@json_option
def why_not(
    subject: str, run_id: str | None, task_id: str | None, role: str | None, manifest_id: str | None, as_json: bool
) -> None:
    """Say why SUBJECT (a path, a rule, FILE#section) was not in a prompt, with file and line, and what changes that."""
    from aircoding.app.questions.why import why_not_subject

    found = why_not_subject(Path.cwd(), subject, run_id=run_id, task_id=task_id, role=role, manifest_id=manifest_id)
    emit("considerations", found, as_json=as_json, text=lambda: why_answers.why_not_text(subject, found))


@click.command("who-saw")
@click.argument("subject")
@_run
@click.option("--role", default="executor", show_default=True, help="A role, or `all`.")
@json_option
def who_saw(subject: str, run_id: str | None, role: str, as_json: bool) -> None:
    """Say which workers had SUBJECT in a prompt, and why others did not: a rule, a path, FILE#section, PATH@DIGEST."""
    from aircoding.app.questions.why import who_saw_subject

    witnesses = who_saw_subject(Path.cwd(), subject, run_id=run_id, role=None if role == "all" else role)
    emit("witnesses", witnesses, as_json=as_json, text=lambda: why_answers.who_saw_text(subject, witnesses))
