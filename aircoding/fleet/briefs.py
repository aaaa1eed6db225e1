"""What each session of an attempt is told: instruction, evidence, results of dependencies."""

from __future__ import annotations

from aircoding.fleet.deps import FleetDeps
from aircoding.fleet.state import FleetState
from aircoding.records.ids import RunId, session_id
from aircoding.records.layers import Layer, Mode, SegmentKind, Trust
from aircoding.records.sessions import DependencyResult, Evidence, SessionBrief, SessionOutcome
from aircoding.records.tasks import TaskSpec

__all__ = ["brief_for", "dependency_results", "evidence"]

_INSTRUCTIONS = {
    "executor": "Carry out task {task}: {title}.",
    "debugger": "Find out why task {task} ({title}) failed, and repair it within its write area.",
    "reviewer": "Review the work on task {task}: {title}.",
}


def brief_for(
    deps: FleetDeps,
    task: TaskSpec,
    attempt: int,
    role: str,
    n: int,
    *,
    worktree: str,
    base_commit: str,
    state: FleetState,
    evidence: tuple[Evidence, ...] = (),
    instruction: str | None = None,
) -> SessionBrief:
    """Return the brief of the n-th session of a role in an attempt. Sub-agents work in mode minimal."""
    text = instruction or _INSTRUCTIONS.get(role, "Do your part of task {task}: {title}.")
    return SessionBrief(
        session_id=session_id(RunId(deps.run.run_id), task.id, attempt, role, n),
        role=role,
        model=task.model or deps.run.model,
        mode=Mode.MINIMAL,
        task=task,
        worktree=worktree,
        base_commit=base_commit,
        run_revision=deps.run.run_revision,
        instruction=text.format(task=task.id, title=task.title),
        dependencies=dependency_results(deps, task, state),
        evidence=evidence,
        max_turns=deps.max_turns,
        max_cost_usd=task.max_cost_usd,
    )


def evidence(
    kind: SegmentKind, title: str, text: str, uri: str, *, layer: Layer = Layer.L6, required: bool = False
) -> Evidence:
    """Return a text for a session to start with. It is data: nobody who wrote it may instruct."""
    return Evidence(uri=uri, layer=layer, kind=kind, title=title, text=text, trust=Trust.EXTERNAL, required=required)


def dependency_results(deps: FleetDeps, task: TaskSpec, state: FleetState) -> tuple[DependencyResult, ...]:
    """Return what the tasks that this one depends on reported."""
    results: list[DependencyResult] = []
    for name in task.depends_on:
        before, last = deps.plan.task(name), state.task(name).last
        if before is None or last is None:
            continue
        executor = session_id(RunId(deps.run.run_id), before.id, last.number, before.role, 1)
        outcome: SessionOutcome | None = deps.sessions.outcome(executor)
        changed = outcome.result.get("changed_files", ()) if outcome is not None else ()
        results.append(
            DependencyResult(
                task_id=name,
                title=before.title,
                summary=outcome.summary if outcome is not None else "",
                changed_files=tuple(str(path) for path in changed),
            )
        )
    return tuple(results)
