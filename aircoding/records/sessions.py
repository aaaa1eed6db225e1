"""What a session is told when it starts: everything that is not read from files or the log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aircoding.records.ids import SessionId
from aircoding.records.layers import Layer, Mode, SegmentKind, Trust
from aircoding.records.segments import Claim
from aircoding.records.tasks import TaskSpec

__all__ = ["DependencyResult", "Evidence", "SessionBrief", "SessionHead", "SessionOutcome", "SteeringEntry"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """A text that a session starts with: a failure, a diff, findings, a conflict (layers L6 to L8)."""

    uri: str
    layer: Layer
    kind: SegmentKind
    title: str
    text: str
    trust: Trust = Trust.EXTERNAL
    claims: tuple[Claim, ...] = ()
    required: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DependencyResult:
    """What a task that this one depends on reported."""

    task_id: str
    title: str
    summary: str
    changed_files: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionBrief:
    """One session to run. `worktree` is a path on this machine and never enters a prompt."""

    session_id: SessionId
    role: str
    model: str
    mode: Mode
    task: TaskSpec
    worktree: str
    base_commit: str
    run_revision: str
    instruction: str
    dependencies: tuple[DependencyResult, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    max_turns: int = 40
    max_idle_turns: int = 8
    max_cost_usd: float | None = None
    """What the task may spend in all, over its sessions and attempts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionOutcome:
    """How a session ended. `status` is done, blocked or failed; `result` is the validated result."""

    session_id: SessionId
    status: str
    summary: str
    result: Mapping[str, Any]
    turns: int
    stop: str = "finished"
    """finished, turn_limit, cost_limit, no_progress, overflow, invalid_result, provider, stopped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SteeringEntry:
    """What a session is told in one turn beside the conversation, and never again (DESIGN section 2, steering).

    `source_uri` says whose words they are (`resource:…`: ours); `position` orders the entries of a turn from 0.
    `trust` is that of a plugin or hook; None: what is packaged is ours, anything else an agent's word.
    """

    turn: int
    position: int
    source_uri: str
    text: str
    trust: Trust | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionHead:
    """A session without its texts; `status` and `stop` are None while it goes on."""

    session_id: SessionId
    role: str
    model: str
    opened_at: str
    closed_at: str | None
    status: str | None
    stop: str | None
