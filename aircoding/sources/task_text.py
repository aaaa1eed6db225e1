"""What a session is told of its own: the task, what came before it, what it starts with (layers L4 to L8)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from aircoding.records.digests import sha256_text
from aircoding.records.layers import Layer, Scope, SegmentKind, Trust
from aircoding.records.segments import Segment
from aircoding.records.sessions import DependencyResult, Evidence, SessionBrief
from aircoding.records.tasks import Plan, TaskSpec
from aircoding.sources.excerpts import reference_line
from aircoding.sources.segments import Intake

__all__ = ["evidence_segments", "graph_segment", "graph_text", "task_segments", "task_text"]


def task_text(task: TaskSpec) -> str:
    """Return a task in words; parts that it does not have are left out."""
    parts = [
        f"Task {task.id}: {task.title}",
        task.description.strip(),
        _listed("Write area (nothing outside it is changed)", _code(task.write_area)) or "Write area: none.",
        _listed("Denied paths", _code(task.denied_paths)),
        _listed("Depends on", tuple(task.depends_on)),
        _listed("Files to read first", _code(task.reads)),
        _listed("Accepted when", task.acceptance),
        _listed("Verified by (each command must exit with 0)", _code(task.verify)),
        _listed("Decisions that govern it", tuple(f"ADR {name}" for name in task.adr)),
        f"Tags: {', '.join(task.tags)}" if task.tags else "",
    ]
    return "\n\n".join(part for part in parts if part)


def _code(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(f"`{value}`" for value in values)


def _listed(title: str, values: Iterable[str]) -> str:
    lines = [f"- {_indented(value)}" for value in values]
    return "\n".join([f"{title}:", *lines]) if lines else ""


def _indented(value: str) -> str:
    return value.strip().replace("\n", "\n  ")


def task_segments(brief: SessionBrief, *, intake: Intake) -> tuple[Segment, ...]:
    """Return L5: the task, and what each task that it depends on reported.

    Whoever started the run gave the plan, so the task has the user's trust; reports are an agent's.
    """
    uri = f"air:task/{brief.task.id}"
    task = intake.segment(
        task_text(brief.task),
        layer=Layer.L5,
        scope=Scope.SESSION,
        kind=SegmentKind.TASK,
        trust=Trust.USER,
        uri=uri,
        shortened=False,
    )
    results = (_dependency(result, intake) for result in sorted(brief.dependencies, key=lambda one: one.task_id))
    return (replace(task, required=True), *results)


def _dependency(result: DependencyResult, intake: Intake) -> Segment:
    changed = _listed("Changed files", _code(sorted(result.changed_files))) or "Changed files: none."
    return intake.segment(
        f"{result.title}\n\n{result.summary.strip()}\n\n{changed}",
        layer=Layer.L5,
        scope=Scope.SESSION,
        kind=SegmentKind.DEPENDENCY,
        trust=Trust.AGENT,
        uri=f"air:task/{result.task_id}/result",
        title=f"Result of task {result.task_id}",
        shortened=False,
    )


def evidence_segments(evidence: Iterable[Evidence], *, intake: Intake) -> tuple[Segment, ...]:
    """Return what the session starts with, in the order given; a later one counts as more recent."""
    return tuple(_evidence(piece, number, intake) for number, piece in enumerate(evidence, 1))


def _evidence(piece: Evidence, number: int, intake: Intake) -> Segment:
    segment = intake.segment(
        piece.text,
        layer=piece.layer,
        scope=Scope.SESSION,
        kind=piece.kind,
        trust=piece.trust,
        uri=piece.uri,
        title=piece.title,
        fragment=sha256_text(piece.title)[:8],
        shortened=not piece.required,
    )
    reference = reference_line(piece.uri) if piece.uri.startswith("air:artifact/") and segment.excerpt else None
    return replace(
        segment, required=piece.required, recency=number, claims=piece.claims, reference=reference, title=piece.title
    )


def graph_text(plan: Plan) -> str:
    """Return the task graph in one line for each task, in plan order."""
    lines = [f"Goal: {plan.goal}", ""]
    for task in plan.tasks:
        waits = f" after {', '.join(task.depends_on)}" if task.depends_on else ""
        writes = f"; writes {', '.join(_code(task.write_area))}" if task.write_area else ""
        lines.append(f"- {task.id}{waits}: {task.title}{writes}")
    return "\n".join(lines)


def graph_segment(plan: Plan, *, intake: Intake) -> Segment:
    """Return the graph as L4, for the roles that retrieve it."""
    return intake.segment(
        graph_text(plan),
        layer=Layer.L4,
        scope=Scope.RUN,
        kind=SegmentKind.GRAPH,
        trust=Trust.USER,
        uri="air:plan",
        title="Task graph",
    )
