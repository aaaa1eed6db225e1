"""`aircoding rules`: which rule files reach an agent for a path, ours and those of other tools."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from aircoding.cli import rule_answers
from aircoding.cli.output import emit, json_option
from aircoding.cli.tool_choice import ToolChoice
from aircoding.rules.tools.account import CODEX_MAX_BYTES, AgentsMode, Tool, ToolOptions

__all__ = ["rules"]

_FOREIGN = [tool.value for tool in Tool if tool is not Tool.WORKER]
_OF_TOOL = {
    "role": Tool.WORKER,
    "tags": Tool.WORKER,
    "show_rules": Tool.WORKER,
    "max_bytes": Tool.CODEX,
    "fallback_names": Tool.CODEX,
    "agents_mode": Tool.CLAUDE_CODE,
    "excludes": Tool.CLAUDE_CODE,
    "approved": Tool.CLAUDE_CODE,
    "agent": Tool.COPILOT,
    "context_names": Tool.GEMINI,
}
"""Which tool each option is for: given with another one it is refused, for it would do nothing."""


@click.group()
def rules() -> None:
    """Say which rule files reach an agent that works on a path, and which are lost, in this program or another."""


@rules.command()
@click.argument("path")
@click.option("--as", "tool", type=ToolChoice(_FOREIGN), help="Another tool; default: a worker of ours.")
@click.option("--role", help="Ours: the worker's role; default executor.")
@click.option("--tag", "tags", multiple=True, help="Ours: a tag of its task (repeatable).")
@click.option("--cwd", help="Where the tool is started; default the root of the project.")
@click.option(
    "--max-bytes", type=click.IntRange(0), help=f"codex: project_doc_max_bytes; default {CODEX_MAX_BYTES:,}, 0: off."
)
@click.option("--fallback", "fallback_names", multiple=True, help="codex: project_doc_fallback_filenames (repeatable).")
@click.option(
    "--agents-md",
    "agents_mode",
    type=click.Choice([mode.value for mode in AgentsMode]),
    help=f"claude-code: its setting for AGENTS.md; default {AgentsMode.EITHER.value}.",
)
@click.option("--exclude", "excludes", multiple=True, help="claude-code: a glob of claudeMdExcludes (repeatable).")
@click.option(
    "--approved", multiple=True, help="claude-code: an import from outside that was approved, as it is listed."
)
@click.option("--agent", help="copilot: the agent that excludeAgent may name, such as code-review.")
@click.option("--context-file", "context_names", multiple=True, help="gemini: context.fileName (repeatable).")
@click.option("--rules", "show_rules", is_flag=True, help="Ours: list the rules one by one, with their names.")
@click.option("--all", "show_all", is_flag=True, help="List files of other folders and of other tools as well.")
@json_option
def explain(path: str, tool: str | None, cwd: str | None, show_all: bool, as_json: bool, **given: Any) -> None:
    """Say for each rule file what becomes of it when an agent works on PATH, which need not exist, and why.

    Nothing is sent and nothing is recorded. Settings of the other tools are not read: give them as options.
    """
    chosen = Tool(tool) if tool is not None else Tool.WORKER
    _refuse_others(chosen, given, cwd)
    if chosen is Tool.WORKER:
        from aircoding.app.worker_rules import WorkerRequest, explain_rules

        worker = explain_rules(Path.cwd(), path, WorkerRequest(role=given["role"] or "executor", tags=given["tags"]))
        show = rule_answers.rules_text if given["show_rules"] else rule_answers.worker_text
        emit("account", worker, as_json=as_json, text=lambda: show(worker, show_all=show_all))
        return
    from aircoding.app.rules import explain_rules_as

    account = explain_rules_as(Path.cwd(), path, chosen, _options(given), cwd=cwd)
    emit("account", account, as_json=as_json, text=lambda: rule_answers.account_text(account, show_all=show_all))


def _refuse_others(chosen: Tool, given: dict[str, Any], cwd: str | None) -> None:
    for name, tool in _OF_TOOL.items():
        if given[name] not in (None, (), False) and tool is not chosen:
            asked = "a worker of ours (no --as)" if tool is Tool.WORKER else f"--as {tool.value}"
            raise click.UsageError(f"{_flag(name)} is an option of {asked}")
    if cwd is not None and chosen is Tool.WORKER:
        raise click.UsageError("--cwd is an option of --as: our workers stand at the root of their worktree")


def _flag(name: str) -> str:
    parameter = next(one for one in explain.params if one.name == name)
    return str(parameter.opts[0])


def _options(given: dict[str, Any]) -> ToolOptions:
    usual = ToolOptions()
    return ToolOptions(
        max_bytes=usual.max_bytes if given["max_bytes"] is None else given["max_bytes"],
        fallback_names=given["fallback_names"],
        agents_mode=AgentsMode(given["agents_mode"] or usual.agents_mode),
        excludes=given["excludes"],
        approved=frozenset(given["approved"]),
        agent=given["agent"] or "",
        context_names=given["context_names"] or usual.context_names,
    )


@rules.command()
@click.argument("path")
@click.option("--cwd", help="Where the tools are started; default the root of the project.")
@click.option("--exit-code", is_flag=True, help="Exit with 1 when they differ.")
@json_option
def compare(path: str, cwd: str | None, exit_code: bool, as_json: bool) -> None:
    """Show for each rule file what six other tools and our workers make of it when they work on PATH."""
    from aircoding.app.rules import compare_rules

    found = compare_rules(Path.cwd(), path, cwd=cwd)
    emit("comparison", found, as_json=as_json, text=lambda: rule_answers.comparison_text(found))
    if exit_code and found.differences:
        raise SystemExit(1)


@rules.command("list")
@click.option("--tool", type=ToolChoice([tool.value for tool in Tool]), help="Only files of a kind that it knows.")
@json_option
def list_(tool: str | None, as_json: bool) -> None:
    """List every rule file around this folder: whose it is, for what, when it applies, and what is wrong with it."""
    from aircoding.app.rules import list_rules

    found, problems = list_rules(Path.cwd(), Tool(tool) if tool is not None else None)
    emit(
        "files", found, as_json=as_json, text=lambda: rule_answers.list_text(found, problems), problems=_plain(problems)
    )


def _plain(value: Any) -> Any:
    from aircoding.records.jsonable import jsonable

    return jsonable(value)


@rules.command()
@click.option("--select", multiple=True, help="Only this check (repeatable), as `lint.budget`.")
@click.option("--ignore", multiple=True, help="Not this check (repeatable).")
@click.option("--format", "form", type=click.Choice(["text", "json", "sarif"]), help="Default text.")
@json_option
def lint(select: tuple[str, ...], ignore: tuple[str, ...], form: str | None, as_json: bool) -> None:
    """Check the rule files around this folder; exit with 1 when anything is found.

    Checked are headers, globs that match nothing, imports that lead nowhere, texts that stand twice, files that a tool
    cuts, rules that contradict, and rules that ask for what the policy denies.
    """
    from aircoding.app.rule_lint import lint_rules
    from aircoding.cli.lint_answers import lint_text

    if as_json and form not in (None, "json"):
        raise click.UsageError(f"--json and --format {form} exclude each other")
    report = lint_rules(Path.cwd(), select=select, ignore=ignore)
    if form == "sarif":
        from aircoding.cli.sarif import sarif_log
        from aircoding.rules.lint import CHECKS

        click.echo(json.dumps(sarif_log(report.findings, CHECKS), ensure_ascii=False))
    else:
        emit("lint", report, as_json=as_json or form == "json", text=lambda: lint_text(report))
    if report.findings:
        raise SystemExit(1)


@rules.command()
@click.argument("name")
@json_option
def confirm(name: str, as_json: bool) -> None:
    """Confirm the rule NAME as its text is now: it then beats one that nobody confirmed. Kept in ~/.air."""
    from aircoding.app.rule_choices import confirm as confirm_rule

    done = confirm_rule(Path.cwd(), name)
    said = "confirmed" if done.changed else "it was confirmed already"
    emit(
        "choice", done, as_json=as_json, text=lambda: f"{said}: {done.subject}; a changed text has to be confirmed anew"
    )


@rules.command()
@click.argument("name")
@json_option
def unconfirm(name: str, as_json: bool) -> None:
    """Take the confirmation of the rule NAME back."""
    from aircoding.app.rule_choices import unconfirm as unconfirm_rule

    done = unconfirm_rule(Path.cwd(), name)
    emit("choice", done, as_json=as_json, text=lambda: f"no longer confirmed: {done.subject}")


@rules.command()
@click.argument("path")
@click.option("--withdraw", is_flag=True, help="Take the approval back.")
@json_option
def approve(path: str, withdraw: bool, as_json: bool) -> None:
    """Let this project's rule files import PATH, a file outside of it. Kept in ~/.air."""
    from aircoding.app.rule_choices import approve_outside

    done = approve_outside(Path.cwd(), path, withdraw=withdraw)
    said = "no longer approved" if withdraw else "approved" if done.changed else "it was approved already"
    emit("choice", done, as_json=as_json, text=lambda: f"{said}: {done.subject}, for {done.root}")
