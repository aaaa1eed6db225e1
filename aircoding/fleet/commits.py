"""Commit what a session left, if all of it lies in the task's write area. The orchestrator alone commits."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

from aircoding.agents.tools.shell import outside_write_area
from aircoding.fleet.phases import Attempt, Ended, keep
from aircoding.records.layers import SegmentKind

__all__ = ["commit_changes"]


async def commit_changes(attempt: Attempt, made_by: str, message: str, *, since: str | None = None) -> str | Ended:
    """Check the write area and commit the worktree; return the commit it is at, also when nothing changed.

    All that differs from `since` is checked (None: the base of the task's first attempt, so that
    commits that a worker made by itself count too). A merge is checked against the commit that it took in.
    """
    found = await attempt.deps.engine.step(f"commit {made_by}", partial(_commit, attempt, made_by, message, since))
    if not found["outside"]:
        return str(found["commit"])
    reason = f"changed files outside its write area: {', '.join(found['outside'])}"
    title = f"Attempt {attempt.number} left its write area"
    return Ended(outcome="failed", reason=reason, evidence=(keep(attempt, SegmentKind.FAILURE, title, reason),))


async def _commit(attempt: Attempt, made_by: str, message: str, since: str | None) -> dict[str, Any]:
    deps = attempt.deps
    key = f"{attempt.key}:{made_by}"
    if (known := attempt.found("commit.created", key)) is not None:
        return {"outside": [], "commit": known.payload["commit"]}
    files = deps.repository.open_worktree(attempt.root)
    policy = deps.policy_for_task(attempt.task)
    outside = await asyncio.to_thread(outside_write_area, files, since or attempt.origin_commit, policy)
    mask = deps.session.screener.mask
    if outside:
        named = [mask(path) for path in outside]
        attempt.note("write_area.violated", {"paths": named}, key=key)
        return {"outside": named, "commit": ""}
    made = await asyncio.to_thread(deps.repository.commit_all, attempt.root, mask(message), key=key)
    commit = made or deps.repository.worktree_head(attempt.root)
    changed = [change.path for change in await asyncio.to_thread(files.changes, since or attempt.origin_commit)]
    attempt.note("commit.created", {"commit": commit, "changed_files": changed}, key=key)
    return {"outside": [], "commit": commit}
