"""`aircoding init` and `aircoding doctor`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from aircoding.cli.output import emit, json_option

__all__ = ["doctor", "init"]


@click.command()
@click.option("--trust/--no-trust", default=None, help="Trust this project's files; asked on a terminal.")
@json_option
def init(trust: bool | None, as_json: bool) -> None:
    """Prepare a repository: .air/ with commented files. Files that are there stay as they are."""
    from aircoding.app.initialise import initialise

    if trust is None and sys.stdin.isatty():
        trust = click.confirm("Do you trust the files of this project to instruct agents?", err=True)
    report = initialise(Path.cwd(), trust=bool(trust))

    def text() -> str:
        lines = [f"{'made' if made else 'kept'}  {path}" for path, made in report.files]
        lines.append("trusted" if report.trusted else "not trusted: agents see this project's files as external text")
        return "\n".join([*lines, "", f"next: {report.next_command}"])

    emit("init", report, as_json=as_json, text=text)


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
