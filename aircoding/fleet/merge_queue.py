"""Integrate finished work one commit at a time; the integration branch never stays on a commit that fails.

A conflict is resolved in the attempt's own worktree, not in the shared one: there the integrated state is merged into
the attempt's branch, a debugger sees both sides, and the result goes through verification and the queue again.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from aircoding.fleet.attempts import Attempt, Ended, check, session
from aircoding.fleet.briefs import evidence
from aircoding.fleet.deps import append
from aircoding.fleet.state import fold
from aircoding.fleet.verification import CommandReport, shown, verify
from aircoding.records.layers import SegmentKind

__all__ = ["integrate"]

_MAX_ROUNDS = 3


async def integrate(attempt: Attempt, commit: str) -> Ended:
    """Bring a verified commit into the integration branch, resolving conflicts on the way."""
    for round_ in range(1, _MAX_ROUNDS + 1):
        merged = await attempt.deps.engine.step(f"merge {round_}", partial(_merge, attempt, commit, round_))
        if merged.get("commit"):
            return Ended(outcome="done", reason="", commit=merged["commit"])
        if merged.get("failure"):
            return _red(attempt, CommandReport(**merged["failure"]))
        resolved = await _resolve(attempt, merged["integrated"], merged["conflicts"], round_)
        if isinstance(resolved, Ended):
            return resolved
        commit = resolved
    return Ended(outcome="failed", reason=f"still in conflict after {_MAX_ROUNDS} rounds")


async def _merge(attempt: Attempt, commit: str, round_: int) -> dict[str, Any]:
    """Merge and verify under the queue's lock. An integration branch that a crash left unverified is put back."""
    deps, task = attempt.deps, attempt.task
    key = f"{attempt.key}:merge:{round_}"
    async with deps.merge_lock:
        root = deps.repository.add_worktree(
            f"{deps.run.run_id}/integration", branch=deps.run.integration_branch, commit=deps.run.base_commit
        )
        events = deps.events.read(deps.run.run_id)
        known = next((e for e in events if e.key == f"merge.finished:{key}" and e.payload.get("commit")), None)
        if known is not None:
            return {"commit": str(known.payload["commit"])}
        integrated = fold(events).integrated or deps.run.base_commit
        deps.repository.reset(root, integrated)
        merged = deps.repository.merge(root, commit, f"Merge {task.id}: {task.title}", key=key)
        if merged.commit is None:
            deps.repository.reset(root, integrated)
            payload: dict[str, object] = {"conflicts": list(merged.conflicts), "integrated": integrated}
            append(deps, "merge.finished", payload, key=key, task=task.id, attempt=attempt.number)
            return {"conflicts": list(merged.conflicts), "integrated": integrated}
        failure = None
        if not deps.repository.same_tree(merged.commit, commit):
            failure = await verify(deps, task, attempt.number, root, env=attempt.env, where="integration", key=key)
        if failure is not None:
            deps.repository.reset(root, integrated)
            return {"failure": {name: getattr(failure, name) for name in CommandReport.__slots__}}
        append(deps, "merge.finished", {"commit": merged.commit}, key=key, task=task.id, attempt=attempt.number)
        append(deps, "task.done", {"commit": merged.commit}, key=task.id, task=task.id, attempt=attempt.number)
        return {"commit": merged.commit}


async def _resolve(attempt: Attempt, integrated: str, conflicts: list[str], round_: int) -> str | Ended:
    """Merge the integrated state into the attempt's branch and let a debugger settle the conflict there."""
    deps = attempt.deps
    label = f"resolve:{round_}"
    taken = await deps.engine.step(f"take {round_}", partial(_take, attempt, integrated, label))
    facts = [
        evidence(
            SegmentKind.DIAGNOSTIC,
            f"{path}, with both sides of the conflict",
            text,
            f"air:run/{attempt.key}/conflict/{path}",
            required=True,
        )
        for path, text in _sides(attempt, conflicts)
    ]
    if taken["conflicts"]:
        instruction = (
            "Resolve the merge conflict of task {task} ({title}) in " + ", ".join(conflicts) + ". Keep what both"
            " sides meant; leave no conflict marker."
        )
        outcome = await session(attempt, "debugger", 1 + round_, evidence=facts, instruction=instruction)
        if outcome.status != "done":
            reason = str(outcome.result.get("cause") or outcome.summary or outcome.stop)
            return Ended(outcome="failed", reason=f"the merge conflict was not resolved: {reason}")
    left = [path for path, text in _sides(attempt, conflicts) if "<<<<<<< " in text or ">>>>>>> " in text]
    if left:
        return Ended(outcome="failed", reason=f"conflict markers are left in {', '.join(left)}")
    commit = await deps.engine.step(f"settle {round_}", partial(_settle_merge, attempt, label))
    failure = await check(attempt, f"{attempt.key}:{label}")
    return str(commit) if failure is None else _red(attempt, failure)


async def _take(attempt: Attempt, integrated: str, label: str) -> dict[str, Any]:
    message = f"Take in {integrated[:12]} for {attempt.task.id}"
    merged = attempt.deps.repository.merge(attempt.root, integrated, message, key=f"{attempt.key}:{label}")
    return {"conflicts": list(merged.conflicts)}


async def _settle_merge(attempt: Attempt, label: str) -> str:
    deps = attempt.deps
    message = f"{attempt.task.id}: resolve conflict"
    commit = deps.repository.commit_all(attempt.root, message, key=f"{attempt.key}:{label}")
    return commit or deps.repository.worktree_head(attempt.root)


def _sides(attempt: Attempt, conflicts: list[str]) -> list[tuple[str, str]]:
    files = attempt.deps.repository.open_worktree(attempt.root)
    return [(path, files.read(path).text) for path in conflicts if files.digest(path) is not None]


def _red(attempt: Attempt, failure: CommandReport) -> Ended:
    text = shown(attempt.deps, failure)
    kept = {
        "kind": SegmentKind.FAILURE.value,
        "title": f"Attempt {attempt.number}: `{failure.command}` failed after the merge",
        "text": attempt.deps.blobs.put(text),
    }
    reason = f"`{failure.command}` failed after the merge: {failure.reason or f'exit code {failure.exit_code}'}"
    return Ended(outcome="failed", reason=reason, evidence=(kept,))
