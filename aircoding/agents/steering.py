"""What a session is told beside its conversation: which packaged reminder is due in which turn.

Entries are stored on their own (DESIGN section 2, steering): they are no part of the conversation that is summarised,
and stand in the prompt only until the next epoch.
"""

from __future__ import annotations

from collections.abc import Sequence

from aircoding.agents.deps import SessionDeps
from aircoding.records.hooks import HookResult
from aircoding.records.layers import Trust
from aircoding.records.sessions import SessionBrief, SteeringEntry

__all__ = ["ASK_FOR_FINISH", "LAST_TURN", "steer"]

ASK_FOR_FINISH = "resource:prompts/steering/ask-for-finish.md"
LAST_TURN = "resource:prompts/steering/last-turn.md"


def steer(
    deps: SessionDeps, brief: SessionBrief, turn: int, *, silent: bool, hooked: Sequence[HookResult] = ()
) -> None:
    """Record what is due in `turn`: our reminders, then what hooks gave.

    `silent` says that the turn before made no tool call.

    Raises:
        FencedError: another process owns the run.
    """
    due = [ASK_FOR_FINISH] if silent else []
    due += [LAST_TURN] if turn == brief.max_turns and turn > 1 else []
    entries: list[tuple[str, str, Trust | None]] = [(uri, deps.reminders[uri], None) for uri in due]
    entries += [(one.source_uri, one.text, one.trust) for one in hooked]
    for position, (uri, text, trust) in enumerate(entries):
        entry = SteeringEntry(turn=turn, position=position, source_uri=uri, text=text, trust=trust)
        deps.sessions.steer(brief.session_id, entry)
