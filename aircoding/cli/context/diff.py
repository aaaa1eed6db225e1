"""`aircoding context diff`: what changed between two prompts."""

from __future__ import annotations

from pathlib import Path

import click

from aircoding.cli.context import diff_answers
from aircoding.cli.output import emit, json_option
from aircoding.records.jsonable import jsonable

__all__ = ["diff"]


@click.command()
@click.argument("before")
@click.argument("after", required=False)
@click.option("--stat", is_flag=True, help="Only how many tokens each segment and each layer gained or lost.")
@click.option("--words", is_flag=True, help="All of the words, those of segments that are in one of them only too.")
@click.option("--exit-code", is_flag=True, help="Exit with 1 when they differ.")
@json_option
def diff(before: str, after: str | None, stat: bool, words: bool, exit_code: bool, as_json: bool) -> None:
    """Say what changed between two assemblies: segments, words, layers, omissions, conflicts, shared prefix.

    Each is named by id, SESSION, SESSION@TURN, RUN/TASK or RUN/TASK/ROLE (RUN may be `newest`). One alone is compared
    with the assembly before it: of its session, else of the attempt before.
    """
    from aircoding.app.questions.differences import diff_contexts

    if stat and words:
        raise click.UsageError("--stat shows no words: give one of the two")
    found = diff_contexts(Path.cwd(), before, after, texts=not stat, whole=words)

    def text() -> str:
        if stat:
            return diff_answers.stat_text(found.difference)
        return diff_answers.diff_text(found.difference, found.texts, whole=words)

    emit(
        "difference",
        found.difference,
        as_json=as_json,
        text=text,
        before=found.before_id,
        after=found.after_id,
        texts=jsonable(diff_answers.texts_document(found.texts)),
    )
    if exit_code and not found.difference.empty:
        raise SystemExit(1)
