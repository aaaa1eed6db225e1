"""What each phase of an attempt is given, and how an attempt can end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aircoding.fleet.deps import FleetDeps, append, event_of
from aircoding.fleet.state import FleetState
from aircoding.records.events import Event
from aircoding.records.ids import AttemptKey, RunId, attempt_key
from aircoding.records.layers import SegmentKind
from aircoding.records.tasks import TaskSpec

__all__ = ["Attempt", "Ended", "keep", "load_attempt"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One attempt at work: its task, where it works, where it started.

    `origin_commit` is the base of the task's first attempt: all that the task changed is what differs
    from it. `generation` counts how often its workflow had to be begun anew after an error of ours.
    """

    deps: FleetDeps
    task: TaskSpec
    number: int
    base_commit: str
    origin_commit: str
    env: tuple[tuple[str, str], ...]
    generation: int = 1
    root: str = ""

    @property
    def key(self) -> AttemptKey:
        """The attempt's key, from which all others follow."""
        return attempt_key(RunId(self.deps.run.run_id), self.task.id, self.number)

    @property
    def state(self) -> FleetState:
        """Where the run stands now; what happened to this task and those it depends on does not change meanwhile."""
        return self.deps.journal.state

    def found(self, kind: str, key: str) -> Event | None:
        """Return what an earlier life of this process recorded under a key, or None."""
        return self.deps.journal.find(f"{kind}:{key}", task=self.task.id, attempt=self.number)

    def note(self, kind: str, payload: Mapping[str, object], *, key: str | None = None) -> None:
        """Append an event of this attempt."""
        append(self.deps, kind, payload, key=key or self.key, task=self.task.id, attempt=self.number)

    def event(self, kind: str, payload: Mapping[str, object], *, key: str | None = None) -> Event:
        """Return an event of this attempt, to be appended with others."""
        return event_of(self.deps, kind, payload, key=key or self.key, task=self.task.id, attempt=self.number)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How an attempt ended: done, failed, blocked or sent_back.

    `evidence` is for the attempt that follows (`keep`); `stop` is `state.OUTAGE` when no model could be reached.
    """

    outcome: str
    reason: str
    commit: str | None = None
    evidence: tuple[Mapping[str, Any], ...] = ()
    stop: str = ""


def load_attempt(deps: FleetDeps, task_id: str, number: int, generation: int) -> Attempt:
    """Read an attempt back from the log: what it was dispatched with.

    Raises:
        LookupError: it was never dispatched.
    """
    task = deps.plan.task(task_id)
    progress = deps.journal.state.task(task_id)
    attempt = progress.attempt(number)
    if task is None or attempt is None:
        raise LookupError(f"attempt {number} of task {task_id} was never dispatched")
    return Attempt(
        deps=deps,
        task=task,
        number=number,
        base_commit=attempt.base_commit,
        origin_commit=progress.attempts[0].base_commit,
        env=(*deps.preparation.env, ("AIR_WORKER_INDEX", str(attempt.worker_index))),
        generation=generation,
    )


def keep(attempt: Attempt, kind: SegmentKind, title: str, text: str) -> Mapping[str, Any]:
    """Keep a text for the attempts that follow: its kind, its title, the digest of the text."""
    return {"kind": kind.value, "title": title, "text": attempt.deps.blobs.put(text)}
