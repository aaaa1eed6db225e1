"""`aircoding context check`: tests of what agents see."""

from __future__ import annotations

from pathlib import Path

import click

from aircoding.cli.output import emit, json_option, note
from aircoding.cli.tool_choice import ToolChoice
from aircoding.rules.tools.account import Tool

__all__ = ["check"]

_FOREIGN = [tool.value for tool in Tool if tool is not Tool.WORKER]


@click.command()
@click.argument("files", nargs=-1)
@click.option("--update", is_flag=True, help="Write the golden files as the contexts are now.")
@click.option("--as", "tool", type=ToolChoice(_FOREIGN), help="Run tests that name no tool as ones of this tool.")
@click.option("--junit", type=click.Path(path_type=Path), help="Write the results as JUnit XML to this file as well.")
@click.option("--github", is_flag=True, help="Print an annotation for each failure, as GitHub Actions reads them.")
@json_option
def check(
    files: tuple[str, ...], update: bool, tool: str | None, junit: Path | None, github: bool, as_json: bool
) -> None:
    """Run the context tests in FILES, default .air/shared/context-tests/*.yaml; exit with 1 when one fails.

    What is tested is what a new worker would see of the files as they are now. Files that git ignores, the user's own
    rules and settings, plugins and the record take no part, so that every machine says the same.
    """
    from aircoding.app.context_checks import CheckRequest, check_contexts
    from aircoding.cli.context import check_answers

    request = CheckRequest(start=Path.cwd(), files=files, update=update, tool=Tool(tool) if tool is not None else None)
    report = check_contexts(request)
    for one in report.notes:
        note(one)
    if junit is not None:
        junit.write_text(check_answers.junit_xml(report), encoding="utf-8")
    emit("check", report, as_json=as_json, text=lambda: check_answers.check_text(report), failed=report.failed)
    if github and not as_json:
        click.echo(check_answers.github_annotations(report), nl=False)
    if report.failed:
        raise SystemExit(1)
