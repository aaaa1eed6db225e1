"""`aircoding context show` and `list`: recorded prompts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from aircoding.cli.context import show_answers
from aircoding.cli.context.html_page import emit_html, html_option
from aircoding.cli.output import emit, json_option
from aircoding.cli.paging import emit_paged, page_options

if TYPE_CHECKING:
    from aircoding.app.questions.asking import Page

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
        emit_html(assembled, page_file, as_json=as_json)
        return
    text = show_answers.prompt_text if prompt else show_answers.show_text
    emit("context", show_answers.context_document(assembled), as_json=as_json, text=lambda: text(assembled))


@click.command("list")
@click.option("--run", "run_id", help="A run, or `all`; default the newest one.")
@click.option("--task", "task_id")
@click.option("--role")
@page_options()
@json_option
def list_(run_id: str | None, task_id: str | None, role: str | None, page: Page, as_json: bool) -> None:
    """List recorded assemblies, the newest first."""
    from aircoding.app.questions.assemblies import list_contexts

    found = list_contexts(Path.cwd(), run_id=run_id, task_id=task_id, role=role, page=page)
    emit_paged(found, as_json=as_json, text=lambda: show_answers.list_text(found.assemblies))
