"""Make worktrees ready: files that git ignores are copied, set-up commands run, once for each worktree."""

from __future__ import annotations

import asyncio
from functools import partial

from aircoding.fleet.deps import append
from aircoding.fleet.phases import Attempt, Ended
from aircoding.fleet.verification import CommandReport, run_checked

__all__ = ["integration_worktree", "prepare_worktree"]

_TRIES = 2
"""A set-up command that fails is run once more: downloads and locks fail by chance."""
_SHOWN_PATHS = 10


async def prepare_worktree(attempt: Attempt) -> str | Ended:
    """Make the attempt's worktree at its base and set it up; return its root.

    A failed set-up is not the agent's failure: the task is blocked with the reason.
    """
    made = await attempt.deps.engine.step("worktree", partial(_prepare, attempt))
    return Ended(outcome="blocked", reason=made["failed"]) if made["failed"] else str(made["root"])


async def _prepare(attempt: Attempt) -> dict[str, str]:
    deps = attempt.deps
    name = f"{attempt.task.id}-{attempt.number}"
    async with deps.git_lock:
        root = await asyncio.to_thread(
            deps.repository.add_worktree,
            f"{deps.run.run_id}/{name}",
            branch=f"air/{deps.run.run_id}/{name}",
            commit=attempt.base_commit,
        )
    if attempt.found("worktree.prepared", attempt.key) is None:
        failed = await _set_up(attempt, root, label=attempt.key)
        if failed:
            return {"root": root, "failed": failed}
        attempt.note("worktree.prepared", {})
    return {"root": root, "failed": ""}


async def integration_worktree(attempt: Attempt) -> tuple[str, str]:
    """Return the root of the integration worktree, and why it could not be set up (nothing: it is).

    To be called under the merge lock; the attempt that merges first sets it up.
    """
    deps = attempt.deps
    async with deps.git_lock:
        root = await asyncio.to_thread(
            deps.repository.add_worktree,
            f"{deps.run.run_id}/integration",
            branch=deps.run.integration_branch,
            commit=deps.run.base_commit,
        )
    if deps.journal.find("worktree.prepared:integration") is not None:
        return root, ""
    failed = await _set_up(attempt, root, label=f"{attempt.key}:integration")
    if not failed:
        append(deps, "worktree.prepared", {}, key="integration")
    return root, failed


async def _set_up(attempt: Attempt, root: str, *, label: str) -> str:
    """Copy and run what `[worktree]` names; return why it failed, or nothing."""
    deps, preparation = attempt.deps, attempt.deps.preparation
    if not preparation.copy and not preparation.setup:
        return ""
    commit = deps.repository.worktree_head(root)
    if preparation.copy:
        await asyncio.to_thread(deps.copy_files, preparation.copy, root)
    for number, command in enumerate(preparation.setup):
        for tried in range(1, _TRIES + 1):
            key = f"{label}:{number}:{tried}"
            report = await run_checked(
                attempt, command, root, key=key, network=preparation.network, writable_paths=preparation.cache
            )
            if report.passed:
                break
            _note_failure(attempt, report, key)
            if report.refused or tried == _TRIES:
                return f"set-up `{command}`: {report.why}"
    return await _left_over(attempt, root, commit)


def _note_failure(attempt: Attempt, report: CommandReport, key: str) -> None:
    payload = {
        "command": report.command,
        "passed": False,
        "exit_code": report.exit_code,
        "output": report.output,
        "reason": f"`{report.command}`: {report.why}",
    }
    attempt.note("setup.failed", payload, key=key)


async def _left_over(attempt: Attempt, root: str, commit: str) -> str:
    """Set-up must leave only what git ignores: anything else would count as the agent's change and be committed."""
    files = attempt.deps.repository.open_worktree(root)
    left = [change.path for change in await asyncio.to_thread(files.changes, commit)]
    if not left:
        return ""
    more = f" and {len(left) - _SHOWN_PATHS} more" if len(left) > _SHOWN_PATHS else ""
    reason = (
        f"set-up changed files that git does not ignore: {', '.join(left[:_SHOWN_PATHS])}{more};"
        " commit them, or add them to .gitignore"
    )
    attempt.note("setup.failed", {"reason": reason}, key=f"{attempt.key}:left:{commit}")
    return reason
