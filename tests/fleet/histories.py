"""Logs of runs for tests of the pure parts: graphs, events, and a world that ends attempts as it is told."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from aircoding.fleet.scheduler import Dispatch, Finish, GiveUp, Move, Pause, next_moves
from aircoding.fleet.state import OUTAGE, FleetState, fold
from aircoding.graph.task_graph import TaskGraph
from aircoding.records.events import Event
from aircoding.records.ids import RunId, TaskId
from aircoding.records.tasks import Retry, TaskSpec

RUN = RunId("r1")
BASE = "base"


def task(name: str, *after: str, area: tuple[str, ...] = (), tries: int = 2, **more: Any) -> TaskSpec:
    """Return a task."""
    return TaskSpec(
        id=TaskId(name),
        title=f"Task {name}",
        depends_on=tuple(TaskId(one) for one in after),
        write_area=area,
        retry=Retry(max_attempts=tries),
        **more,
    )


def event(kind: str, task_id: str | None = None, attempt: int | None = None, **payload: Any) -> Event:
    """Return an event without a place in the log."""
    return Event(run_id=RUN, type=kind, at="2026-11-30T12:00:00Z", task_id=task_id, attempt=attempt, payload=payload)


@dataclass
class History:
    """A run whose log grows by the scheduler's moves and by what the test says happened."""

    graph: TaskGraph
    concurrency: int = 4
    log: list[Event] = field(default_factory=list)
    ends: list[str] = field(default_factory=list)
    """Statuses of the run: one for each end or pause."""

    @property
    def state(self) -> FleetState:
        return fold(self.log)

    @property
    def running(self) -> list[TaskId]:
        state = self.state
        return [one for one in self.graph.tasks if state.task(one).running]

    def add(self, *events: Event) -> None:
        for one in events:
            self.log.append(replace(one, seq=len(self.log) + 1))

    def moves(self, *, may_start: bool = True) -> tuple[Move, ...]:
        return next_moves(self.graph, self.state, base_commit=BASE, concurrency=self.concurrency, may_start=may_start)

    def step(self, *, may_start: bool = True) -> tuple[Move, ...]:
        """Make the moves of now, as the driver does."""
        moves = self.moves(may_start=may_start)
        for move in moves:
            if isinstance(move, Dispatch):
                self.add(
                    event("task.dispatched", move.task_id, move.attempt, base_commit=move.base_commit, worker_index=0)
                )
            elif isinstance(move, GiveUp):
                self.add(event(f"task.{move.state}", move.task_id, reason=move.reason))
            elif isinstance(move, Finish):
                self.add(event("run.finished", status=move.status))
                self.ends.append(move.status)
            else:
                assert isinstance(move, Pause)
                self.ends.append("paused")
        return moves

    def settle(self, *, may_start: bool = True) -> None:
        """Make moves until nothing follows from what is known."""
        while self.step(may_start=may_start) and not self.ends:
            pass

    def end(self, name: str, outcome: str, *, reason: str = "because", stop: str = "") -> None:
        """Let the newest attempt of a task end."""
        last = self.state.task(name).last
        assert last is not None
        commit = f"{name}-{last.number}"
        if outcome == "done":
            self.add(event("merge.finished", name, last.number, commit=f"merged-{commit}"))
            self.add(event("task.done", name, last.number, commit=f"merged-{commit}"))
        given = None if outcome in {"failed", "blocked"} else commit
        self.add(event("attempt.finished", name, last.number, outcome=outcome, reason=reason, commit=given, stop=stop))

    def cut_off(self, name: str) -> None:
        """Let an attempt end because no model could be reached."""
        self.end(name, "failed", reason="no model", stop=OUTAGE)

    def resume(self) -> None:
        self.ends.clear()
        self.add(event("run.resumed"))
