"""`aircoding init` and `aircoding doctor`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aircoding.cli.output import emit, json_option, table, visible_line, visible_words
from aircoding.cli.tool_choice import ToolChoice
from aircoding.records.words import counted

if TYPE_CHECKING:
    from aircoding.app.adopting import Adoption, PermissionProposal
    from aircoding.app.agent_roles import AdoptedAgent
    from aircoding.app.initialise import InitReport

__all__ = ["doctor", "init"]


@click.command()
@click.option(
    "--from",
    "tool",
    type=ToolChoice(["claude", "cursor", "copilot", "gemini"]),
    help="Take over what the project has for another tool; its files stay as they are.",
)
@click.option("--trust/--no-trust", default=None, help="Trust this project's files; asked on a terminal.")
@json_option
def init(tool: str | None, trust: bool | None, as_json: bool) -> None:
    """Prepare a repository: .air/ with commented files. Files that are there stay as they are."""
    from aircoding.app.initialise import initialise

    if trust is None and sys.stdin.isatty():
        trust = click.confirm("Do you trust the files of this project to instruct agents?", err=True)
    if tool is not None:
        _adopt(tool, trust=bool(trust), as_json=as_json)
        return
    report = initialise(Path.cwd(), trust=bool(trust))
    emit("init", report, as_json=as_json, text=lambda: f"{_made(report)}\n\nnext: {report.next_command}")


def _made(report: InitReport) -> str:
    lines = [f"{'made' if made else 'kept'}  {path}" for path, made in report.files]
    untrusted = "not trusted: agents see this project's files as external text; `aircoding permissions trust` trusts it"
    lines.append("trusted" if report.trusted else untrusted)
    return "\n".join(lines)


def _adopt(tool: str, *, trust: bool, as_json: bool) -> None:
    from aircoding.app.adopting import adopt
    from aircoding.rules.adoption import ForeignTool

    done = adopt(Path.cwd(), ForeignTool(tool), trust=trust)
    emit("adoption", done, as_json=as_json, text=lambda: _adopted(done))


def _adopted(done: Adoption) -> str:
    rows = [(file.path, file.reading.value, file.why) for file in done.files]
    lines = [_made(done.init), "", table((f"file of {done.tool}", "read", "why"), rows), ""]
    lines += [f"switched on in .air/config.toml: {', '.join(done.switches)}"]
    if done.kept_off:
        lines += [f"still off, by your own settings (~/.air/config.toml or AIR_ variables): {', '.join(done.kept_off)}"]
    lines += _permission_lines(done.permissions) if done.permissions is not None else []
    lines += [line for agent in done.agents for line in _agent_lines(agent)]
    return "\n".join([*lines, "", *(f"next: {one}" for one in done.next_commands)])


def _agent_lines(agent: AdoptedAgent) -> list[str]:
    told = f"{'made' if agent.made else 'kept'} role {agent.role}" if agent.role is not None else "no role"
    return [
        visible_line(f"{agent.path}: {told}: {agent.why}"),
        *(visible_line(f"  not carried over: {one}") for one in agent.left),
    ]


def _permission_lines(found: PermissionProposal) -> list[str]:
    if found.problem is not None:
        return [f".claude/settings.json: no rules were translated: {visible_line(found.problem)}"]
    told = f"{counted(found.lines, 'line')} proposed in {found.path}" if found.path else "no rule has an equivalent"
    lines = [f".claude/settings.json: {told}"]
    if found.untranslated:
        lines.append("without an equivalent:")
        lines += [
            f"  {visible_line(one.effect or 'key')} {visible_words((one.rule,))}: {visible_line(one.why)}"
            for one in found.untranslated
        ]
    return lines


@click.command()
@json_option
def doctor(as_json: bool) -> None:
    """Check this machine and this project; each finding comes with its fix."""
    from aircoding.app.doctor import examine

    findings = examine(Path.cwd())

    def text() -> str:
        marks = {"ok": "ok  ", "warning": "note", "error": "FAIL"}
        lines = []
        for finding in findings:
            lines.append(f"{marks[finding.state]}  {finding.subject}: {finding.detail}")
            if finding.fix:
                lines.append(f"      fix: {finding.fix}")
        return "\n".join(lines)

    emit("findings", findings, as_json=as_json, text=text)
    if any(finding.state == "error" for finding in findings):
        raise SystemExit(1)
