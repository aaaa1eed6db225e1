"""The life of an attempt, as one durable workflow: each phase looks for its own row or commit first.

Worktree, executor, write-area check, commit, verify, debugger where that failed, review, merge. A phase that failed
ends the attempt with a reason and evidence; the scheduler decides what comes next.
"""

from __future__ import annotations

from dataclasses import replace

from aircoding.fleet.briefs import earlier_attempts, fact
from aircoding.fleet.commits import commit_changes
from aircoding.fleet.deps import FleetDeps
from aircoding.fleet.merge_queue import integrate
from aircoding.fleet.phases import Attempt, Ended, load_attempt
from aircoding.fleet.result_checks import note_difference
from aircoding.fleet.reviews import review
from aircoding.fleet.sessions import cut_off, hold_session, not_done
from aircoding.fleet.verification import check, failed_by, shown
from aircoding.fleet.worktrees import prepare_worktree
from aircoding.records.layers import SegmentKind
from aircoding.records.sessions import SessionOutcome

__all__ = ["run_attempt"]


async def run_attempt(deps: FleetDeps, task_id: str, number: str, generation: str) -> str:
    """Run an attempt to its end, leave `attempt.finished` with what was spent so far, and return its outcome."""
    attempt = load_attempt(deps, task_id, int(number), int(generation))
    ended = await _live(attempt)
    whole, own = deps.ledger.spending(deps.run.run_id), deps.ledger.spending(deps.run.run_id, task_id=task_id)
    attempt.note(
        "attempt.finished",
        {
            "outcome": ended.outcome,
            "reason": ended.reason,
            "commit": ended.commit,
            "evidence": list(ended.evidence),
            "stop": ended.stop,
            "task_cost_usd": own.cost_usd,
            "run_cost_usd": whole.cost_usd,
            "run_cached_share": round(whole.cached_share, 4),
            "run_unpriced_calls": whole.unpriced_calls,
            "run_simulated": whole.simulated_calls > 0,
        },
    )
    return ended.outcome


async def _live(attempt: Attempt) -> Ended:
    root = await prepare_worktree(attempt)
    if isinstance(root, Ended):
        return root
    attempt = replace(attempt, root=root)
    outcome = await hold_session(attempt, attempt.task.role, 1, evidence=earlier_attempts(attempt))
    if outcome.status != "done":
        return not_done(attempt, outcome)
    commit = await _settle(attempt, outcome)
    if isinstance(commit, Ended):
        return commit
    sent_back = await review(attempt, commit) if "reviewer" in attempt.task.roles else None
    return sent_back or await integrate(attempt, commit)


async def _settle(attempt: Attempt, done: SessionOutcome) -> str | Ended:
    """Commit and verify; bring in the debugger where that failed. Return the commit that passes."""
    message = f"{attempt.task.id}: {attempt.task.title}"
    commit = await commit_changes(attempt, "executor", message)
    if isinstance(commit, Ended):
        return commit
    await note_difference(attempt, done)
    failure = await check(attempt, commit, f"{attempt.key}:executor")
    if failure is None:
        return commit
    if failure.refused or "debugger" not in attempt.task.retry.escalate:
        return failed_by(attempt, failure)
    title, uri = f"`{failure.command}` failed", f"air:run/{attempt.key}/verify"
    output = fact(SegmentKind.DIAGNOSTIC, title, shown(attempt, failure), uri, required=True)
    outcome = await hold_session(attempt, "debugger", 1, evidence=(output,))
    if outcome.status != "done":
        return cut_off(outcome) or replace(failed_by(attempt, failure), reason=_cause(outcome))
    commit = await commit_changes(attempt, "debugger", message)
    if isinstance(commit, Ended):
        return commit
    failure = await check(attempt, commit, f"{attempt.key}:debugger")
    return commit if failure is None else failed_by(attempt, failure)


def _cause(outcome: SessionOutcome) -> str:
    return str(outcome.result.get("cause") or outcome.summary or outcome.stop)
