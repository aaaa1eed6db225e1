"""`aircoding permissions`: what may be done."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from aircoding.cli.output import emit, json_option, note, visible, visible_line, visible_words

__all__ = ["permissions"]


@click.group()
def permissions() -> None:
    """Trust a project, or a plan's commands; ask what the policy says; take over rules of another tool."""


@permissions.command()
@click.option("--plan", "plan_file", type=click.Path(path_type=Path), help="Approve this plan's commands.")
@click.option("--yes", "assume_yes", is_flag=True, help="Trust the project without asking; a terminal is asked.")
@json_option
def trust(plan_file: Path | None, assume_yes: bool, as_json: bool) -> None:
    """Trust this project's files and policy; with --plan, its verify and set-up commands as they are now."""
    from aircoding.app.trusting import project_files_in_words, trust_plan, trust_project

    if plan_file is not None and assume_yes:
        raise click.UsageError("--plan asks nothing, so there is nothing for --yes to answer")
    if plan_file is None and not assume_yes and sys.stdin.isatty():
        question = f"Let these instruct agents: {project_files_in_words(Path.cwd())}?"
        if not click.confirm(visible(question), err=True):
            raise click.UsageError("nothing was trusted")
    report = trust_project(Path.cwd()) if plan_file is None else trust_plan(Path.cwd(), plan_file)
    emit("trusted", report, as_json=as_json, text=lambda: "\n".join(report.lines))


@permissions.command()
@click.argument("command")
@click.option("--role", default="executor", show_default=True)
@click.option("--task", "task_id", help="Judge as for this task of the plan.")
@json_option
def check(command: str, role: str, task_id: str | None, as_json: bool) -> None:
    """Say what the policy decides of a shell command, and which line of which file decided."""
    from aircoding.app.judging import judge_command

    decision = judge_command(Path.cwd(), command, role=role, task_id=task_id)

    def text() -> str:
        lines = [f"{decision.effect.value}: {decision.reason}"]
        for part in decision.judgements:
            where = part.uri if part.line is None else f"{part.uri}:{part.line}"
            lines.append(f"  {part.effect.value:8} {part.text}  <- {part.pattern}  ({where})")
        return "\n".join(lines)

    emit("decision", decision, as_json=as_json, text=text)


@permissions.command("import")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--from",
    "tool",
    type=click.Choice(["claude", "codex", "opencode", "gemini"]),
    required=True,
    help="The tool whose rules the file holds.",
)
@json_option
def import_rules(file: Path, tool: str, as_json: bool) -> None:
    """Translate the permission rules of another tool's file; print a policy file, write nothing.

    What has no line of ours is listed on stderr with its reason; then the exit code is 1.
    """
    from aircoding.app.importing import import_permissions

    found = import_permissions(file, tool)
    emit("proposal", found, as_json=as_json, text=lambda: found.text.removesuffix("\n"))
    if not as_json:
        for one in found.untranslated:
            note(f"{visible_line(one.effect or 'key')} {visible_words((one.rule,))}: {visible_line(one.why)}")
    if found.untranslated:
        raise SystemExit(1)
