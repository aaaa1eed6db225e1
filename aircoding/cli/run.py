"""`aircoding run` and `aircoding resume`."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from aircoding.cli.output import SCHEMA_VERSION, note, table, visible
from aircoding.records.events import Event
from aircoding.records.ids import OF_RUN
from aircoding.records.jsonable import jsonable
from aircoding.records.words import counted, dollars

if TYPE_CHECKING:
    from aircoding.app.run_results import RunResult

__all__ = ["Reporter", "reload", "resume", "run"]


class Reporter:
    """Says what happens while a run goes on: a line per change on stderr, or one JSON event a line on stdout."""

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json

    def __call__(self, event: Event) -> None:
        """Show one event."""
        if self._as_json:
            click.echo(json.dumps({"schema_version": SCHEMA_VERSION, "type": "event", "event": jsonable(event)}))
            return
        line = _line(event)
        if line:
            note(line)

    def say(self, text: str) -> None:
        """Say something that is no event; nothing in JSON mode."""
        if not self._as_json:
            note(text)


def _found(payload: Mapping[str, Any]) -> str:
    """Say what a tool brought that may be an attack, and whether the agent saw it."""
    hits = [one for one in payload["findings"] if one["blocks"] or not payload["blocked"]]
    what = "; ".join(f"{one['code']} at lines {one['start_line']}-{one['end_line']}" for one in hits[:3])
    more = f" and {len(hits) - 3} more" if len(hits) > 3 else ""
    said = "was withheld from" if payload["blocked"] else "is suspicious and was shown to"
    source = str(payload["source_uri"])
    source = f"what {payload['tool']} gave" if source.startswith("air:") else source.removeprefix("project:")
    return f"a part of {source} {said} the agent: {what}{more}"


def _line(event: Event) -> str:
    """Return the line of an event that a person wants to see, or nothing."""
    payload, task = event.payload, event.task_id or ""
    where = f"{task}" if (event.attempt or 1) == 1 else f"{task} (attempt {event.attempt})"
    if event.task_id == OF_RUN:
        where = "rules"
    lines = {
        "run.started": f"run {event.run_id} started",
        "run.resumed": f"run {event.run_id} goes on",
        "run.reloaded": f"run {event.run_id} takes in what changed (revision {str(payload.get('run_revision'))[:12]})",
        "policy.invalid": f"a policy file is wrong, and the version before it holds: {payload.get('problem', '')}",
        "run.paused": f"run {event.run_id} pauses: {payload.get('reason', '')}",
        "task.dispatched": f"{where}: started",
        "setup.failed": f"{where}: set-up failed: {payload.get('reason', '')}",
        "permission.denied": f"{where}: denied {payload.get('act', '')}: {payload.get('reason', '')}",
        "permission.announced": f"{where}: runs {payload.get('act', '')} ({payload.get('reason', '')})",
        "write_area.violated": f"{where}: changed files outside its write area: {payload.get('paths', '')}",
        "source.invalid": _remark(payload),
        "conflict.found": f"conflict {payload.get('conflict_id')}: {payload.get('detail')}; {payload.get('ruling')}",
        "conflict.opened": f"{where}: conflict: {payload.get('detail', '')}",
        "result.differs": f"{where}: {payload.get('remark', '')}",
        "plugin.left_out": f"{payload.get('name')} takes no part: {payload.get('reason')}",
        "hook.failed": f"{where}: {payload.get('hook')} failed on {payload.get('event')}: {payload.get('reason')}",
        "hook.cut": f"{where}: {payload.get('cut_chars')} characters of what {payload.get('hook')} said were left out",
        "hook.switched_off": f"{where}: {payload.get('hook')} failed {payload.get('failures')} times in a row"
        f" on {payload.get('event')}, and is not asked again in this session",
        "task.failed": f"{task}: failed: {payload.get('reason', '')}",
        "task.blocked": f"{task}: blocked: {payload.get('reason', '')}",
    }
    if event.type == "session.started" and payload.get("role") not in {None, "executor"}:
        return f"{where}: {payload['role']} looks at it"
    if event.type == "screening.found":
        return f"{where}: {_found(payload)}"
    if event.type == "conflict.judged":
        return _judged(payload)
    if event.type == "verify.finished" and not payload.get("passed"):
        return f"{where}: `{payload.get('command', '')}` failed with exit code {payload.get('exit_code')}"
    if event.type == "attempt.finished" and "run_cost_usd" in payload:
        return f"{where}: {_ended(payload)}; {_so_far(payload)}"
    if event.type == "review.finished":
        return f"{where}: review: {payload.get('verdict', '')}"
    if event.type == "run.finished" and payload.get("not_moved"):
        return f"no branch was moved: {payload['not_moved']}; take the work with: {payload['command']}"
    if event.type == "merge.finished" and payload.get("conflicts"):
        return f"{where}: merge conflict in {', '.join(payload['conflicts'])}"
    return lines.get(event.type, "")


def _remark(payload: Mapping[str, Any]) -> str:
    """Say what is wrong with a source; only an error keeps it out."""
    line = "" if payload.get("line") is None else f":{payload['line']}"
    out = "; it takes no part" if payload.get("severity") == "error" else ""
    return f"{payload.get('uri')}{line}: {payload.get('message')}{out}"


def _judged(payload: Mapping[str, Any]) -> str:
    """Return what came of the conflict judge: each contradiction, what did not count, or why there is no answer."""
    if payload["status"] != "done":
        return f"the conflict judge gave no answer, and the run goes on without: {payload['reason']}"
    found = [f"conflict {one['conflict']['conflict_id']}: {one['conflict']['detail']}" for one in payload["found"]]
    count = f"rules: {len(found)} more contradictions found by {payload['model']}"
    left_out = f"; {payload['left_out']} left out (no such rules, or code has decided)" if payload["left_out"] else ""
    return "\n".join((count + left_out, *found))


def _ended(payload: Mapping[str, Any]) -> str:
    """Say how an attempt ended. One that could reach no model is not over: it is tried again at the next resume."""
    outcome, reason = payload.get("outcome", ""), payload.get("reason", "")
    if payload.get("stop") == "outage":
        return f"waits: {reason}"
    if outcome == "done":
        return f"done ({reason})" if reason else "done"
    return f"attempt ended: {str(outcome).replace('_', ' ')}"


def _so_far(payload: Mapping[str, Any]) -> str:
    """Return what the run has cost up to an event, and how much of its prompts came from the cache."""
    usd, unpriced = payload["run_cost_usd"], payload.get("run_unpriced_calls", 0)
    known = "" if usd is None else dollars(usd)
    unknown = f"{counted(unpriced, 'call')} of unknown price" if unpriced else ""
    money = " and ".join(part for part in (known, unknown) if part)
    simulated = " (simulated)" if payload.get("run_simulated") else ""
    share = f"{payload.get('run_cached_share', 0.0):.0%} of the prompt tokens from the cache"
    return f"run so far: {money}, {share}{simulated}"


@click.command()
@click.option("--plan", "plan_file", type=click.Path(path_type=Path), help="Default .air/shared/plan/tasks.yaml.")
@click.option("--goal", help="Ask the architecture designer for a plan, and confirm it first.")
@click.option("--provider", help="anthropic:MODEL or scripted:FILE.")
@click.option("--concurrency", type=click.IntRange(1, 256), help="Attempts at once.")
@click.option("--max-cost", "max_cost_usd", type=click.FloatRange(0, min_open=True), help="Most money in US dollars.")
@click.option("--profile", help="A profile of ~/.air/profiles: its SOUL.md and its memory. A resume keeps it.")
@click.option("--no-sandbox", is_flag=True, help="Run commands unconfined; what is allowed then asks.")
@click.option("--allow-dirty", is_flag=True, help="Start from HEAD although there are uncommitted changes.")
@click.option("--yes", "assume_yes", is_flag=True, help="Approve the listed commands and the plan without asking.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON event a line, then a result.")
def run(
    plan_file: Path | None,
    goal: str | None,
    provider: str | None,
    concurrency: int | None,
    max_cost_usd: float | None,
    profile: str | None,
    no_sandbox: bool,
    allow_dirty: bool,
    assume_yes: bool,
    as_json: bool,
) -> None:
    """Drive a plan to merged, verified work."""
    from aircoding.app.runs import RunRequest, start_run

    reporter = Reporter(as_json=as_json)
    request = RunRequest(
        start=Path.cwd(),
        plan_file=plan_file,
        goal=goal,
        provider=provider,
        concurrency=concurrency,
        max_cost_usd=max_cost_usd,
        profile=profile,
        sandbox="none" if no_sandbox else None,
        allow_dirty=allow_dirty,
    )
    _finish(start_run(request, report=reporter, say=reporter.say, confirm=_confirm(assume_yes)), as_json=as_json)


@click.command()
@click.argument("run_id", required=False)
@click.option("--last", is_flag=True, help="The newest run that is not finished (the default).")
@click.option("--max-cost", "max_cost_usd", type=click.FloatRange(0, min_open=True), help="A new limit in US dollars.")
@click.option("--profile", help="Not needed: a run keeps the profile that it was started with; another is refused.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON event a line, then a result.")
def resume(run_id: str | None, last: bool, max_cost_usd: float | None, profile: str | None, as_json: bool) -> None:
    """Go on with a run that was interrupted, killed, or out of budget."""
    from aircoding.app.runs import resume_run

    if run_id and last:
        raise click.UsageError("give a run or --last, not both")
    reporter = Reporter(as_json=as_json)
    ended = resume_run(
        Path.cwd(), run_id, max_cost_usd=max_cost_usd, profile=profile, report=reporter, say=reporter.say
    )
    _finish(ended, as_json=as_json)


@click.command()
@click.argument("run_id", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def reload(run_id: str | None, as_json: bool) -> None:
    """Let a run take in rules, plan documents, roles and policies that changed since it was started.

    Its sessions render them in place with their next turn. Without this, they are told in notices, and the
    prefix that they share stays as it is.
    """
    from aircoding.app.reload import reload_run

    done = reload_run(Path.cwd(), run_id, say=Reporter(as_json=as_json).say)
    if as_json:
        click.echo(json.dumps({"schema_version": SCHEMA_VERSION, **jsonable(done)}))
    elif done.changed:
        click.echo(f"run {done.run_id}: revision {done.run_revision[:12]} holds from each session's next turn on")
    else:
        click.echo(f"run {done.run_id}: nothing has changed, revision {done.run_revision[:12]} holds")


def _confirm(assume_yes: bool) -> Callable[[str], bool | None]:
    def confirm(question: str) -> bool | None:
        """Return the person's answer, or None when there is nobody to ask."""
        if assume_yes:
            return True
        if not sys.stdin.isatty():
            return None
        return click.confirm(visible(question), err=True)

    return confirm


def _finish(result: RunResult, *, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps({"schema_version": SCHEMA_VERSION, "type": "result", **jsonable(result)}))
    else:
        rows = [(state.task_id, state.title, state.state, state.attempt, state.reason) for state in result.tasks]
        click.echo(table(("task", "title", "state", "attempts", "why"), rows))
        click.echo()
        click.echo(visible(result.summary))
    raise SystemExit(result.exit_code)
