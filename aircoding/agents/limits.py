"""What is looked at before a model call is begun: the money of the task and of the run, and whether work gets on.

A call whose reply is on record is never asked about: a resumed session passes its own past unchanged, although the
ledger then holds what was spent later.
"""

from __future__ import annotations

from aircoding.agents.deps import SessionDeps
from aircoding.agents.progress import idle_calls
from aircoding.agents.results import cost_reached, got_stuck
from aircoding.records.ids import call_key, session_parts
from aircoding.records.sessions import SessionBrief, SessionOutcome

__all__ = ["stopped_before"]


async def stopped_before(deps: SessionDeps, brief: SessionBrief, turn: int) -> SessionOutcome | None:
    """Return how a session ends that may not make the call of this turn; None when it may.

    Where the run has spent what it may, this does not return: the session waits to be suspended, and makes the call
    after a resume with more money.
    """
    session = brief.session_id
    if deps.ledger.reply(call_key(session, turn)) is not None:
        return None
    if turn > brief.max_idle_turns:
        records = deps.tool_log.records(session)
        stuck = idle_calls(records, before_turn=turn, idle_turns=brief.max_idle_turns)
        if stuck is not None:
            return got_stuck(brief, turn - 1, stuck)
    if brief.max_cost_usd is not None:
        run, task, _, _, _ = session_parts(session)
        spent_usd = deps.ledger.spent_usd(run, task_id=task)
        if spent_usd >= brief.max_cost_usd:
            return cost_reached(brief, turn - 1, spent_usd)
    if deps.budget is not None:
        await deps.budget.admit(session)
    return None
