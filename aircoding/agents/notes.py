"""Events of a session, each with a key, so that a replay stores none twice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aircoding.agents.deps import SessionDeps
from aircoding.records.events import Event
from aircoding.records.ids import session_parts
from aircoding.records.sessions import SessionBrief

__all__ = ["note"]


def note(deps: SessionDeps, brief: SessionBrief, kind: str, payload: Mapping[str, Any], *, key: str) -> None:
    """Append the event `kind` of a session; `key` names the call or session that it is about.

    Raises:
        FencedError: another process owns the run.
    """
    run, task, attempt, _, _ = session_parts(brief.session_id)
    event = Event(
        run_id=run,
        type=kind,
        at=deps.clock.now(),
        task_id=task,
        attempt=attempt,
        session_id=brief.session_id,
        payload=payload,
        key=f"{kind}:{key}",
    )
    deps.events.append(event)
