"""Where a run stands: a pure projection of its event log."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from aircoding.records.events import Event

__all__ = ["AttemptState", "FleetState", "TaskProgress", "fold"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptState:
    """One attempt: the commit it started from, and how it ended (None while it goes on)."""

    number: int
    base_commit: str
    outcome: str | None = None
    reason: str = ""
    commit: str | None = None
    evidence: tuple[Mapping[str, Any], ...] = ()
    stop: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskProgress:
    """One task: `state` is waiting, running, done, failed or blocked; `done_order` counts merges."""

    state: str = "waiting"
    reason: str = ""
    commit: str | None = None
    done_order: int = 0
    attempts: tuple[AttemptState, ...] = ()

    @property
    def last(self) -> AttemptState | None:
        """The newest attempt."""
        return self.attempts[-1] if self.attempts else None


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetState:
    """All tasks that an event named, and whether the run has ended."""

    tasks: Mapping[str, TaskProgress] = field(default_factory=dict)
    finished: str | None = None
    integrated: str | None = None
    """The last commit that the merge queue verified."""
    merges: int = 0

    def task(self, task_id: str) -> TaskProgress:
        """Return a task's progress; one that no event named waits."""
        return self.tasks.get(task_id, TaskProgress())


def fold(events: Iterable[Event], state: FleetState | None = None) -> FleetState:
    """Return the state after `events`; folding a log in parts gives the same as folding it whole."""
    current = state or FleetState()
    tasks = dict(current.tasks)
    finished, integrated, merges = current.finished, current.integrated, current.merges
    for event in events:
        if event.type == "run.finished":
            finished = str(event.payload.get("status"))
        elif event.type == "run.resumed":
            finished = None
        elif event.type == "merge.finished" and event.payload.get("commit"):
            integrated = str(event.payload["commit"])
        if event.task_id is None:
            continue
        if event.type == "task.done":
            merges += 1
        tasks[event.task_id] = _apply(tasks.get(event.task_id, TaskProgress()), event, merges)
    return FleetState(tasks=tasks, finished=finished, integrated=integrated, merges=merges)


def _apply(task: TaskProgress, event: Event, merges: int) -> TaskProgress:
    payload = event.payload
    if event.type == "task.dispatched":
        attempt = AttemptState(number=event.attempt or 1, base_commit=str(payload.get("base_commit", "")))
        if any(known.number == attempt.number for known in task.attempts):
            return task
        return replace(task, state="running", reason="", attempts=(*task.attempts, attempt))
    if event.type == "attempt.finished":
        return replace(task, attempts=tuple(_ended(known, event) for known in task.attempts))
    if event.type == "task.done":
        return replace(task, state="done", reason="", commit=str(payload.get("commit")), done_order=merges)
    if event.type in {"task.failed", "task.blocked"}:
        return replace(task, state=event.type.removeprefix("task."), reason=str(payload.get("reason", "")))
    return task


def _ended(attempt: AttemptState, event: Event) -> AttemptState:
    if attempt.number != event.attempt:
        return attempt
    payload = event.payload
    return replace(
        attempt,
        outcome=str(payload.get("outcome")),
        reason=str(payload.get("reason", "")),
        commit=payload.get("commit"),
        evidence=tuple(payload.get("evidence", ())),
        stop=str(payload.get("stop", "")),
    )
