"""`aircoding context why`, `why-not`, `who-saw`: how a text came to a worker, or did not."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from aircoding.cli.context import why_answers
from aircoding.cli.output import MOST_LINES, emit, json_option, note
from aircoding.records.jsonable import jsonable

if TYPE_CHECKING:
    from aircoding.app.questions.asking import Asked, Page
    from aircoding.app.questions.why import WhyNot

__all__ = ["who_saw", "why", "why_not"]

_WHY_NOT = ("run_id", "total", "sessions", "by_text", "unchecked", "runs_without_texts", "absence", "now", "reads")
_manifest = click.option("--manifest", "manifest_id", help="Only this assembly.")


def _asking(role: str | None = None) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options that say which part of the record is asked about, as `asked`, and `page`."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def with_asked(**given: Any) -> None:
            from aircoding.app.questions.asking import Asked, Page

            names = ("run_id", "task_id", "role", "session_id", "since")
            asked = Asked(**{name: given.pop(name) for name in names})
            command(asked=asked, page=Page(limit=given.pop("limit"), offset=given.pop("offset")), **given)

        options = (
            click.option("--run", "run_id", help="A run, or `all`; default the newest one."),
            click.option(
                "--since", help="Runs started since then: 12h, 7d, a date or a time; of all runs, unless --run."
            ),
            click.option("--task", "task_id", help="Only this task's workers."),
            click.option("--role", default=role, show_default=role is not None, help="Only this role, or `all`."),
            click.option("--session", "session_id", help="Only this session."),
            click.option(
                "--limit", type=click.IntRange(1, MOST_LINES), default=50, show_default=True, help="Lines at most."
            ),
            click.option("--offset", type=click.IntRange(0, MOST_LINES), default=0, help="Lines to leave out first."),
        )
        for option in reversed(options):
            with_asked = option(with_asked)
        return with_asked

    return decorate


@click.command()
@click.argument("text")
@_asking()
@_manifest
@json_option
def why(text: str, asked: Asked, page: Page, manifest_id: str | None, as_json: bool) -> None:
    """Say where TEXT stands in prompts, whose it is, and what let it in.

    Within one run or assembly every place is found. Over all runs (`--run all`) the index of texts is asked: a text
    that runs over the end of a segment, or that stands in a heading of the prompt itself, is not found there.
    """
    from aircoding.app.questions.why import why_text

    found = why_text(Path.cwd(), text, asked, manifest_id=manifest_id, page=page)
    shown = len(found.places) + len(found.sightings)
    more = {"run_id": found.run_id, "total": found.total, "sessions": found.sessions, "unchecked": found.unchecked}
    more["runs_without_texts"] = found.runs_without_texts
    more["sightings"] = jsonable(found.sightings)
    emit("places", found.places, as_json=as_json, text=lambda: why_answers.why_text(text, found), **more)
    _say_rest(page, shown, found.total, as_json=as_json)


@click.command("why-not")
@click.argument("subject")
@_asking()
@_manifest
@click.option("--now", is_flag=True, help="Of the prompt that a worker would get now; nothing need be on record.")
@click.option("--path", "paths", multiple=True, help="The same for a worker that writes this path (repeatable).")
@json_option
def why_not(
    subject: str, asked: Asked, page: Page, manifest_id: str | None, now: bool, paths: tuple[str, ...], as_json: bool
) -> None:
    """Say why SUBJECT (a path, a rule, FILE#section) was not in a prompt, with file and line, and what changes that."""
    if now or paths:
        found = _now(subject, asked, manifest_id, paths)
    else:
        from aircoding.app.questions.why import why_not_subject

        found = why_not_subject(Path.cwd(), subject, asked, manifest_id=manifest_id, page=page)
    more = {name: jsonable(getattr(found, name)) for name in _WHY_NOT}
    emit(
        "considerations",
        found.considerations,
        as_json=as_json,
        text=lambda: why_answers.why_not_text(subject, found),
        **more,
    )
    _say_rest(page, len(found.considerations), found.total, as_json=as_json)


def _now(subject: str, asked: Asked, manifest_id: str | None, paths: tuple[str, ...]) -> WhyNot:
    from aircoding.app.contexts import BuildRequest
    from aircoding.app.questions.why_now import why_not_now

    if manifest_id or asked.session_id or asked.since:
        raise click.UsageError("--now and --path ask about no record: leave out --manifest, --session and --since")
    if paths and asked.task_id:
        raise click.UsageError("--path is for a worker without a task: leave out --task, or ask with --now")
    request = BuildRequest(
        start=Path.cwd(), role=asked.role or "executor", task_id=asked.task_id, paths=paths, run_id=asked.run_id
    )
    return why_not_now(request, subject, say=note)


@click.command("who-saw")
@click.argument("subject")
@_asking(role="executor")
@click.option("--stale", "only_stale", is_flag=True, help="Only workers whose newest version is not that of the file.")
@click.option("--missed", "only_missed", is_flag=True, help="Only workers who did not see all of it.")
@json_option
def who_saw(subject: str, asked: Asked, page: Page, only_stale: bool, only_missed: bool, as_json: bool) -> None:
    """Say which workers had SUBJECT in a prompt, and why others did not: a rule, a path, FILE#section, PATH@DIGEST."""
    from aircoding.app.questions.why import who_saw_subject

    found = who_saw_subject(Path.cwd(), subject, asked, page=page, only_stale=only_stale, only_missed=only_missed)
    more = {name: jsonable(getattr(found, name)) for name in ("run_id", "summary", "total", "reads")}
    emit("witnesses", found.witnesses, as_json=as_json, text=lambda: why_answers.who_saw_text(subject, found), **more)
    _say_rest(page, len(found.witnesses), found.total, as_json=as_json)


def _say_rest(page: Page, shown: int, total: int, *, as_json: bool) -> None:
    end = page.offset + shown
    if end < total and not as_json:
        note(f"{end} of {total} shown; go on with --offset {end}")
