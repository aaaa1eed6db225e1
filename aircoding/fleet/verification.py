"""Run commands of the plan (verify) and of the project (set-up), each behind its own decision."""

from __future__ import annotations

from dataclasses import dataclass

from aircoding.fleet.deps import FleetDeps, append
from aircoding.permissions.engine import decide
from aircoding.records.ids import Digest
from aircoding.records.policy import CommandAct
from aircoding.records.tasks import TaskSpec
from aircoding.records.work import CommandRequest

__all__ = ["CommandReport", "run_checked", "verify"]

_SHOWN_CHARACTERS = 6_000


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandReport:
    """How a command ended; `output` is the digest of what it printed (secrets masked)."""

    command: str
    passed: bool
    exit_code: int | None
    output: Digest
    reason: str = ""


async def run_checked(
    deps: FleetDeps,
    task: TaskSpec,
    command: str,
    root: str,
    *,
    env: tuple[tuple[str, str], ...],
    network: bool = False,
) -> CommandReport:
    """Run one command in a worktree, if the policy permits it now."""
    decision = decide(CommandAct(command=command), deps.policy_for_task(task))
    if not decision.permits:
        reason = f"the policy refuses it: {decision.reason}"
        return CommandReport(
            command=command, passed=False, exit_code=None, output=deps.blobs.put(reason), reason=reason
        )
    request = CommandRequest(command=command, timeout_seconds=deps.command_timeout_seconds, network=network, env=env)
    outcome = await deps.sandbox.run(request, root=root)
    text = deps.session.screener.mask(outcome.output)
    reason = f"no end after {deps.command_timeout_seconds:g} seconds" if outcome.timed_out else ""
    return CommandReport(
        command=command,
        passed=outcome.exit_code == 0,
        exit_code=outcome.exit_code,
        output=deps.blobs.put(text),
        reason=reason,
    )


async def verify(
    deps: FleetDeps, task: TaskSpec, attempt: int, root: str, *, env: tuple[tuple[str, str], ...], where: str, key: str
) -> CommandReport | None:
    """Run a task's verify commands in order and return the first that fails, or None when all pass.

    `where` is `attempt` or `integration`; `key` tells repeated verifications of an attempt apart.
    """
    for number, command in enumerate(task.verify):
        report = await run_checked(deps, task, command, root, env=env)
        payload: dict[str, object] = {
            "passed": report.passed,
            "command": command,
            "exit_code": report.exit_code,
            "output": report.output,
            "where": where,
            "reason": report.reason,
        }
        append(deps, "verify.finished", payload, key=f"{key}:{number}", task=task.id, attempt=attempt)
        if not report.passed:
            return report
    return None


def shown(deps: FleetDeps, report: CommandReport) -> str:
    """Return what of a failed command a model is shown: the end of its output, which says most."""
    text = deps.blobs.get(report.output) or ""
    cut = (
        text if len(text) <= _SHOWN_CHARACTERS else "[... the beginning is left out ...]\n" + text[-_SHOWN_CHARACTERS:]
    )
    ended = report.reason or f"exit code {report.exit_code}"
    return f"$ {report.command}\n{cut.rstrip()}\n({ended})"


__all__ += ["shown"]
