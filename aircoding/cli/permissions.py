"""`aircoding permissions`: what may be done."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from aircoding.cli.output import emit, json_option, note, visible, visible_line, visible_words

if TYPE_CHECKING:
    from aircoding.app.judging import Asked
    from aircoding.records.policy import Act, Decision, Judgement

__all__ = ["permissions"]

_MOST_HOOK_BYTES = 64_000_000
"""A call of more is cut, and then no JSON."""


@click.group()
def permissions() -> None:
    """Trust a project, or a plan's commands; ask what the policy says; take over rules of another tool."""


@permissions.command()
@click.option("--plan", "plan_file", type=click.Path(path_type=Path), help="Approve this plan's commands.")
@click.option("--yes", "assume_yes", is_flag=True, help="Trust the project without asking; a terminal is asked.")
@json_option
def trust(plan_file: Path | None, assume_yes: bool, as_json: bool) -> None:
    """Trust this project's files, and its policy as it is now; with --plan, its verify and set-up commands as they are.

    What changed in the policy since it was last trusted is shown first.
    """
    from aircoding.app.trusting import policy_changes, project_files_in_words, trust_plan, trust_project

    if plan_file is not None and assume_yes:
        raise click.UsageError("--plan asks nothing, so there is nothing for --yes to answer")
    if plan_file is None and not assume_yes and sys.stdin.isatty():
        for line in policy_changes(Path.cwd()):
            note(visible_line(line))
        question = f"Let these instruct agents: {project_files_in_words(Path.cwd())}?"
        if not click.confirm(visible(question), err=True):
            raise click.UsageError("nothing was trusted")
    report = trust_project(Path.cwd()) if plan_file is None else trust_plan(Path.cwd(), plan_file)
    shown = report.policy_changes if assume_yes or not sys.stdin.isatty() else ()
    emit("trusted", report, as_json=as_json, text=lambda: "\n".join([*map(visible_line, shown), *report.lines]))


def _asked_for(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that say for whom is asked."""
    area = click.option("--write-area", multiple=True, metavar="GLOB", help="What may be written; all if not given.")
    task = click.option("--task", "task_id", help="Judge as for this task of the plan.")
    return click.option("--role", default="executor", show_default=True)(task(area(command)))


def _act_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add what names the act that is asked about."""
    write = click.option("--write", is_flag=True, help="With --path: the file is written, not read.")
    host = click.option("--host", metavar="HOST", help="Judge a connection to this host.")
    path = click.option("--path", metavar="PATH", help="Judge reading this file.")
    return click.argument("command", required=False)(path(write(host(command))))


def _act(command: str | None, path: str | None, host: str | None, *, write: bool) -> Act:
    from aircoding.records.policy import CommandAct, HostAct, PathAct

    given = [one for one in (command, path, host) if one is not None]
    if len(given) != 1:
        raise click.UsageError("name one act: a COMMAND, --path or --host")
    if write and path is None:
        raise click.UsageError("--write goes with --path")
    if command is not None:
        return CommandAct(command=command)
    return HostAct(host=host) if host is not None else PathAct(path=path or "", access="write" if write else "read")


def _about_an_act(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command what names an act, and for whom is asked, as `act` and `asked`."""

    @_act_options
    @_asked_for
    @wraps(command)
    def with_act(**given: Any) -> None:
        from aircoding.app.judging import Asked

        act = _act(given.pop("command"), given.pop("path"), given.pop("host"), write=given.pop("write"))
        asked = Asked(**{name: given.pop(name) for name in ("role", "task_id", "write_area")})
        command(act=act, asked=asked, **given)

    return with_act


@permissions.command()
@_about_an_act
@json_option
def check(act: Act, asked: Asked, *, as_json: bool) -> None:
    """Say what the policy decides of a shell command, a file or a host, and which line of which file decided."""
    from aircoding.app.judging import judge_act

    decision = judge_act(Path.cwd(), act, asked)
    emit("decision", decision, as_json=as_json, text=lambda: "\n".join(_decided(decision)))


def _decided(decision: Decision) -> list[str]:
    return [f"{decision.effect.value}: {decision.reason}", *(_judged(part) for part in decision.judgements)]


def _judged(part: Judgement) -> str:
    where = part.uri if part.line is None else f"{part.uri}:{part.line}"
    return f"  {part.effect.value:8} {part.text}  <- {part.pattern}  ({where})"


@permissions.command()
@_about_an_act
@json_option
def explain(act: Act, asked: Asked, *, as_json: bool) -> None:
    """Say which line of which file decided, and what would change it; each change that is named was tried."""
    from aircoding.app.judging import explain_act

    found = explain_act(Path.cwd(), act, asked)

    def text() -> str:
        lines = [f"{found.decision.effect.value}: {found.decision.reason}", "decided by:"]
        lines += [_judged(part) for part in found.decisive]
        if found.changes:
            lines += ["what would change it:", *(f"  {one.effect.value:8} {one.says}" for one in found.changes)]
        if len(found.changes) > 1:
            lines.append(f"  {found.together.value:8} all of these together")
        if found.fixed:
            lines += ["what no file changes:", *(f"  {one}" for one in found.fixed)]
        lines.append(f"fingerprint: {found.decision.fingerprint} (act, folder and policy; an approval is bound to it)")
        return "\n".join(lines)

    emit("explanation", found, as_json=as_json, text=text)


@permissions.command("test")
@click.argument("file", type=click.Path(path_type=Path))
@_asked_for
@json_option
def test_cases(file: Path, *, role: str, task_id: str | None, write_area: tuple[str, ...], as_json: bool) -> None:
    """Judge the cases of a YAML table, and exit with 1 where one does not get the decision that it expects."""
    from aircoding.app.judging import Asked, check_cases

    results = check_cases(Path.cwd(), file, Asked(role=role, task_id=task_id, write_area=write_area))
    wrong = [one for one in results if not one.holds]

    def text() -> str:
        lines = [
            f"{file}:{one.case.line}: {one.decision.effect.value}, not {one.case.expected.value}: {one.decision.reason}"
            for one in wrong
        ]
        return "\n".join([*lines, f"{len(results) - len(wrong)} of {len(results)} cases get what they expect"])

    emit("results", results, as_json=as_json, text=text, failed=len(wrong))
    if wrong:
        raise SystemExit(1)


@permissions.command()
@_asked_for
@click.option("--headless", is_flag=True, help="Nobody can be asked: what would ask is refused.")
@json_option
def hook(*, role: str, task_id: str | None, write_area: tuple[str, ...], headless: bool, as_json: bool) -> None:
    """Answer Claude Code's PreToolUse hook: one call on standard input, one decision on standard output.

    Whatever goes wrong refuses the call (exit code 2, the reason on stderr): no fault of ours, and no input that is not
    as the protocol says, lets a call through. The answer is JSON with and without --json.
    """
    from aircoding.app.judging import Asked, answer_hook

    del as_json
    try:
        given = json.loads(sys.stdin.buffer.read(_MOST_HOOK_BYTES + 1).decode("utf-8"))
        asked = Asked(role=role, task_id=task_id, write_area=write_area)
        answer = answer_hook(given, asked, headless=headless)
    except Exception as error:  # the other side takes any exit code but 2 for leave to go on
        note(f"aircoding refuses this call: {str(error) or type(error).__name__}")
        raise SystemExit(2) from error
    if answer is not None:
        click.echo(json.dumps(answer))


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
