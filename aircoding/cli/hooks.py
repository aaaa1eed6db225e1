"""`aircoding hooks`: what plugins and the project's own hooks may add to a session, or forbid in it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from aircoding.cli.output import emit, json_option, note, table, visible, visible_line, visible_words

__all__ = ["hooks"]

_NOT_COVERED = "what these files load themselves, and what a program finds by itself, is not covered"


@click.group()
def hooks() -> None:
    """List hooks, trust those of this project as they are now, try one."""


@hooks.command("list")
@json_option
def list_(as_json: bool) -> None:
    """Show every hook in the order in which they are asked, and whether it is run."""
    from aircoding.app.hooks import hooks_report

    report = hooks_report(Path.cwd())
    rows = [
        (one.event, one.name, one.source, "yes" if one.trusted else "no", f"{one.timeout_seconds:g}", one.why)
        for one in report.hooks
    ]

    def text() -> str:
        shown = table(("event", "name", "source", "trusted", "seconds", "why"), rows) if rows else "no hooks"
        covered = [
            f"{visible_line(one.name)}: the trust covers {visible_words(one.files)}"
            for one in report.hooks
            if one.files
        ]
        faults = [visible_line(f"{one.name} takes no part: {one.reason}") for one in report.faults]
        return "\n".join([shown, *covered, *([_NOT_COVERED] if covered else []), *faults])

    emit("hooks", report.hooks, as_json=as_json, text=text, faults=[_fault(one) for one in report.faults])


@hooks.command()
@click.option("--yes", "assume_yes", is_flag=True, help="Trust what is listed without asking.")
@json_option
def trust(assume_yes: bool, as_json: bool) -> None:
    """Trust the project's hooks and the files that they name, as they are now; a changed file asks again."""
    from aircoding.app.hooks import trust_hooks, untrusted_hooks

    found = untrusted_hooks(Path.cwd())
    if not found.trusted:
        for hook in found.hooks:
            runs = visible_words(hook.command or (hook.python,)) + (
                f", function {hook.function}" if hook.python else ""
            )
            note(f"{hook.event.value}: {hook.name} runs {runs}")
        for name, digest in found.files.items():
            note(f"  {digest[:12]}  {visible_words((name,))}")
        note(_NOT_COVERED)
        if not assume_yes and not _confirmed():
            raise click.UsageError("nobody confirmed it; on a terminal you are asked, else give --yes")
        trust_hooks(Path.cwd(), found.digest)
    word = "you trust these hooks already" if found.trusted else "trusted"
    names = ", ".join(hook.name for hook in found.hooks) or "none"
    emit("trusted", found, as_json=as_json, text=lambda: f"{word}: {names}")


@hooks.command()
@click.argument("name")
@click.option("--event", help="Where a name has more than one hook: the event of the one that is meant.")
@click.option("--input", "input_file", type=click.File(encoding="utf-8"), help="Facts as a JSON object; - is stdin.")
@json_option
def run(name: str, event: str | None, input_file: Any, as_json: bool) -> int:
    """Ask the hook NAME once, outside of any session, and show what it answers; 1 when it fails."""
    from aircoding.app.hook_trials import run_hook

    results = run_hook(Path.cwd(), name, event=event, facts=_facts(input_file))

    def text() -> str:
        lines: list[str] = []
        for one in results:
            lines.append(f"{one.hook} on {one.event.value}: {one.state} after {one.duration_seconds:g} seconds")
            lines += [f"decision: {one.decision.value}"] if one.decision is not None else []
            lines += [f"reason: {one.reason}"] if one.reason else []
            lines += [f"text for {one.layer.value if one.layer else 'the turn'}:", one.text] if one.text else []
        return "\n".join(lines)

    emit("results", results, as_json=as_json, text=text)
    return int(any(one.state == "failed" for one in results))


def _facts(file: Any) -> dict[str, Any]:
    if file is None:
        return {}
    try:
        facts = json.load(file)
    except (ValueError, RecursionError) as error:
        raise click.UsageError(f"the input is no JSON: {error}") from error
    if not isinstance(facts, dict):
        raise click.UsageError("the input must be a JSON object")
    return facts


def _confirmed() -> bool:
    return sys.stdin.isatty() and click.confirm(visible("Trust these hooks as they are now?"), err=True)


def _fault(one: Any) -> dict[str, str]:
    return {"name": one.name, "reason": one.reason}
