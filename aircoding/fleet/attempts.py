"""The life of an attempt, as one durable workflow: each phase looks for its own row or commit first.

Worktree, executor, write-area check, commit, verify, debugger where that failed, review, merge. A phase that failed
ends the attempt with a reason and evidence; the scheduler decides what comes next.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from aircoding.agents.loop import run_session
from aircoding.fleet.briefs import brief_for, evidence
from aircoding.fleet.deps import FleetDeps, append
from aircoding.fleet.state import AttemptState, FleetState, fold
from aircoding.fleet.verification import CommandReport, run_checked, shown, verify
from aircoding.records.ids import RunId, SessionId, TaskId, attempt_key
from aircoding.records.layers import Layer, SegmentKind
from aircoding.records.sessions import Evidence, SessionBrief, SessionOutcome
from aircoding.records.tasks import TaskSpec
from aircoding.rules.globs import Dialect, compile_globs

__all__ = ["Attempt", "Ended", "run_attempt", "run_session_workflow"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One attempt at work: its task, where it works, and the state when it started."""

    deps: FleetDeps
    task: TaskSpec
    number: int
    base_commit: str
    state: FleetState
    env: tuple[tuple[str, str], ...]
    root: str = ""

    @property
    def key(self) -> str:
        """The attempt's key, from which all others follow."""
        return attempt_key(RunId(self.deps.run.run_id), self.task.id, self.number)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How an attempt ended, with evidence for the next one: (kind, title, digest of the text)."""

    outcome: str
    reason: str
    commit: str | None = None
    evidence: tuple[Mapping[str, Any], ...] = ()


async def run_session_workflow(deps: FleetDeps, session: str) -> str:
    """Run one session whose brief is on record; its status is what the workflow returns."""
    brief = deps.sessions.brief(SessionId(session))
    env = _env(deps, brief)
    outcome = await run_session(replace(deps.session, command_env=env), brief)
    return outcome.status


def _env(deps: FleetDeps, brief: SessionBrief) -> tuple[tuple[str, str], ...]:
    attempt = int(brief.session_id.rsplit(":", 3)[1])
    return (*deps.preparation.env, ("AIR_WORKER_INDEX", _worker_index(deps, brief.task.id, attempt)))


def _worker_index(deps: FleetDeps, task: str, attempt: int) -> str:
    for event in deps.events.read(deps.run.run_id):
        if event.type == "task.dispatched" and event.task_id == task and event.attempt == attempt:
            return str(event.payload.get("worker_index", 0))
    return "0"


async def run_attempt(deps: FleetDeps, task_id: str, number: str) -> str:
    """Run an attempt to its end and return its outcome."""
    attempt = _load(deps, task_id, int(number))
    ended = await _live(attempt)
    payload: dict[str, object] = {
        "outcome": ended.outcome,
        "reason": ended.reason,
        "commit": ended.commit,
        "evidence": list(ended.evidence),
    }
    append(deps, "attempt.finished", payload, key=attempt.key, task=attempt.task.id, attempt=attempt.number)
    return ended.outcome


def _load(deps: FleetDeps, task_id: str, number: int) -> Attempt:
    """Read the attempt back from the log: what it was dispatched with, whatever happened since."""
    events = deps.events.read(deps.run.run_id)
    task = deps.plan.task(task_id)
    if task is None:
        raise LookupError(task_id)
    dispatched = next(
        position
        for position, event in enumerate(events)
        if event.type == "task.dispatched" and event.task_id == task_id and event.attempt == number
    )
    index = str(events[dispatched].payload.get("worker_index", 0))
    return Attempt(
        deps=deps,
        task=task,
        number=number,
        base_commit=str(events[dispatched].payload["base_commit"]),
        state=fold(events[: dispatched + 1]),
        env=(*deps.preparation.env, ("AIR_WORKER_INDEX", index)),
    )


async def _live(attempt: Attempt) -> Ended:
    from aircoding.fleet.merge_queue import integrate

    deps, task = attempt.deps, attempt.task
    prepared = await deps.engine.step("worktree", partial(_prepare, attempt))
    if prepared["failed"]:
        return Ended(outcome="blocked", reason=prepared["failed"])
    attempt = replace(attempt, root=prepared["root"])
    outcome = await session(attempt, task.role, 1, evidence=_from_before(attempt))
    if outcome.status != "done":
        return _not_done(attempt, outcome)
    ended = await _settle(attempt, "executor")
    if isinstance(ended, Ended):
        return ended
    review = await _review(attempt, ended) if "reviewer" in task.roles else None
    return review or await integrate(attempt, ended)


async def _prepare(attempt: Attempt) -> dict[str, str]:
    """Make the worktree at its base and run the set-up commands; a failed one is tried once more."""
    deps, task = attempt.deps, attempt.task
    name = f"{deps.run.run_id}/{task.id}-{attempt.number}"
    branch = f"air/{deps.run.run_id}/{task.id}-{attempt.number}"
    root = deps.repository.add_worktree(name, branch=branch, commit=attempt.base_commit)
    if deps.preparation.copy:
        deps.copy_files(deps.preparation.copy, root)
    for command in deps.preparation.setup:
        for _ in range(2):
            report = await run_checked(
                deps,
                task,
                command,
                root,
                env=attempt.env,
                network=deps.preparation.network,
                writable_paths=deps.preparation.cache,
            )
            if report.passed:
                break
        else:
            reason = f"set-up `{command}`: {report.reason or f'exit code {report.exit_code}'}"
            payload: dict[str, object] = {"reason": reason, "output": report.output}
            append(deps, "setup.failed", payload, key=attempt.key, task=task.id, attempt=attempt.number)
            return {"root": root, "failed": reason}
    append(deps, "worktree.prepared", {}, key=attempt.key, task=task.id, attempt=attempt.number)
    return {"root": root, "failed": ""}


async def session(
    attempt: Attempt, role: str, n: int, *, evidence: Sequence[Evidence] = (), instruction: str | None = None
) -> SessionOutcome:
    """Run a session of the attempt as a workflow of its own, and return how it ended."""
    deps = attempt.deps
    brief = brief_for(
        deps,
        attempt.task,
        attempt.number,
        role,
        n,
        worktree=attempt.root,
        base_commit=attempt.base_commit,
        state=attempt.state,
        evidence=tuple(evidence),
        instruction=instruction,
    )
    deps.sessions.open(brief)
    await deps.engine.start("session", brief.session_id, brief.session_id)
    await deps.engine.result(brief.session_id)
    outcome = deps.sessions.outcome(brief.session_id)
    if outcome is None:
        raise LookupError(brief.session_id)
    return outcome


def _not_done(attempt: Attempt, outcome: SessionOutcome) -> Ended:
    """A session that did not get done ends the attempt; what it reported is evidence for the next."""
    reason = outcome.summary or outcome.stop
    kept = _keep(attempt, SegmentKind.FAILURE, f"Attempt {attempt.number} ended: {outcome.status}", reason)
    return Ended(outcome="blocked" if outcome.status == "blocked" else "failed", reason=reason, evidence=(kept,))


async def _settle(attempt: Attempt, made_by: str) -> str | Ended:
    """Check the write area, commit, verify; bring in the debugger where that failed. Return the commit."""
    checked = await commit_checked(attempt, made_by)
    if isinstance(checked, Ended):
        return checked
    failure = await check(attempt, f"{attempt.key}:{made_by}")
    if failure is None:
        return checked
    if "debugger" not in attempt.task.retry.escalate:
        return _failed(attempt, failure)
    facts = evidence(
        SegmentKind.DIAGNOSTIC,
        f"`{failure.command}` failed",
        shown(attempt.deps, failure),
        f"air:run/{attempt.key}/verify",
        required=True,
    )
    outcome = await session(attempt, "debugger", 1, evidence=(facts,))
    if outcome.status != "done":
        return replace(_failed(attempt, failure), reason=_why(outcome))
    checked = await commit_checked(attempt, "debugger")
    if isinstance(checked, Ended):
        return checked
    failure = await check(attempt, f"{attempt.key}:debugger")
    return checked if failure is None else _failed(attempt, failure)


def _why(outcome: SessionOutcome) -> str:
    cause = outcome.result.get("cause")
    return str(cause) if cause else outcome.summary or outcome.stop


async def commit_checked(attempt: Attempt, made_by: str) -> str | Ended:
    """Commit the worktree's changes if all of them lie in the write area; return the commit."""
    found = await attempt.deps.engine.step(f"commit {made_by}", partial(_commit, attempt, made_by))
    if found["outside"]:
        paths = ", ".join(found["outside"])
        return Ended(outcome="failed", reason=f"changed files outside its write area: {paths}")
    return str(found["commit"])


