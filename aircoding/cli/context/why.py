"""`aircoding context why`, `why-not`, `who-saw`: how a text came to a worker, or did not."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from aircoding.cli.context import place_answers, why_answers
from aircoding.cli.context.asked import asked_options, manifest_option
from aircoding.cli.output import json_option, note
from aircoding.cli.paging import emit_paged, page_options

if TYPE_CHECKING:
    from aircoding.app.questions.asking import Asked, Page
    from aircoding.app.questions.why import WhyNot

__all__ = ["who_saw", "why", "why_not"]


@click.command()
@click.argument("text")
@asked_options()
@manifest_option
@page_options()
@click.option("--all", "each", is_flag=True, help="Each place by itself; else those of one text are told as one.")
@json_option
def why(text: str, asked: Asked, page: Page, manifest_id: str | None, each: bool, as_json: bool) -> None:
    """Say where TEXT stands in prompts, whose it is, and what let it in.

    What stands in many prompts is told once, texts of sources first; --all and --json give each place by itself.

    Within one run or assembly every place is found. Over all runs (`--run all`) the index of texts is asked: a text
    that runs over the end of a segment, or that stands in a heading of the prompt itself, is not found there.
    """
    from aircoding.app.questions.why import why_text

    fold = not (each or as_json)
    found = why_text(Path.cwd(), text, asked, manifest_id=manifest_id, page=page, fold=fold)
    emit_paged(found, as_json=as_json, text=lambda: place_answers.why_text(text, found))


@click.command("why-not")
@click.argument("subject")
@asked_options()
@manifest_option
@page_options()
@click.option("--now", is_flag=True, help="Of the prompt that a worker would get now; nothing need be on record.")
@click.option("--path", "paths", multiple=True, help="The same for a worker that writes this path (repeatable).")
@json_option
def why_not(
    subject: str, asked: Asked, page: Page, manifest_id: str | None, now: bool, paths: tuple[str, ...], as_json: bool
) -> None:
    """Say why SUBJECT (a path, a rule, FILE#section) was not in a prompt, with file and line, and what changes that."""
    if now or paths:
        found = _now(subject, asked, page, manifest_id, paths)
    else:
        from aircoding.app.questions.why import why_not_subject

        found = why_not_subject(Path.cwd(), subject, asked, manifest_id=manifest_id, page=page)
    emit_paged(found, as_json=as_json, text=lambda: why_answers.why_not_text(subject, found))


def _now(subject: str, asked: Asked, page: Page, manifest_id: str | None, paths: tuple[str, ...]) -> WhyNot:
    from aircoding.app.contexts import BuildRequest
    from aircoding.app.questions.why_now import why_not_now

    if manifest_id or asked.session_id or asked.since:
        raise click.UsageError("--now and --path ask about no record: leave out --manifest, --session and --since")
    if paths and asked.task_id:
        raise click.UsageError("--path is for a worker without a task: leave out --task, or ask with --now")
    request = BuildRequest(
        start=Path.cwd(), role=asked.role or "executor", task_id=asked.task_id, paths=paths, run_id=asked.run_id
    )
    return why_not_now(request, subject, page=page, say=note)


@click.command("who-saw")
@click.argument("subject")
@asked_options()
@page_options()
@click.option("--stale", "only_stale", is_flag=True, help="Only workers whose newest text is not in the file any more.")
@click.option("--missed", "only_missed", is_flag=True, help="Only workers who did not see all of it.")
@json_option
def who_saw(subject: str, asked: Asked, page: Page, only_stale: bool, only_missed: bool, as_json: bool) -> None:
    """Say which workers had SUBJECT in a prompt, and why others did not: a rule, a path, FILE#section, PATH@DIGEST."""
    from aircoding.app.questions.why import who_saw_subject

    found = who_saw_subject(Path.cwd(), subject, asked, page=page, only_stale=only_stale, only_missed=only_missed)
    emit_paged(found, as_json=as_json, text=lambda: why_answers.who_saw_text(subject, found))
