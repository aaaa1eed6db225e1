"""A conflict in words: what holds, and why. Pure."""

from __future__ import annotations

from aircoding.records.conflicts import Conflict

__all__ = ["holds", "reason"]


def holds(conflict: Conflict) -> str:
    """Return what holds: the party that won, that the task may go on, or that nobody has won yet."""
    if conflict.blocking:
        return "it stops its task" if conflict.state == "open" else "the task may go on"
    if conflict.winner is None:
        return "nobody has won yet"
    return f"{conflict.winner.removeprefix('project:')} holds"


def reason(conflict: Conflict) -> str:
    """Return why that holds: a person's words, or the rule by which it was decided."""
    return f"{conflict.ruled_by}: {conflict.ruling}" if conflict.ruled_by == "user" else conflict.ruling
