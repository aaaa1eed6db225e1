"""Sessions of an attempt: each is a workflow of its own, found again by its id."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from aircoding.agents.loop import run_session
from aircoding.fleet.briefs import brief_for, instruction_for
from aircoding.fleet.deps import FleetDeps
from aircoding.fleet.phases import Attempt, Ended, keep
from aircoding.fleet.state import OUTAGE
from aircoding.records.ids import SessionId, session_parts
from aircoding.records.layers import SegmentKind
from aircoding.records.sessions import Evidence, SessionOutcome

__all__ = ["cut_off", "hold_session", "not_done", "run_session_workflow"]

_OUTAGES = frozenset(
    f"provider.{kind}"
    for kind in (
        "rate_limit",
        "overloaded",
        "server",
        "timeout",
        "cut_stream",
        "silent_end",
        "connection",
        "credentials",
        "untrusted_usage",
    )
)
"""Failures that say nothing of the task: whoever asked would have got them (kinds of `errors.ProviderError`)."""


async def run_session_workflow(deps: FleetDeps, session: str) -> str:
    """Run one session whose brief is on record; its status is what the workflow returns."""
    brief = deps.sessions.brief(SessionId(session))
    _, task, number, _, _ = session_parts(brief.session_id)
    attempt = deps.journal.state.task(task).attempt(number)
    index = attempt.worker_index if attempt is not None else 0
    env = (*deps.preparation.env, ("AIR_WORKER_INDEX", str(index)))
    outcome = await run_session(replace(deps.session, command_env=env), brief)
    return outcome.status


async def hold_session(
    attempt: Attempt, role: str, n: int, *, evidence: Sequence[Evidence] = (), instruction: str | None = None
) -> SessionOutcome:
    """Run a session of the attempt as a workflow of its own, or join it, and return how it ended.

    The first brief of a session counts: when it is on record already, `evidence` and `instruction` change nothing.
    """
    deps = attempt.deps
    told = instruction or instruction_for(attempt, role)
    brief = brief_for(attempt, role, n, evidence=tuple(evidence), instruction=told)
    deps.sessions.open(brief)
    workflow = brief.session_id if attempt.generation == 1 else f"{brief.session_id}~{attempt.generation}"
    await deps.engine.start("session", workflow, brief.session_id)
    await deps.engine.result(workflow)
    outcome = deps.sessions.outcome(brief.session_id)
    if outcome is None:
        raise LookupError(f"session {brief.session_id} ended, but its outcome is not on record")
    return outcome


def cut_off(outcome: SessionOutcome) -> Ended | None:
    """Return how an attempt ends whose session could not reach a model, or had no money left; None when neither."""
    if outcome.stop == "cost_limit":
        return Ended(outcome="blocked", reason=outcome.summary)
    if outcome.stop != "provider" or outcome.result.get("code") not in _OUTAGES:
        return None
    hint = str(outcome.result.get("hint", ""))
    reason = f"no model could be reached: {outcome.summary}" + (f" ({hint})" if hint else "")
    return Ended(outcome="failed", reason=reason, stop=OUTAGE)


def not_done(attempt: Attempt, outcome: SessionOutcome) -> Ended:
    """A session that did not get done ends the attempt; what it reported is evidence for the next."""
    if (ended := cut_off(outcome)) is not None:
        return ended
    reason = outcome.summary or outcome.stop
    title = f"Attempt {attempt.number} ended: {outcome.status}"
    kept = keep(attempt, SegmentKind.FAILURE, title, reason)
    return Ended(outcome="blocked" if outcome.status == "blocked" else "failed", reason=reason, evidence=(kept,))
