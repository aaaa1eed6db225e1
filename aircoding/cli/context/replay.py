"""`aircoding context replay`: a recorded request again, from the store alone, or from other inputs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from aircoding.cli.context import replay_answers
from aircoding.cli.output import emit, json_option, note

if TYPE_CHECKING:
    from aircoding.app.questions.what_if import WhatIfRequest

__all__ = ["replay"]


@click.command()
@click.argument("manifest_id", required=False)
@click.option(
    "--all", "whole_run", is_flag=True, help="MANIFEST_ID is a run (default the newest): replay every assembly of it."
)
@click.option("--verbose", is_flag=True, help="With --all: a line for each assembly, also where it is equal.")
@click.option(
    "--without",
    multiple=True,
    metavar="RULE",
    help="What if a rule, a path or FILE#section were not there? Repeatable.",
)
@click.option(
    "--with",
    "with_files",
    multiple=True,
    metavar="FILE[=PATH]",
    help="What if this rule file were there, at PATH of the project or of ~/.air/rules? Repeatable.",
)
@click.option("--window", "window_tokens", type=click.IntRange(1), help="What if the model took so many tokens?")
@click.option(
    "--max-output-tokens",
    type=click.IntRange(1),
    help="What if so much of the window were kept for the answer? As `[model] max_output_tokens`.",
)
@click.option("--model", help="What if the request were for this model? Its limits count.")
@click.option("--request", "show_request", is_flag=True, help="Print the request itself, byte for byte.")
@click.option("--exit-code", is_flag=True, help="Exit with 1 when a what-if differs from what was sent.")
@json_option
def replay(
    manifest_id: str | None,
    whole_run: bool,
    verbose: bool,
    without: tuple[str, ...],
    with_files: tuple[str, ...],
    window_tokens: int | None,
    max_output_tokens: int | None,
    model: str | None,
    show_request: bool,
    exit_code: bool,
    as_json: bool,
) -> None:
    """Rebuild a recorded request from the store alone, and compare its digest with the recorded one.

    With --without, --with, --window, --max-output-tokens or --model: assemble its stored inputs again with today's
    program, as if these had been so since the epoch began, and say what the worker would have seen instead.
    """
    limits = (window_tokens, max_output_tokens, model)
    asked = bool(without or with_files) or any(one is not None for one in limits)
    if (asked or show_request) and (whole_run or manifest_id is None):
        raise click.UsageError("name one assembly: `aircoding context list` shows them")
    if asked and manifest_id is not None:
        from aircoding.app.questions.what_if import WhatIfRequest

        request = WhatIfRequest(
            start=Path.cwd(),
            manifest_id=manifest_id,
            without=without,
            with_files=with_files,
            window_tokens=window_tokens,
            max_output_tokens=max_output_tokens,
            model=model,
        )
        _what_if(request, show_request=show_request, exit_code=exit_code, as_json=as_json)
        return
    if show_request and manifest_id is not None:
        _show_request(manifest_id)
        return
    from aircoding.app.questions.replays import replay_contexts

    replays = replay_contexts(Path.cwd(), manifest_id, whole_run=whole_run)
    emit(
        "replays",
        replays,
        as_json=as_json,
        text=lambda: replay_answers.replay_text(replays, verbose=verbose or not whole_run),
    )
    if any(not (one.equal or one.redacted) for one in replays):
        raise SystemExit(1)


def _show_request(manifest_id: str) -> None:
    from aircoding.app.questions.assemblies import load_context
    from aircoding.records.digests import canonical_json

    click.echo(canonical_json(load_context(Path.cwd(), manifest_id).request).decode("utf-8"))


def _what_if(request: WhatIfRequest, *, show_request: bool, exit_code: bool, as_json: bool) -> None:
    from aircoding.app.questions.what_if import what_if
    from aircoding.cli.context.what_if_answers import what_if_document, what_if_text
    from aircoding.records.digests import canonical_json

    answer = what_if(request)
    for remark in answer.remarks:
        note(remark)
    if show_request and answer.would_be is not None:
        click.echo(canonical_json(answer.would_be.request).decode("utf-8"))
    else:
        emit("what_if", what_if_document(answer), as_json=as_json, text=lambda: what_if_text(answer))
    if answer.overflow is not None or (exit_code and answer.difference is not None and not answer.difference.empty):
        raise SystemExit(1)
