"""What each session of an attempt is told: instruction, evidence, results of dependencies."""

from __future__ import annotations

import re

from aircoding.fleet.phases import Attempt
from aircoding.records.ids import RunId, TaskId, attempt_key, session_id
from aircoding.records.layers import Layer, Mode, SegmentKind, Trust
from aircoding.records.sessions import DependencyResult, Evidence, SessionBrief

__all__ = ["brief_for", "cut_text", "earlier_attempts", "fact", "instruction_for", "only_paths"]

_DIFF_CHARACTERS = 60_000
"""Most of one text of evidence that is shown; evidence is required, and one that is too long would stop the session."""
_FILE_HEAD = re.compile(r"^diff --git .*$", re.MULTILINE)


def brief_for(attempt: Attempt, role: str, n: int, *, evidence: tuple[Evidence, ...], instruction: str) -> SessionBrief:
    """Return the brief of the n-th session of a role in an attempt. Sub-agents work in mode minimal."""
    deps, task = attempt.deps, attempt.task
    return SessionBrief(
        session_id=session_id(RunId(deps.run.run_id), task.id, attempt.number, role, n),
        role=role,
        model=task.model or deps.run.model,
        mode=Mode.MINIMAL,
        task=task,
        worktree=attempt.root,
        base_commit=attempt.base_commit,
        run_revision=attempt.state.run_revision or deps.run.run_revision,
        instruction=instruction,
        dependencies=_dependency_results(attempt),
        evidence=evidence,
        max_turns=deps.max_turns,
        max_idle_turns=deps.max_idle_turns,
        max_cost_usd=task.max_cost_usd,
    )


def instruction_for(attempt: Attempt, role: str) -> str:
    """Return what a session of a role is to do, where nothing more exact is known."""
    task = attempt.task
    name = f"{task.id}: {task.title}"
    if role == "debugger":
        return f"Find out why task {name} failed, and repair it within its write area."
    if role == "reviewer":
        return f"Review the work on task {name}."
    again = ""
    if attempt.number > 1:
        again = f" This is attempt {attempt.number}; the evidence says why the one before did not do."
    if role == task.role:
        return f"Carry out task {name}.{again}"
    return f"Do your part of task {name}.{again}"


def fact(
    kind: SegmentKind, title: str, text: str, uri: str, *, layer: Layer = Layer.L6, required: bool = False
) -> Evidence:
    """Return a text for a session to start with. It is data: nobody who wrote it may instruct."""
    return Evidence(
        uri=uri, layer=layer, kind=kind, title=title, text=cut_text(text), trust=Trust.EXTERNAL, required=required
    )


def cut_text(text: str) -> str:
    """Return a text short enough for evidence; what is left out is said, and can be read in the worktree."""
    if len(text) <= _DIFF_CHARACTERS:
        return text
    kept = text[:_DIFF_CHARACTERS].rsplit("\n", 1)[0]
    left_lines = text.count("\n") - kept.count("\n") - 1
    return f"{kept}\n[... {left_lines} more lines are left out; read the files themselves ...]\n"


def only_paths(diff: str, paths: tuple[str, ...]) -> str:
    """Return the parts of a unified diff that are about these paths."""
    starts = [match.start() for match in _FILE_HEAD.finditer(diff)]
    parts = [diff[start:end] for start, end in zip(starts, [*starts[1:], len(diff)], strict=True)]
    return "".join(part for part in parts if any(_is_about(part, path) for path in paths))


def _is_about(part: str, path: str) -> bool:
    head = part.split("\n", 1)[0]
    return head in {f"diff --git a/{path} b/{path}", f'diff --git "a/{path}" "b/{path}"'}


def _dependency_results(attempt: Attempt) -> tuple[DependencyResult, ...]:
    """Return what the tasks that this one depends on reported, and which files their commits changed."""
    deps = attempt.deps
    results: list[DependencyResult] = []
    for name in deps.graph.dependencies(attempt.task.id):
        before, last = deps.graph.tasks[name], attempt.state.task(name).last
        if last is None:
            continue
        executor = session_id(RunId(deps.run.run_id), before.id, last.number, before.role, 1)
        outcome = deps.sessions.outcome(executor)
        results.append(
            DependencyResult(
                task_id=name,
                title=before.title,
                summary=outcome.summary if outcome is not None else "",
                changed_files=last.changed_files,
            )
        )
    return tuple(results)


def earlier_attempts(attempt: Attempt) -> tuple[Evidence, ...]:
    """Return the evidence that earlier attempts left: findings as L6, failures as L8."""
    found: list[Evidence] = []
    for before in attempt.state.task(attempt.task.id).attempts:
        if before.number >= attempt.number:
            break
        key = attempt_key(RunId(attempt.deps.run.run_id), TaskId(attempt.task.id), before.number)
        for number, item in enumerate(before.evidence):
            finding = item["kind"] == SegmentKind.FINDING.value
            text = attempt.deps.blobs.get(item["text"]) or "(the text is not kept)"
            uri = f"air:run/{key}/{item['kind']}/{number}"
            layer = Layer.L6 if finding else Layer.L8
            kind = SegmentKind(item["kind"])
            found.append(fact(kind, str(item["title"]), text, uri, layer=layer, required=finding))
    return tuple(found)
