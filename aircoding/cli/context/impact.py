"""`aircoding context impact`: what a change does to what agents see."""

from __future__ import annotations

from pathlib import Path

import click

from aircoding.cli.output import emit, json_option
from aircoding.cli.tool_choice import ToolChoice
from aircoding.rules.tools.account import Tool

__all__ = ["impact"]

_FOREIGN = [tool.value for tool in Tool if tool is not Tool.WORKER]


@click.command()
@click.option("--base", required=True, help="The revision before the change, such as origin/main.")
@click.option("--head", help="The revision after it; default: the files as they are now.")
@click.option(
    "--as", "tools", type=ToolChoice(_FOREIGN), multiple=True, help="Another tool instead of our workers (repeatable)."
)
@click.option("--role", "roles", multiple=True, help="Only these roles (repeatable).")
@click.option("--path", "paths", multiple=True, help="Only these paths (repeatable), which need not exist.")
@click.option("--sample", type=click.IntRange(1), help="Only so many paths, drawn by --seed.")
@click.option("--seed", type=int, default=0, help="For --sample; default 0.")
@click.option("--format", "form", type=click.Choice(["text", "json", "markdown"]), help="Default text.")
@click.option(
    "--exit-code", is_flag=True, help="Exit with 1 when anybody sees something else, or the base cannot be read whole."
)
@json_option
def impact(
    base: str,
    head: str | None,
    tools: tuple[str, ...],
    roles: tuple[str, ...],
    paths: tuple[str, ...],
    sample: int | None,
    seed: int,
    form: str | None,
    exit_code: bool,
    as_json: bool,
) -> None:
    """Say which roles, tasks and paths a change of rules, roles, policies, skills or the plan gives another context.

    Both sides are read from git's objects; nothing is checked out, recorded or sent. The user's own rules are the same
    on both sides, and so are the prompts of this program. Settings, roles, a policy or a plan that the base has broken
    are named, and those of the later side stand in for them.
    """
    if as_json and form not in (None, "json"):
        raise click.UsageError(f"--json and --format {form} exclude each other")
    if tools and roles:
        raise click.UsageError("--role is for our own workers: leave out --as or --role")
    if paths and sample is not None:
        raise click.UsageError("--path and --sample exclude each other")
    from aircoding.app.impact import ImpactRequest, find_impact
    from aircoding.cli.context import impact_answers

    found = find_impact(
        ImpactRequest(
            start=Path.cwd(),
            base=base,
            head=head,
            tools=tuple(dict.fromkeys(Tool(tool) for tool in tools)),
            roles=tuple(dict.fromkeys(roles)),
            paths=paths,
            sample=sample,
            seed=seed,
        )
    )
    if form == "markdown":
        from aircoding.cli.context.impact_markdown import impact_markdown

        click.echo(impact_markdown(found))
    else:
        emit("impact", found, as_json=as_json or form == "json", text=lambda: impact_answers.impact_text(found))
    if exit_code and (found.effects or found.unread):
        raise SystemExit(1)
