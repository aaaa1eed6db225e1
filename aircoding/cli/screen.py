"""`aircoding screen`: what in a text would instruct an agent."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aircoding.cli.output import emit, json_option, note, table, visible_line

if TYPE_CHECKING:
    from aircoding.app.screening import Allowed, ScreenReport
    from aircoding.records.layers import Trust

__all__ = ["screen"]

_TRUSTS = ("external", "agent", "project", "user")


@click.command()
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path, allow_dash=True))
@click.option(
    "--trust", type=click.Choice(_TRUSTS), default="external", show_default=True, help="Whose words the files are."
)
@click.option("--allow", "rules", multiple=True, metavar="RULE", help="Let RULE pass in these files as they are now.")
@click.option("--withdraw", multiple=True, metavar="RULE", help="Block RULE in these files again.")
@click.option("--allowed", "list_allowed", is_flag=True, help="List what you allowed.")
@click.option("--format", "form", type=click.Choice(["text", "json", "sarif"]), help="Default text.")
@json_option
def screen(
    paths: tuple[Path, ...],
    trust: str,
    rules: tuple[str, ...],
    withdraw: tuple[str, ...],
    list_allowed: bool,
    form: str | None,
    as_json: bool,
) -> None:
    """Find hidden text, control tokens, exfiltration and overriding phrases in PATHS; exit 1 when one would be blocked.

    PATHS are files, folders, or `-` for standard input. No project is needed. Warnings are shown and pass.
    """
    from aircoding.app.screening import allow, allowed
    from aircoding.records.layers import Trust

    if as_json and form not in (None, "json"):
        raise click.UsageError(f"--json and --format {form} exclude each other")
    as_json = as_json or form == "json"
    if list_allowed:
        _only(not paths and not rules and not withdraw, "--allowed takes no paths and no rules")
        emit("allowed", known := allowed(), as_json=as_json, text=lambda: _allowed_text(known))
        return
    _only(bool(paths), "name files or folders, or - for standard input")
    report = _report(paths, Trust(trust))
    if rules or withdraw:
        _only(Path("-") not in paths, "standard input has no path under which a rule could be allowed")
        done = allow(report, Path.cwd(), rules) if rules else ()
        gone = allow(report, Path.cwd(), withdraw, withdraw=True) if withdraw else ()
        emit("changed", (*done, *gone), as_json=as_json, text=lambda: _changed_text(done, gone))
        return
    if form == "sarif":
        from aircoding.cli.sarif import sarif_log
        from aircoding.screening.catalogue import CHECKS

        click.echo(json.dumps(sarif_log(report.diagnostics, CHECKS), ensure_ascii=False))
    else:
        emit("screen", report, as_json=as_json, text=lambda: _text(report), blocks=report.blocks)
    if report.blocks:
        raise SystemExit(1)


def _only(holds: bool, otherwise: str) -> None:
    if not holds:
        raise click.UsageError(otherwise)


def _report(paths: tuple[Path, ...], trust: Trust) -> ScreenReport:
    from aircoding.app.screening import screen_paths, screen_text

    if Path("-") in paths:
        _only(len(paths) == 1, "- stands alone")
        return screen_text(sys.stdin.buffer.read().decode("utf-8", "replace"), trust=trust)
    report = screen_paths(Path.cwd(), paths, trust=trust)
    if report.passed_over:
        note(f"{report.passed_over} files are no text and were passed over")
    return report


def _text(report: ScreenReport) -> str:
    lines = []
    blocked = 0
    for one in report.diagnostics:
        place = one.uri.removeprefix("project:") + (f":{one.line}" if one.line is not None else "")
        verdict = "blocks" if one.severity == "error" else "warns"
        blocked += verdict == "blocks"
        lines.append(visible_line(f"{place}: {verdict}: {one.message} [{one.code}]"))
    files = f"{len(report.files)} files" if len(report.files) != 1 else "1 file"
    summary = f"{blocked} of {len(lines)} findings block" if lines else "nothing was found"
    return "\n".join([*lines, f"{files} screened: {summary}"])


def _changed_text(done: tuple[Allowed, ...], gone: tuple[Allowed, ...]) -> str:
    lines = [visible_line(f"allowed in {one.path}, while it stays as it is: {one.rule}") for one in done]
    lines += [visible_line(f"blocks again in {one.path}: {one.rule}") for one in gone]
    return "\n".join(lines) or "nothing changed"


def _allowed_text(known: tuple[Allowed, ...]) -> str:
    if not known:
        return "you allowed nothing"
    return table(("rule", "sha256", "file"), [(one.rule, one.digest[:12], one.path) for one in known])