async def _commit(attempt: Attempt, made_by: str) -> dict[str, Any]:
    deps, task = attempt.deps, attempt.task
    key = f"{attempt.key}:{made_by}"
    changes = deps.repository.open_worktree(attempt.root).changes(deps.repository.worktree_head(attempt.root))
    area = compile_globs(task.write_area, Dialect.ROOT_ANCHORED)
    outside = [change.path for change in changes if not area.matches(change.path)]
    if outside:
        append(deps, "write_area.violated", {"paths": outside}, key=key, task=task.id, attempt=attempt.number)
        return {"outside": outside, "commit": ""}
    message = f"{task.id}: {task.title}"
    commit = deps.repository.commit_all(attempt.root, message, key=key)
    head = commit or deps.repository.worktree_head(attempt.root)
    append(deps, "commit.created", {"commit": head}, key=key, task=task.id, attempt=attempt.number)
    return {"outside": [], "commit": head}


async def check(attempt: Attempt, key: str) -> CommandReport | None:
    """Verify the attempt's worktree as a step; return the failure, or None."""
    found = await attempt.deps.engine.step(f"verify {key}", partial(_verify, attempt, key))
    return CommandReport(**found) if found else None


async def _verify(attempt: Attempt, key: str) -> dict[str, Any] | None:
    report = await verify(
        attempt.deps, attempt.task, attempt.number, attempt.root, env=attempt.env, where="attempt", key=key
    )
    return None if report is None else {name: getattr(report, name) for name in CommandReport.__slots__}


