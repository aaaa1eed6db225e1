"""Names of things: every identifier is a string type of its own, so that a type checker keeps them apart."""

from __future__ import annotations

from typing import NewType

__all__ = [
    "OF_RUN",
    "AttemptKey",
    "CallKey",
    "Digest",
    "ManifestId",
    "RunId",
    "SegmentId",
    "SessionId",
    "TaskId",
    "ToolKey",
    "attempt_key",
    "call_key",
    "session_id",
    "session_parts",
    "tool_key",
]

RunId = NewType("RunId", str)
TaskId = NewType("TaskId", str)
OF_RUN = TaskId("@run")
"""Stands for the task in the ids of sessions that belong to a run itself; no plan can have a task of that name."""
SessionId = NewType("SessionId", str)
"""`run:task:attempt:role:n` (DESIGN section 1)."""
AttemptKey = NewType("AttemptKey", str)
"""`run:task:attempt`."""
SegmentId = NewType("SegmentId", str)
ManifestId = NewType("ManifestId", str)
CallKey = NewType("CallKey", str)
"""`session#turn`: one model call, however often it was tried."""
ToolKey = NewType("ToolKey", str)
"""`session#turn#index`: one tool call of one turn."""
Digest = NewType("Digest", str)
"""Lower-case hex sha256 of bytes."""


def attempt_key(run: RunId, task: TaskId, attempt: int) -> AttemptKey:
    """Return the key of one executor's try at a task; attempts count from 1."""
    return AttemptKey(f"{run}:{task}:{attempt}")


def session_id(run: RunId, task: TaskId, attempt: int, role: str, n: int) -> SessionId:
    """Return the id of the n-th session (from 1) of a role within an attempt."""
    return SessionId(f"{run}:{task}:{attempt}:{role}:{n}")


def session_parts(session: SessionId) -> tuple[RunId, TaskId, int, str, int]:
    """Return run, task, attempt, role and n of a session id.

    Task ids may hold colons, so the id is read from both ends.
    """
    run, rest = session.split(":", 1)
    task, attempt, role, n = rest.rsplit(":", 3)
    return RunId(run), TaskId(task), int(attempt), role, int(n)


def call_key(session: SessionId, turn: int) -> CallKey:
    """Return the key of the model call that turn `turn` (from 1) of a session makes."""
    return CallKey(f"{session}#{turn}")


def tool_key(session: SessionId, turn: int, index: int) -> ToolKey:
    """Return the key of the tool call at position `index` (from 0) of a turn."""
    return ToolKey(f"{session}#{turn}#{index}")
