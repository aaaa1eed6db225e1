"""Integrate finished work one commit at a time; the integration branch never stays on a commit that fails.

The queue is a lock: who asks first is first. It is held for a merge and its verification, never for a session: work
that does not go together is settled in the attempt's own worktree (`conflicts`) and queues again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import Any

from aircoding.fleet.phases import Attempt, Ended
from aircoding.fleet.result_checks import remark_on
from aircoding.fleet.settling import Clash, settle
from aircoding.fleet.verification import CommandReport, failed_by, report_values, verify
from aircoding.fleet.worktrees import integration_worktree

__all__ = ["integrate"]

_MAX_ROUNDS = 3
"""How often work is settled anew: each round loses only against work that was merged meanwhile."""


async def integrate(attempt: Attempt, commit: str) -> Ended:
    """Bring a verified commit into the integration branch, settling conflicts on the way."""
    for round_ in range(1, _MAX_ROUNDS + 1):
        found = await attempt.deps.engine.step(f"merge {round_}", partial(_merge, attempt, commit, round_))
        if found.get("blocked"):
            return Ended(outcome="blocked", reason=found["blocked"])
        if found.get("commit"):
            return Ended(outcome="done", reason=remark_on(attempt), commit=found["commit"])
        failure = CommandReport(**found["failure"]) if found.get("failure") else None
        if failure is not None and _is_final(attempt, failure, round_):
            return failed_by(attempt, failure, after=" after the merge")
        if round_ == _MAX_ROUNDS:
            break
        clash = Clash(
            integrated=found["integrated"], paths=tuple(found["conflicts"]), theirs=found["theirs"], failure=failure
        )
        settled = await settle(attempt, clash, round_)
        if isinstance(settled, Ended):
            return settled
        commit = settled
    return Ended(outcome="failed", reason=f"still in conflict with other tasks' work after {_MAX_ROUNDS} rounds")


def _is_final(attempt: Attempt, failure: CommandReport, round_: int) -> bool:
    return failure.refused or "debugger" not in attempt.task.retry.escalate or round_ == _MAX_ROUNDS


async def _merge(attempt: Attempt, commit: str, round_: int) -> dict[str, Any]:
    """Merge and verify under the queue's lock.

    Each merge begins at the last commit that the log says is integrated: what a crash left half done, or
    merged and not verified, is given up and done again.
    """
    deps, key = attempt.deps, f"{attempt.key}:merge:{round_}"
    async with deps.merge_lock:
        known = attempt.found("merge.finished", key)
        if known is not None and "commit" in known.payload:
            return {"commit": known.payload["commit"]}
        root, failed = await integration_worktree(attempt)
        if failed:
            return {"blocked": f"the integration worktree: {failed}"}
        integrated = deps.journal.state.integrated or deps.run.base_commit
        # What set-up made must stay; without set-up nothing that git ignores may speak for the commit.
        prepared = bool(deps.preparation.setup or deps.preparation.copy)
        await asyncio.to_thread(partial(deps.repository.reset, root, integrated, ignored=not prepared))
        message = f"Merge {attempt.task.id}: {attempt.task.title}"
        merged = await asyncio.to_thread(deps.repository.merge, root, commit, message, key=key)
        if merged.commit is None:
            return await _undo(attempt, root, integrated, key, conflicts=merged.conflicts)
        # The attempt's own worktree is no witness: files there that git ignores (caches of compiled code) can make
        # a verification pass that fails on the commit itself.
        failure, _ = await verify(attempt, root, where="integration", key=f"{key}:{integrated[:12]}")
        if failure is not None:
            return await _undo(attempt, root, integrated, key, failure=failure)
        _record(attempt, merged.commit, key)
        return {"commit": merged.commit}


def _record(attempt: Attempt, commit: str, key: str) -> None:
    """Record merge and end of the task in one transaction: no crash can come between."""
    attempt.deps.events.append(
        attempt.event("merge.finished", {"commit": commit}, key=key),
        attempt.event("task.done", {"commit": commit, "reason": remark_on(attempt)}, key=attempt.task.id),
    )


async def _undo(
    attempt: Attempt,
    root: str,
    integrated: str,
    key: str,
    *,
    conflicts: tuple[str, ...] = (),
    failure: CommandReport | None = None,
) -> dict[str, Any]:
    """Put the integration branch back, and say what it holds that the attempt did not know."""
    deps = attempt.deps
    await asyncio.to_thread(deps.repository.reset, root, integrated)
    theirs = await asyncio.to_thread(deps.repository.open_worktree(root).diff, attempt.base_commit)
    found: dict[str, Any] = {
        "conflicts": list(conflicts),
        "integrated": integrated,
        "theirs": deps.blobs.put(theirs),
        "failure": None if failure is None else report_values(failure),
    }
    failed: Mapping[str, object] = {} if failure is None else {"failed": failure.command, "reason": failure.why}
    # A key of its own: the same round, done again after a crash, may well succeed.
    undone = f"{key}:undone:{integrated[:12]}"
    attempt.note("merge.finished", {"conflicts": list(conflicts), "integrated": integrated, **failed}, key=undone)
    return found