def _failed(attempt: Attempt, failure: CommandReport) -> Ended:
    reason = f"`{failure.command}` failed: {failure.reason or f'exit code {failure.exit_code}'}"
    text = shown(attempt.deps, failure)
    kept = _keep(attempt, SegmentKind.FAILURE, f"Attempt {attempt.number}: `{failure.command}` failed", text)
    return Ended(outcome="failed", reason=reason, evidence=(kept,))


async def _review(attempt: Attempt, commit: str) -> Ended | None:
    """Let a reviewer look at the commit, read-only. None when it approves."""
    deps, task = attempt.deps, attempt.task
    diff = deps.repository.open_worktree(attempt.root).diff(_review_base(attempt))
    facts = (
        evidence(SegmentKind.ARTIFACT, "The change", diff, f"air:run/{attempt.key}/diff", required=True),
        evidence(
            SegmentKind.DIAGNOSTIC,
            "Verification",
            "\n".join(f"passed: {command}" for command in task.verify) or "the task names no verification",
            f"air:run/{attempt.key}/verification",
            layer=Layer.L8,
        ),
    )
    outcome = await session(attempt, "reviewer", 1, evidence=facts)
    verdict = str(outcome.result.get("verdict", outcome.status))
    findings = list(outcome.result.get("findings", ()))
    payload: dict[str, object] = {"verdict": verdict, "findings": findings, "commit": commit}
    append(deps, "review.finished", payload, key=attempt.key, task=task.id, attempt=attempt.number)
    if verdict == "approve":
        return None
    if verdict != "changes_requested":
        return Ended(outcome="failed", reason=f"the review did not end: {outcome.summary or outcome.stop}")
    text = "\n".join(_finding(finding) for finding in findings) or outcome.summary
    kept = _keep(attempt, SegmentKind.FINDING, f"Review of attempt {attempt.number}", text)
    return Ended(outcome="sent_back", reason=outcome.summary or text, commit=commit, evidence=(kept,))


def _review_base(attempt: Attempt) -> str:
    """A reviewer sees the whole work on the task, not only what changed since the last review."""
    attempts = attempt.state.task(attempt.task.id).attempts
    return attempts[0].base_commit if attempts else attempt.base_commit


def _finding(finding: Mapping[str, Any]) -> str:
    place = f"{finding.get('file', '')}:{finding['line']}" if finding.get("line") else str(finding.get("file", ""))
    return f"- {finding.get('severity', '')} {finding.get('dimension', '')}, {place}: {finding.get('message', '')}"


def _keep(attempt: Attempt, kind: SegmentKind, title: str, text: str) -> Mapping[str, Any]:
    """Keep a text for the attempts that follow."""
    return {"kind": kind.value, "title": title, "text": attempt.deps.blobs.put(text)}


def _from_before(attempt: Attempt) -> tuple[Evidence, ...]:
    """Return the evidence that earlier attempts left: findings as L6, failures as L8."""
    found: list[Evidence] = []
    for before in attempt.state.task(attempt.task.id).attempts:
        if before.number < attempt.number:
            found.extend(_kept(attempt, before))
    return tuple(found)


def _kept(attempt: Attempt, before: AttemptState) -> list[Evidence]:
    key = attempt_key(RunId(attempt.deps.run.run_id), TaskId(attempt.task.id), before.number)
    return [
        evidence(
            SegmentKind(item["kind"]),
            str(item["title"]),
            attempt.deps.blobs.get(item["text"]) or "",
            f"air:run/{key}/{item['kind']}/{number}",
            layer=Layer.L6 if item["kind"] == SegmentKind.FINDING.value else Layer.L8,
            required=item["kind"] == SegmentKind.FINDING.value,
        )
        for number, item in enumerate(before.evidence)
    ]
