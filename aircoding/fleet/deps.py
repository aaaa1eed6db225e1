"""What a fleet is given: ports, the run with its plan, and how worktrees are prepared."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from aircoding.agents.deps import SessionDeps
from aircoding.fleet.journal import Journal
from aircoding.graph.task_graph import TaskGraph
from aircoding.ports import BlobStore, CallLedger, Clock, Engine, EventLog, Repository, RunLog, Sandbox, SessionLog
from aircoding.records.events import Event
from aircoding.records.policy import Policy
from aircoding.records.runs import Run
from aircoding.records.tasks import Plan, TaskSpec

__all__ = ["FleetDeps", "Preparation", "append", "event_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Preparation:
    """How a new worktree is prepared (`[worktree]` in the settings)."""

    setup: tuple[str, ...] = ()
    copy: tuple[str, ...] = ()
    cache: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    network: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetDeps:
    """One run's world. `policy_for_task` judges verify and set-up commands; `copy_files` puts files that
    git ignores into a worktree.

    `merge_lock` admits one merge at a time, `git_lock` one new worktree at a time (git prunes and adds
    in one shared folder). `is_full` says whether the disk of the record and of the worktrees has no room left.
    """

    run: Run
    plan: Plan
    session: SessionDeps
    engine: Engine
    clock: Clock
    events: EventLog
    blobs: BlobStore
    runs: RunLog
    sessions: SessionLog
    ledger: CallLedger
    repository: Repository
    sandbox: Sandbox
    policy_for_task: Callable[[TaskSpec], Policy]
    copy_files: Callable[[tuple[str, ...], str], None]
    is_full: Callable[[], bool] = lambda: False
    preparation: Preparation = field(default_factory=Preparation)
    command_timeout_seconds: float = 600.0
    max_turns: int = 40
    max_idle_turns: int = 8
    merge_lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    git_lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    graph: TaskGraph = field(init=False)
    journal: Journal = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "graph", TaskGraph.of(self.plan))
        object.__setattr__(self, "journal", Journal(self.events, self.run.run_id))


def event_of(
    deps: FleetDeps,
    kind: str,
    payload: Mapping[str, object],
    *,
    key: str,
    task: str | None = None,
    attempt: int | None = None,
) -> Event:
    """Return an event of the run, with the key `KIND:KEY`."""
    return Event(
        run_id=deps.run.run_id,
        type=kind,
        at=deps.clock.now(),
        task_id=task,
        attempt=attempt,
        payload=payload,
        key=f"{kind}:{key}",
    )


def append(
    deps: FleetDeps,
    kind: str,
    payload: Mapping[str, object],
    *,
    key: str,
    task: str | None = None,
    attempt: int | None = None,
) -> None:
    """Append one event of the run; the same key again stores nothing.

    Raises:
        FencedError: another process owns the run.
    """
    deps.events.append(event_of(deps, kind, payload, key=key, task=task, attempt=attempt))
