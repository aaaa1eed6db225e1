"""Where tasks stand, and which commands ran, as a run's events say it; pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from aircoding.records.events import Event
from aircoding.records.ids import OF_RUN
from aircoding.records.runs import TaskState

__all__ = ["command_of", "moved", "planned"]

_FINAL = {"task.done": "done", "task.failed": "failed", "task.blocked": "blocked"}
_RETRIED = frozenset({"failed", "sent_back"})


def planned(event: Event) -> tuple[TaskState, ...]:
    """Return the waiting tasks that a `run.started` names (payload `tasks: [{id, title}]`, where given)."""
    if event.type != "run.started":
        return ()
    tasks = event.payload.get("tasks", ())
    return tuple(_waiting(str(task["id"]), task) for task in tasks if isinstance(task, Mapping) and "id" in task)


def moved(state: TaskState | None, event: Event) -> TaskState | None:
    """Return where a task stands after one of its events; None for an event of no task.

    An attempt that failed or was sent back leaves its task waiting, with the reason, until it is
    dispatched again or given up.
    """
    if event.task_id is None or event.task_id == OF_RUN:
        return None
    state = state or _waiting(event.task_id, event.payload)
    reason = str(event.payload.get("reason", ""))
    if event.attempt is not None:
        state = replace(state, attempt=event.attempt)
    if event.type == "task.dispatched":
        attempt = event.payload.get("attempt", state.attempt)
        return replace(state, state="running", attempt=int(attempt), reason="")
    if event.type == "attempt.finished" and event.payload.get("outcome") in _RETRIED:
        return replace(state, state="waiting", reason=reason)
    if event.type in _FINAL:
        commit = event.payload.get("commit")
        return replace(state, state=_FINAL[event.type], reason=reason, commit=commit or state.commit)
    return state


def _waiting(task_id: str, payload: Mapping[str, Any]) -> TaskState:
    return TaskState(task_id=task_id, title=str(payload.get("title", task_id)), state="waiting", attempt=0)


def command_of(event: Event) -> dict[str, Any] | None:
    """Return the command that an event reports (`verify.finished`, `setup.failed`), or None."""
    payload = event.payload
    if event.type not in {"verify.finished", "setup.failed"} or not isinstance(payload.get("command"), str):
        return None
    return {
        "run_id": event.run_id,
        "task_id": event.task_id,
        "attempt": event.attempt,
        "purpose": event.type.split(".")[0],
        "place": str(payload.get("where", "attempt")),
        "command": payload["command"],
        "exit_code": payload.get("exit_code"),
        "passed": bool(payload.get("passed", False)),
        "output_digest": payload.get("output"),
        "ended_at": event.at,
    }
