"""How a session ended: from a result, a limit or a failure to its outcome.

`done` and `failed` are the agent's doing. `blocked` means that the same agent, asked again, would stop at
the same place: a limit, a window, a provider, or its own word.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aircoding.records.conflicts import Conflict
from aircoding.records.manifest import AssembledContext, Overflow
from aircoding.records.sessions import SessionBrief, SessionOutcome
from aircoding.records.words import dollars

__all__ = [
    "cost_reached",
    "finished",
    "got_stuck",
    "in_conflict",
    "not_finished",
    "open_conflict",
    "overflowed",
    "provider_failed",
    "turns_reached",
]


def finished(brief: SessionBrief, turns: int, result: Mapping[str, Any]) -> SessionOutcome:
    """Return the outcome of a validated result: blocked or failed where it says so, else done.

    A debugger says `fixed`, a reviewer gives a verdict, others only answer: each has done its part.
    """
    status = result.get("status")
    return SessionOutcome(
        session_id=brief.session_id,
        status=status if status in {"blocked", "failed"} else "done",
        summary=_summary(result),
        result=result,
        turns=turns,
    )


def _summary(result: Mapping[str, Any]) -> str:
    """Return what the result says in short; each role names it after what it answers."""
    for name in ("summary", "cause", "reason"):
        said = result.get(name)
        if isinstance(said, str) and said.strip():
            return said
    return ""


def not_finished(brief: SessionBrief, turns: int, why: str) -> SessionOutcome:
    """Return the outcome of a session that gave no valid result though it was asked once more."""
    return _ended(brief, turns, "failed", "invalid_result", why)


def turns_reached(brief: SessionBrief) -> SessionOutcome:
    """Return the outcome of a session that used up its turns."""
    return _ended(brief, brief.max_turns, "failed", "turn_limit", f"No result after {brief.max_turns} turns.")


def cost_reached(brief: SessionBrief, turns: int, spent_usd: float) -> SessionOutcome:
    """Return the outcome of a session whose task has spent what it may, over all its sessions and attempts."""
    limit_usd = brief.max_cost_usd or 0.0
    why = f"The task has spent {dollars(spent_usd)}, and may spend {dollars(limit_usd)}."
    return _ended(brief, turns, "blocked", "cost_limit", why, spent_usd=spent_usd, limit_usd=limit_usd)


def got_stuck(brief: SessionBrief, turns: int, calls: str) -> SessionOutcome:
    """Return the outcome of a session that made no progress for as many turns as it may."""
    why = f"No progress in {brief.max_idle_turns} turns; it called: {calls}."
    return _ended(brief, turns, "failed", "no_progress", why)


def overflowed(brief: SessionBrief, turns: int, overflow: Overflow) -> SessionOutcome:
    """Return the outcome of a session whose next request does not fit; nothing of it was sent."""
    largest = ", ".join(f"{segment} ({tokens} tokens)" for segment, tokens in overflow.largest)
    why = (
        f"What must be kept needs {overflow.needed_tokens} tokens of {overflow.scope.value} scope; "
        f"{overflow.available_tokens} are available. Largest: {largest or 'none'}."
    )
    return _ended(
        brief,
        turns,
        "blocked",
        "overflow",
        why,
        scope=overflow.scope.value,
        needed_tokens=overflow.needed_tokens,
        available_tokens=overflow.available_tokens,
        largest=[{"segment_id": segment, "tokens": tokens} for segment, tokens in overflow.largest],
    )


def open_conflict(context: AssembledContext) -> Conflict | None:
    """Return a conflict that nobody has ruled on and that must stop the task (DESIGN section 4), or None."""
    return next((one for one in context.conflicts if one.blocking and one.state == "open"), None)


def in_conflict(brief: SessionBrief, turns: int, conflict: Conflict) -> SessionOutcome:
    """Return the outcome of a session that an open conflict stops; nothing of this turn was sent."""
    why = f"{conflict.detail}; {conflict.ruling}; see: aircoding conflicts show {conflict.conflict_id}"
    return _ended(
        brief, turns, "blocked", "conflict", why, conflict_id=conflict.conflict_id, route=conflict.route.value
    )


def provider_failed(brief: SessionBrief, turns: int, code: str, message: str, hint: str) -> SessionOutcome:
    """Return the outcome of a session whose model call failed for good."""
    return _ended(brief, turns, "blocked", "provider", message, code=code, hint=hint)


def _ended(brief: SessionBrief, turns: int, status: str, stop: str, why: str, **details: Any) -> SessionOutcome:
    return SessionOutcome(
        session_id=brief.session_id, status=status, summary=why, result=details, turns=turns, stop=stop
    )
