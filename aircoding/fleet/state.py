"""Where a run stands: a pure projection of its event log."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from aircoding.records.events import Event

__all__ = ["OUTAGE", "AttemptState", "FleetState", "TaskProgress", "fold"]

OUTAGE = "outage"
"""`AttemptState.stop` of an attempt that ended because no model could be reached: no fault of the task's."""

_ENDS = frozenset({"task.done", "task.failed", "task.blocked"})


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptState:
    """One attempt: where it started, and how it ended (`outcome` is None while it goes on).

    `changed_files` is what its newest commit changed since the task's first base, `resumption` how often
    the run had been resumed when the attempt ended.
    """

    number: int
    base_commit: str
    worker_index: int = 0
    outcome: str | None = None
    reason: str = ""
    commit: str | None = None
    changed_files: tuple[str, ...] = ()
    evidence: tuple[Mapping[str, Any], ...] = ()
    stop: str = ""
    resumption: int = 0


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

    @property
    def ended(self) -> bool:
        """Whether nothing more happens to it."""
        return self.state in {"done", "failed", "blocked"}

    @property
    def running(self) -> bool:
        """Whether an attempt goes on."""
        return not self.ended and self.last is not None and self.last.outcome is None

    def attempt(self, number: int) -> AttemptState | None:
        """Return an attempt, or None."""
        return next((one for one in self.attempts if one.number == number), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetState:
    """All tasks that an event named, and whether the run has ended."""

    tasks: Mapping[str, TaskProgress] = field(default_factory=dict)
    finished: str | None = None
    integrated: str | None = None
    """The last commit that the merge queue verified."""
    merges: int = 0
    resumptions: int = 0
    run_revision: str | None = None
    """The run revision that a reload made; None: the one that the run started with holds."""

    def task(self, task_id: str) -> TaskProgress:
        """Return a task's progress; one that no event named waits."""
        return self.tasks.get(task_id, _NOTHING)


_NOTHING = TaskProgress()


def fold(events: Iterable[Event], state: FleetState | None = None) -> FleetState:
    """Return the state after `events`; folding a log in parts gives the same as folding it whole."""
    current = state or FleetState()
    tasks = dict(current.tasks)
    finished, integrated = current.finished, current.integrated
    merges, resumptions, revision = current.merges, current.resumptions, current.run_revision
    for event in events:
        if event.type == "run.finished":
            finished = str(event.payload.get("status"))
        elif event.type == "run.resumed":
            finished, resumptions = None, resumptions + 1
        elif event.type == "run.reloaded":
            revision = str(event.payload["run_revision"])
        elif event.type == "merge.finished" and event.payload.get("commit"):
            integrated = str(event.payload["commit"])
        if event.task_id is None:
            continue
        before = tasks.get(event.task_id, _NOTHING)
        if event.type == "task.done" and not before.ended:
            merges += 1
        tasks[event.task_id] = _apply(before, event, merges, resumptions)
    return FleetState(
        tasks=tasks,
        finished=finished,
        integrated=integrated,
        merges=merges,
        resumptions=resumptions,
        run_revision=revision,
    )


def _apply(task: TaskProgress, event: Event, merges: int, resumptions: int) -> TaskProgress:
    """Return the task after one of its events. An end is an end: what comes later changes only its attempts."""
    payload = event.payload
    if event.type == "task.dispatched" and not task.ended and task.attempt(event.attempt or 1) is None:
        attempt = AttemptState(
            number=event.attempt or 1,
            base_commit=str(payload.get("base_commit", "")),
            worker_index=int(payload.get("worker_index", 0)),
        )
        return replace(task, state="running", reason="", attempts=(*task.attempts, attempt))
    if event.type == "commit.created":
        changed = tuple(str(path) for path in payload.get("changed_files", ()))
        return _with(task, event.attempt, commit=str(payload["commit"]), changed_files=changed)
    if event.type == "attempt.finished":
        ended = _with(
            task,
            event.attempt,
            outcome=str(payload.get("outcome")),
            reason=str(payload.get("reason", "")),
            commit=payload.get("commit"),
            evidence=tuple(payload.get("evidence", ())),
            stop=str(payload.get("stop", "")),
            resumption=resumptions,
        )
        return ended if ended.ended or ended.running else replace(ended, state="waiting", reason=_reason(ended))
    if event.type in _ENDS and not task.ended:
        state, reason = event.type.removeprefix("task."), str(payload.get("reason", ""))
        if state == "done":
            return replace(task, state=state, reason="", commit=str(payload.get("commit")), done_order=merges)
        return replace(task, state=state, reason=reason)
    return task


def _with(task: TaskProgress, number: int | None, **changes: Any) -> TaskProgress:
    """Change one attempt of a task; one that has ended stays as it is."""
    attempts = tuple(
        replace(one, **changes) if one.number == number and one.outcome is None else one for one in task.attempts
    )
    return replace(task, attempts=attempts)


def _reason(task: TaskProgress) -> str:
    return task.last.reason if task.last is not None else ""
