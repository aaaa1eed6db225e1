"""Run commands of the plan (verify) and of the project (set-up), each behind its own decision."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import partial
from typing import Any

from aircoding.fleet.phases import Attempt, Ended, keep
from aircoding.permissions.engine import account_of, decide
from aircoding.records.events import Event
from aircoding.records.ids import Digest
from aircoding.records.layers import SegmentKind
from aircoding.records.policy import CommandAct, Effect
from aircoding.records.work import CommandRequest

__all__ = ["CommandReport", "check", "failed_by", "report_values", "run_checked", "shown", "verify"]

_SHOWN_CHARACTERS = 6_000


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandReport:
    """How a command ended; `output` is the digest of what it printed (secrets masked).

    `refused` says that the policy did not let it run: nobody's work is at fault then.
    """

    command: str
    passed: bool
    exit_code: int | None
    output: Digest
    reason: str = ""
    refused: bool = False

    @property
    def why(self) -> str:
        """Why it did not pass, in words."""
        return self.reason or f"exit code {self.exit_code}"


def report_values(report: CommandReport) -> dict[str, Any]:
    """Return a report as plain JSON, for the result of a step; `CommandReport(**values)` is the way back."""
    return {name: getattr(report, name) for name in CommandReport.__slots__}


async def run_checked(
    attempt: Attempt,
    command: str,
    root: str,
    *,
    key: str,
    network: bool = False,
    writable_paths: tuple[str, ...] = (),
) -> CommandReport:
    """Run one command in a worktree, if the policy permits it now; a denial or announcement is an event."""
    deps = attempt.deps
    mask = deps.session.screener.mask
    told = mask(command)
    policy = deps.policy_for_task(attempt.task)
    decision = decide(CommandAct(command=command), policy)
    if not decision.permits:
        attempt.note("permission.denied", account_of(decision, tool="orchestrator"), key=key)
        reason = mask(f"the policy refuses it: {decision.reason}")
        output = deps.blobs.put(reason)
        return CommandReport(command=told, passed=False, exit_code=None, output=output, reason=reason, refused=True)
    if decision.effect is Effect.ANNOUNCE:
        attempt.note("permission.announced", account_of(decision, tool="orchestrator"), key=key)
    request = CommandRequest(
        command=command,
        timeout_seconds=deps.command_timeout_seconds,
        network=network,
        env=tuple((name, value) for name, value in attempt.env if name not in policy.mask_env),
        writable_paths=writable_paths,
    )
    outcome = await deps.sandbox.run(request, root=root)
    text = mask(outcome.output)
    reason = f"no end after {deps.command_timeout_seconds:g} seconds" if outcome.timed_out else ""
    return CommandReport(
        command=told,
        passed=outcome.exit_code == 0 and not outcome.timed_out,
        exit_code=outcome.exit_code,
        output=deps.blobs.put(text),
        reason=reason,
    )


async def verify(attempt: Attempt, root: str, *, where: str, key: str) -> tuple[CommandReport | None, bool]:
    """Run a task's verify commands in order; return the first that fails, or None, and whether any was run now.

    `where` is `attempt` or `integration`; `key` tells repeated verifications of an attempt apart. What
    is on record is not run again.
    """
    ran = False
    for number, command in enumerate(attempt.task.verify):
        name = f"{key}:{number}"
        known = attempt.found("verify.finished", name)
        if known is not None:
            report = _recorded(known)
        else:
            ran = True
            report = await run_checked(attempt, command, root, key=name)
            attempt.note("verify.finished", {**report_values(report), "where": where}, key=name)
        if not report.passed:
            return report, ran
    return None, ran


def _recorded(event: Event) -> CommandReport:
    return CommandReport(**{name: event.payload[name] for name in CommandReport.__slots__})


async def check(attempt: Attempt, commit: str, key: str) -> CommandReport | None:
    """Verify the attempt's worktree, which is at `commit`, as a step; return the failure, or None."""
    found = await attempt.deps.engine.step(f"verify {key}", partial(_check, attempt, commit, key))
    return CommandReport(**found) if found else None


async def _check(attempt: Attempt, commit: str, key: str) -> dict[str, Any] | None:
    repository = attempt.deps.repository
    report, ran = await verify(attempt, attempt.root, where="attempt", key=key)
    if ran:
        # What our own commands leave behind (caches, reports) must not count as the next worker's change. When
        # nothing was run now, this is a replay, and what differs is the work of a phase that came later.
        left = await asyncio.to_thread(repository.open_worktree(attempt.root).changes, commit)
        if left:
            await asyncio.to_thread(repository.reset, attempt.root, commit)
    return None if report is None else report_values(report)


def shown(attempt: Attempt, report: CommandReport) -> str:
    """Return what of a failed command a model is shown: the end of its output, which says most."""
    text = attempt.deps.blobs.get(report.output) or ""
    if len(text) > _SHOWN_CHARACTERS:
        text = "[... the beginning is left out ...]\n" + text[-_SHOWN_CHARACTERS:]
    return f"$ {report.command}\n{text.rstrip()}\n({report.why})"


def failed_by(attempt: Attempt, report: CommandReport, *, after: str = "") -> Ended:
    """Return how an attempt ends whose verification failed: blocked when the policy refused it, else failed."""
    reason = f"`{report.command}` failed{after}: {report.why}"
    if report.refused:
        return Ended(outcome="blocked", reason=reason)
    title = f"Attempt {attempt.number}: `{report.command}` failed{after}"
    kept = keep(attempt, SegmentKind.FAILURE, title, shown(attempt, report))
    return Ended(outcome="failed", reason=reason, evidence=(kept,))
