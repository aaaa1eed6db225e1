"""`aircoding context build`: what a worker would see now."""

from __future__ import annotations

from pathlib import Path

import click

from aircoding.cli.context import show_answers
from aircoding.cli.context.html_page import emit_html, html_option
from aircoding.cli.output import emit, json_option, note

__all__ = ["build"]


@click.command()
@click.option("--role", required=True, help="executor, reviewer, debugger, main, ...")
@click.option("--task", "task_id", help="A task of the plan.")
@click.option("--path", "paths", multiple=True, help="Without a plan: a path that the task would write (repeatable).")
@click.option("--plan", "plan_file", type=click.Path(path_type=Path), help="Default .air/shared/plan/tasks.yaml.")
@click.option(
    "--mode",
    type=click.Choice(["full", "minimal", "none"]),
    help="What is composed; default: full for a role that speaks with the user, else minimal.",
)
@click.option("--model", help="The model whose window counts.")
@click.option("--run", "run_id", help="Build it for this run: its plan, its conflicts and rulings.")
@click.option("--at", help="The clock, RFC 3339; default the time of HEAD's commit, so that it repeats.")
@click.option("--no-hooks", is_flag=True, help="Load no plugin, and ask no hook of the project.")
@click.option("--profile", help="A profile of ~/.air/profiles instead of the one that is set.")
@click.option("--exact", is_flag=True, help="Ask the provider to count the tokens (needs a key, costs nothing).")
@html_option
@click.option("--blame", "blamed", is_flag=True, help="Whose each line would be, as `context blame` shows it.")
@json_option
def build(
    role: str,
    task_id: str | None,
    paths: tuple[str, ...],
    plan_file: Path | None,
    mode: str | None,
    model: str | None,
    run_id: str | None,
    at: str | None,
    no_hooks: bool,
    profile: str | None,
    exact: bool,
    page_file: Path | None,
    blamed: bool,
    as_json: bool,
) -> None:
    """Assemble what a worker would see now. Nothing is recorded; nothing is sent, except to count with --exact."""
    from aircoding.app.contexts import BuildRequest, build_context
    from aircoding.app.estimators import count_exactly

    if exact and page_file is not None:
        raise click.UsageError("give --exact or --html: the page has the estimate")
    request = BuildRequest(
        start=Path.cwd(),
        role=role,
        task_id=task_id,
        paths=paths,
        plan_file=plan_file,
        mode=mode,
        model=model,
        run_id=run_id,
        at=at,
        hooks=not no_hooks,
        profile=profile,
    )
    assembled = build_context(request, say=note)
    if page_file is not None:
        emit_html(assembled, page_file, as_json=as_json)
        return
    if blamed:
        from aircoding.audit.blame import blame
        from aircoding.cli.context.blame_answers import blame_document, blame_text

        lines = blame(assembled)
        emit("blame", blame_document(lines) if as_json else lines, as_json=as_json, text=lambda: blame_text(lines))
        return
    counted = {"exact_tokens": count_exactly(assembled)} if exact else {}
    emit(
        "context",
        show_answers.context_document(assembled),
        as_json=as_json,
        text=lambda: show_answers.show_text(assembled, exact_tokens=counted.get("exact_tokens")),
        **counted,
    )
