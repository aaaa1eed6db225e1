"""`aircoding context show` and `list`: recorded prompts."""

from __future__ import annotations

from pathlib import Path

import click

from aircoding.cli.context import show_answers
from aircoding.cli.context.page import emit_page, html_option
from aircoding.cli.output import MOST_LINES, emit, json_option, note

__all__ = ["list_", "show"]


@click.command()
@click.argument("manifest_id")
@click.option("--prompt", is_flag=True, help="The whole text, block by block.")
@html_option
@json_option
def show(manifest_id: str, prompt: bool, page_file: Path | None, as_json: bool) -> None:
    """Show a recorded assembly: segments by layer, what was left out, marks, conflicts."""
    from aircoding.app.questions.assemblies import load_context

    if prompt and page_file is not None:
        raise click.UsageError("give --prompt or --html: the page holds the whole text")
    assembled = load_context(Path.cwd(), manifest_id)
    if page_file is not None:
        emit_page(assembled, page_file, as_json=as_json)
        return
    text = show_answers.prompt_text if prompt else show_answers.show_text
    emit("context", show_answers.context_document(assembled), as_json=as_json, text=lambda: text(assembled))


@click.command("list")
@click.option("--run", "run_id", help="A run, or `all`; default the newest one.")
@click.option("--task", "task_id")
@click.option("--role")
@click.option("--limit", type=click.IntRange(1, MOST_LINES), default=50, show_default=True)
@click.option("--offset", type=click.IntRange(0, MOST_LINES), default=0)
@json_option
def list_(run_id: str | None, task_id: str | None, role: str | None, limit: int, offset: int, as_json: bool) -> None:
    """List recorded assemblies, the newest first."""
    from aircoding.app.questions.assemblies import list_contexts

    heads, total = list_contexts(Path.cwd(), run_id=run_id, task_id=task_id, role=role, limit=limit, offset=offset)
    emit("assemblies", heads, as_json=as_json, text=lambda: show_answers.list_text(heads), total=total)
    if offset + len(heads) < total and not as_json:
        note(f"{offset + len(heads)} of {total} shown; go on with --offset {offset + len(heads)}")
