"""Runs, events, briefs and calls for tests of the record."""

from __future__ import annotations

from typing import Any

from aircoding.records.calls import CallRecord, ToolCall
from aircoding.records.events import Event
from aircoding.records.ids import CallKey, Digest, ManifestId, RunId, SessionId, TaskId, call_key, session_id, tool_key
from aircoding.records.layers import Mode
from aircoding.records.runs import Run
from aircoding.records.sessions import SessionBrief
from aircoding.records.tasks import TaskSpec

RUN = RunId("r1")
SESSION = session_id(RUN, TaskId("T1"), 1, "executor", 1)
AT = "2026-11-30T12:00:00Z"


def run(run_id: str = RUN, **more: Any) -> Run:
    """Return a run that goes on."""
    values: dict[str, Any] = {
        "goal": "Items",
        "status": "running",
        "created_at": AT,
        "project_root": "/project",
        "base_commit": "c0",
        "target_branch": "main",
        "integration_branch": f"air/{run_id}/integration",
        "provider": "scripted:demo",
        "model": "test-model",
        "concurrency": 4,
        "plan_digest": Digest("0" * 64),
        "run_revision": "rev1",
    }
    return Run(run_id=RunId(run_id), **(values | more))


def event(
    type_: str, task_id: str | None = None, *, key: str | None = None, attempt: int | None = None, **payload: Any
) -> Event:
    """Return an event of the test run."""
    return Event(run_id=RUN, type=type_, at=AT, task_id=task_id, attempt=attempt, payload=payload, key=key)


def brief(session: SessionId = SESSION, **more: Any) -> SessionBrief:
    """Return what an executor is told."""
    values: dict[str, Any] = {
        "role": "executor",
        "model": "test-model",
        "mode": Mode.FULL,
        "task": TaskSpec(id=TaskId("T1"), title="Items", write_area=("src/a.py",)),
        "worktree": "/worktree",
        "base_commit": "c0",
        "run_revision": "rev1",
        "instruction": "Do it.",
    }
    return SessionBrief(session_id=session, **(values | more))


def call(turn: int = 1, session: SessionId = SESSION, *, key: CallKey | None = None) -> CallRecord:
    """Return the intent of a model call."""
    return CallRecord(
        key=key or call_key(session, turn),
        tries=0,
        session_id=session,
        manifest_id=ManifestId(f"m-{turn}"),
        model="test-model",
        state="intended",
        started_at=AT,
    )


def tool_call(
    index: int = 0, turn: int = 1, session: SessionId = SESSION, name: str = "fs_edit", **given: Any
) -> ToolCall:
    """Return a tool call."""
    return ToolCall(
        key=tool_key(session, turn, index),
        session_id=session,
        turn=turn,
        index=index,
        tool_use_id=f"t{turn}-{index}",
        name=name,
        input=given or {"path": "src/a.py"},
    )
