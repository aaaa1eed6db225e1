"""Settle work that does not go together, in the attempt's own worktree: the merge queue is free meanwhile.

The integrated state is merged into the attempt's branch, a debugger sees both sides, and what it leaves is checked,
committed and verified like any other work.
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from functools import partial
from typing import Any

from aircoding.errors import WorkspaceError
from aircoding.fleet.briefs import fact, only_paths
from aircoding.fleet.commits import commit_changes
from aircoding.fleet.phases import Attempt, Ended
from aircoding.fleet.sessions import cut_off, hold_session
from aircoding.fleet.verification import CommandReport, check, failed_by, shown
from aircoding.records.ids import Digest
from aircoding.records.layers import SegmentKind
from aircoding.records.sessions import Evidence

__all__ = ["Clash", "settle"]

_MARKER = re.compile(r"^(?:<{7}|>{7}) ", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Clash:
    """Why a merge was given up: paths in conflict, or a verification that failed though the texts merged.

    `theirs` is the digest of what the integrated state changed since the attempt's base.
    """

    integrated: str
    paths: tuple[str, ...]
    theirs: Digest
    failure: CommandReport | None = None


async def settle(attempt: Attempt, clash: Clash, round_: int) -> str | Ended:
    """Take the integrated state into the attempt's branch and let a debugger settle the rest; return the commit."""
    label = f"settle:{round_}"
    taken = await attempt.deps.engine.step(f"take {round_}", partial(_take, attempt, clash, label))
    if taken["conflicts"] or clash.failure is not None:
        paths = tuple(taken["conflicts"]) or clash.paths
        outcome = await hold_session(
            attempt,
            "debugger",
            1 + round_,
            evidence=_evidence(attempt, clash, paths, taken["ours"]),
            instruction=_instruction(attempt, clash, paths),
        )
        if outcome.status != "done":
            why = str(outcome.result.get("cause") or outcome.summary or outcome.stop)
            return cut_off(outcome) or Ended(outcome="failed", reason=f"the merge was not settled: {why}")
        left = [path for path in paths if _MARKER.search(_text(attempt, path))]
        if left:
            return Ended(outcome="failed", reason=f"conflict markers are left in {', '.join(left)}")
    message = f"{attempt.task.id}: settle with the work that was merged before"
    commit = await commit_changes(attempt, label, message, since=clash.integrated)
    if isinstance(commit, Ended):
        return commit
    failure = await check(attempt, commit, f"{attempt.key}:{label}")
    return commit if failure is None else failed_by(attempt, failure, after=" after the merge")


async def _take(attempt: Attempt, clash: Clash, label: str) -> dict[str, Any]:
    """Merge the integrated commit into the attempt's branch; conflicts stay in the files."""
    repository = attempt.deps.repository
    files = repository.open_worktree(attempt.root)
    ours = await asyncio.to_thread(files.diff, attempt.base_commit)
    message = f"Take in {clash.integrated[:12]} for {attempt.task.id}"
    key = f"{attempt.key}:{label}:take"
    merged = await asyncio.to_thread(repository.merge, attempt.root, clash.integrated, message, key=key)
    return {"conflicts": list(merged.conflicts), "ours": attempt.deps.blobs.put(ours)}


def _instruction(attempt: Attempt, clash: Clash, paths: tuple[str, ...]) -> str:
    name = f"task {attempt.task.id} ({attempt.task.title})"
    if clash.failure is None:
        return (
            f"Resolve the merge conflict of {name} in {', '.join(paths)}. Keep what both sides meant;"
            " leave no conflict marker."
        )
    return (
        f"The work of {name} was merged with that of other tasks, and then `{clash.failure.command}` failed."
        " Find out why, and repair it within the write area of the task."
    )


def _evidence(attempt: Attempt, clash: Clash, paths: tuple[str, ...], ours: Digest) -> tuple[Evidence, ...]:
    """Both sides since the attempt's base, the files as the merge left them, and the failure where there is one."""
    blobs, uri = attempt.deps.blobs, f"air:run/{attempt.key}/merge"
    facts: list[Evidence] = []
    if clash.failure is not None:
        title = f"`{clash.failure.command}` failed after the merge"
        facts.append(fact(SegmentKind.DIAGNOSTIC, title, shown(attempt, clash.failure), f"{uri}/verify", required=True))
    sides = (("What this task changed", ours, "ours"), ("What was merged before", clash.theirs, "theirs"))
    for title, digest, name in sides:
        diff = blobs.get(digest) or "(the text is not kept)"
        text = only_paths(diff, paths) if paths else diff
        if text:
            facts.append(fact(SegmentKind.ARTIFACT, title, text, f"{uri}/{name}"))
    for path in paths:
        title = f"{path}, as the merge left it"
        facts.append(fact(SegmentKind.DIAGNOSTIC, title, _text(attempt, path), f"{uri}/file/{path}", required=True))
    return tuple(facts)


def _text(attempt: Attempt, path: str) -> str:
    """Return a file as it is now, or in words why it cannot be shown (deleted by one side, or no text)."""
    files = attempt.deps.repository.open_worktree(attempt.root)
    try:
        return files.read(path).text
    except WorkspaceError as error:
        if error.code == "workspace.missing":
            return f"({path} is not there: one side deleted it)"
        return f"({path} cannot be shown: {error.message})"
