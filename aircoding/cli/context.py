"""`aircoding context`: build a prompt, show a recorded one, and ask it questions."""

from __future__ import annotations

from pathlib import Path

import click

from aircoding.cli import answers
from aircoding.cli.output import emit, json_option, note

__all__ = ["context"]

_run = click.option("--run", "run_id", help="A run; default the newest one, or all where that makes sense.")
_manifest = click.option("--manifest", "manifest_id", help="Only this assembly.")


@click.group()
def context() -> None:
    """Build, show and question prompts: every byte that an agent saw, and every text that it did not see."""


@context.command()
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
    as_json: bool,
) -> None:
    """Assemble what a worker would see now. Nothing is recorded; nothing is sent, except to count with --exact."""
    from aircoding.app.contexts import BuildRequest, build_context
    from aircoding.app.estimators import count_exactly

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
    counted = {"exact_tokens": count_exactly(assembled)} if exact else {}
    emit(
        "context",
        answers.context_document(assembled),
        as_json=as_json,
        text=lambda: answers.show_text(assembled, exact_tokens=counted.get("exact_tokens")),
        **counted,
    )


@context.command()
@click.argument("manifest_id")
@click.option("--prompt", is_flag=True, help="The whole text, block by block.")
@json_option
def show(manifest_id: str, prompt: bool, as_json: bool) -> None:
    """Show a recorded assembly: segments by layer, what was left out, marks, conflicts."""
    from aircoding.app.contexts import load_context

    assembled = load_context(Path.cwd(), manifest_id)
    text = answers.prompt_text if prompt else answers.show_text
    emit("context", answers.context_document(assembled), as_json=as_json, text=lambda: text(assembled))


@context.command("list")
@click.option("--run", "run_id", help="A run, or `all`; default the newest one.")
@click.option("--task", "task_id")
@click.option("--role")
@click.option("--limit", type=click.IntRange(1), default=50, show_default=True)
@click.option("--offset", type=click.IntRange(0), default=0)
@json_option
def list_(run_id: str | None, task_id: str | None, role: str | None, limit: int, offset: int, as_json: bool) -> None:
    """List recorded assemblies, the newest first."""
    from aircoding.app.contexts import list_contexts

    heads, total = list_contexts(Path.cwd(), run_id=run_id, task_id=task_id, role=role, limit=limit, offset=offset)
    emit("assemblies", heads, as_json=as_json, text=lambda: answers.list_text(heads), total=total)
    if offset + len(heads) < total and not as_json:
        note(f"{offset + len(heads)} of {total} shown; go on with --offset {offset + len(heads)}")


@context.command()
@click.argument("text")
@_run
@_manifest
@json_option
def why(text: str, run_id: str | None, manifest_id: str | None, as_json: bool) -> None:
    """Say where TEXT stands in prompts, whose it is, and what let it in."""
    from aircoding.app.contexts import why_text

    places = why_text(Path.cwd(), text, run_id=run_id, manifest_id=manifest_id)
    emit("places", places, as_json=as_json, text=lambda: answers.why_text(text, places))


@context.command("why-not")
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
    from aircoding.app.contexts import why_not_subject

    found = why_not_subject(Path.cwd(), subject, run_id=run_id, task_id=task_id, role=role, manifest_id=manifest_id)
    emit("considerations", found, as_json=as_json, text=lambda: answers.why_not_text(subject, found))


@context.command("who-saw")
@click.argument("subject")
@_run
@click.option("--role", default="executor", show_default=True, help="A role, or `all`.")
@json_option
def who_saw(subject: str, run_id: str | None, role: str, as_json: bool) -> None:
    """Say which workers had SUBJECT in a prompt, and why others did not: a rule, a path, FILE#section, PATH@DIGEST."""
    from aircoding.app.contexts import who_saw_subject

    witnesses = who_saw_subject(Path.cwd(), subject, run_id=run_id, role=None if role == "all" else role)
    emit("witnesses", witnesses, as_json=as_json, text=lambda: answers.who_saw_text(subject, witnesses))


@context.command()
@click.argument("before")
@click.argument("after")
@click.option("--exit-code", is_flag=True, help="Exit with 1 when they differ.")
@json_option
def diff(before: str, after: str, exit_code: bool, as_json: bool) -> None:
    """Say what changed between two assemblies: segments, layers, omissions, conflicts, shared prefix."""
    from aircoding.app.contexts import diff_contexts

    difference = diff_contexts(Path.cwd(), before, after)
    emit("difference", difference, as_json=as_json, text=lambda: answers.diff_text(difference))
    if exit_code and not difference.empty:
        raise SystemExit(1)


@context.command()
@click.argument("manifest_id", required=False)
@click.option(
    "--all", "whole_run", is_flag=True, help="MANIFEST_ID is a run (default the newest): replay every assembly of it."
)
@click.option("--request", "show_request", is_flag=True, help="Print the request itself, byte for byte.")
@json_option
def replay(manifest_id: str | None, whole_run: bool, show_request: bool, as_json: bool) -> None:
    """Rebuild a recorded request from the store alone, and compare its digest with the recorded one."""
    from aircoding.app.contexts import load_context, replay_contexts
    from aircoding.records.digests import canonical_json

    if show_request:
        if manifest_id is None:
            raise click.UsageError("--request needs an assembly: see `aircoding context list`")
        click.echo(canonical_json(load_context(Path.cwd(), manifest_id).request).decode("utf-8"))
        return
    replays = replay_contexts(Path.cwd(), manifest_id, whole_run=whole_run)
    emit("replays", replays, as_json=as_json, text=lambda: answers.replay_text(replays))
    if any(not one.equal for one in replays):
        raise SystemExit(1)


@context.command()
@click.argument("manifest_id")
@json_option
def cache(manifest_id: str, as_json: bool) -> None:
    """Say what the call of an assembly read from the prompt cache, what it should have read, and why it did not."""
    from aircoding.app.cache_reports import cache_report
    from aircoding.cli.cache_answers import cache_text

    report = cache_report(Path.cwd(), manifest_id)
    emit("cache", report, as_json=as_json, text=lambda: cache_text(report))
