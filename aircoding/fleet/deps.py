"""What a fleet is given: ports, the run with its plan, and how worktrees are prepared."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from aircoding.agents.deps import SessionDeps
from aircoding.ports import BlobStore, CallLedger, Clock, Engine, EventLog, Repository, RunLog, Sandbox, SessionLog
from aircoding.records.events import Event
from aircoding.records.policy import Policy
from aircoding.records.runs import Run
from aircoding.records.tasks import Plan, TaskSpec

__all__ = ["FleetDeps", "Preparation", "append"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Preparation:
    """How a new worktree is prepared (`[worktree]` in the settings)."""

    setup: tuple[str, ...] = ()
    copy: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    network: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetDeps:
    """One run's world. `policy_for_task` judges verify and set-up commands; `copy_files` puts files that
    git ignores into a worktree.
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
    preparation: Preparation = field(default_factory=Preparation)
    command_timeout_seconds: float = 600.0
    max_turns: int = 40
    merge_lock: asyncio.Lock = field(default_factory=asyncio.Lock)


def append(
    deps: FleetDeps,
    kind: str,
    payload: dict[str, object],
    *,
    key: str,
    task: str | None = None,
    attempt: int | None = None,
) -> None:
    """Append one event of the run; the same key again stores nothing.

    Raises:
        FencedError: another process owns the run.
    """
    deps.events.append(
        Event(
            run_id=deps.run.run_id,
            type=kind,
            at=deps.clock.now(),
            task_id=task,
            attempt=attempt,
            payload=payload,
            key=f"{kind}:{key}",
        )
    )
