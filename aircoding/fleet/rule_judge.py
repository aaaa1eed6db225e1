"""The conflict judge: once per run the run's model reads all rules, for contradictions that code cannot see.

It is a session like any other, in the record with its assembly, its calls and their cost. What it finds is an open
conflict at most; whatever becomes of it, the run goes on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from aircoding.context.rule_judgement import accepted, rule_list, rules_in_force, suspicions_in
from aircoding.fleet.briefs import fact
from aircoding.fleet.deps import FleetDeps, append
from aircoding.fleet.drive import stop_where_fatal
from aircoding.records.ids import OF_RUN, RunId, session_id
from aircoding.records.jsonable import jsonable
from aircoding.records.layers import Mode, SegmentKind
from aircoding.records.sessions import SessionBrief, SessionOutcome
from aircoding.records.snapshot import Snapshot
from aircoding.records.tasks import TaskSpec

__all__ = ["judge_rules"]

_ROLE = "conflict_judge"
_EVENT = "conflict.judged"
_ONCE = "1"
_MAX_TURNS = 3
"""An answer, and one repair of it or one reminder to call finish."""


async def judge_rules(deps: FleetDeps, *, stop: asyncio.Event) -> None:
    """Have the rules judged, unless that was done in this run before; what was begun before a crash goes on.

    Returns early when a stop is asked for or no money is left: whoever drives the run pauses it then, and the session
    goes on at the next resume.

    Raises:
        FencedError: another process owns the run now.
        StoreError: the record cannot be written.
    """
    if deps.journal.find(f"{_EVENT}:{_ONCE}") is not None:
        return
    judging = asyncio.create_task(_judged(deps))
    waits = {judging, asyncio.create_task(stop.wait()), asyncio.create_task(_held(deps))}
    try:
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()
        await asyncio.gather(*waits, return_exceptions=True)
    if judging.done() and not judging.cancelled():
        append(deps, _EVENT, judging.result(), key=_ONCE)


async def _held(deps: FleetDeps) -> None:
    """Wait until a session is held for want of money."""
    if deps.session.budget is None:
        await asyncio.Event().wait()
    else:
        await deps.session.budget.held(1)


async def _judged(deps: FleetDeps) -> dict[str, Any]:
    """Hold the session and return what is recorded of it."""
    brief = _brief(deps)
    base: dict[str, Any] = {"session_id": brief.session_id, "model": brief.model, "manifest_id": None, "found": []}
    try:
        rules = rules_in_force(_snapshot(deps, brief))
        listed = fact(
            SegmentKind.SUMMARY, "Rules by id", rule_list(rules), f"air:run/{deps.run.run_id}/rules", required=True
        )
        outcome = await _hold(deps, replace(brief, evidence=(listed,)))
        sent = deps.session.assemblies.find(brief.session_id, 1)
        return {**base, "manifest_id": sent and sent.manifest_id, **_answer(deps, brief, outcome)}
    except Exception as error:  # noqa: BLE001 - it is a help, and nothing that goes wrong in it may stop the run
        name = stop_where_fatal(deps, error)
        return {**base, "status": "failed", "reason": deps.session.screener.mask(f"{name}: {error}"), "left_out": 0}


def _brief(deps: FleetDeps) -> SessionBrief:
    """Return the brief without the list of rules. The role has no tool that would touch its folder."""
    run = deps.run
    return SessionBrief(
        session_id=session_id(RunId(run.run_id), OF_RUN, 1, _ROLE, 1),
        role=_ROLE,
        model=run.model,
        mode=Mode.MINIMAL,
        task=TaskSpec(id=OF_RUN, title="Find rules of this project that contradict each other", role=_ROLE),
        worktree=run.project_root,
        base_commit=run.base_commit,
        run_revision=deps.journal.state.run_revision or run.run_revision,
        instruction="",
        max_turns=_MAX_TURNS,
    )


def _snapshot(deps: FleetDeps, brief: SessionBrief) -> Snapshot:
    return deps.session.gatherer.gather(brief, turn=1, messages=(), frozen=None)


async def _hold(deps: FleetDeps, brief: SessionBrief) -> SessionOutcome:
    """Run the session as a workflow of its own, or join it; one that broke on an error of ours is begun anew."""
    session = brief.session_id
    deps.sessions.open(brief)
    workflow, generation = str(session), 1
    while await deps.engine.ended(workflow) and deps.sessions.outcome(session) is None:
        generation += 1
        workflow = f"{session}~{generation}"
    await deps.engine.start("session", workflow, session)
    await deps.engine.result(workflow)
    outcome = deps.sessions.outcome(session)
    if outcome is None:
        raise LookupError(f"session {session} ended, but its outcome is not on record")
    return outcome


def _answer(deps: FleetDeps, brief: SessionBrief, outcome: SessionOutcome) -> Mapping[str, Any]:
    """Return what of the answer holds: rules that there are, with these words, about which code has not decided."""
    if outcome.status != "done" or "contradictions" not in outcome.result:
        return {"status": "failed", "reason": outcome.summary or outcome.stop, "left_out": 0}
    snapshot = _snapshot(deps, brief)
    named = suspicions_in(outcome.result, rules_in_force(snapshot), brief.model)
    found = accepted(snapshot, named)
    left_out = len(outcome.result["contradictions"]) - len(found)
    return {"status": "done", "reason": "", "found": jsonable(found), "left_out": left_out}
