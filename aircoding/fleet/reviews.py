"""Let a reviewer look at an attempt's commit, read-only, before it is merged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from aircoding.fleet.briefs import fact
from aircoding.fleet.phases import Attempt, Ended, keep
from aircoding.fleet.sessions import cut_off, hold_session
from aircoding.records.layers import Layer, SegmentKind
from aircoding.records.sessions import Evidence, SessionOutcome

__all__ = ["review"]

_TRIES = 2
"""A review that gave no verdict is held once more: that is not the executor's failure."""


async def review(attempt: Attempt, commit: str) -> Ended | None:
    """Return how the attempt ends by its review, or None when the reviewer approves."""
    evidence = _evidence(attempt)
    outcome = await hold_session(attempt, "reviewer", 1, evidence=evidence)
    for n in range(2, _TRIES + 1):
        if outcome.status == "failed":
            outcome = await hold_session(attempt, "reviewer", n, evidence=evidence)
    verdict, findings = str(outcome.result.get("verdict", "")), list(outcome.result.get("findings", ()))
    if not verdict:
        reason = f"the review came to no verdict: {outcome.summary or outcome.stop}"
        return cut_off(outcome) or Ended(outcome="blocked", reason=reason)
    attempt.note("review.finished", {"verdict": verdict, "findings": findings, "commit": commit})
    return None if verdict == "approve" else _sent_back(attempt, commit, outcome, findings)


def _evidence(attempt: Attempt) -> tuple[Evidence, ...]:
    """The whole work on the task, not only what changed since the last review, and what was verified."""
    diff = attempt.deps.repository.open_worktree(attempt.root).diff(attempt.origin_commit)
    passed = "\n".join(f"passed: {command}" for command in attempt.task.verify)
    uri = f"air:run/{attempt.key}"
    return (
        fact(SegmentKind.ARTIFACT, "The change", diff, f"{uri}/diff", required=True),
        fact(
            SegmentKind.DIAGNOSTIC,
            "Verification",
            passed or "the task names no verification",
            f"{uri}/verification",
            layer=Layer.L8,
        ),
    )


def _sent_back(attempt: Attempt, commit: str, outcome: SessionOutcome, findings: Sequence[Mapping[str, Any]]) -> Ended:
    text = "\n".join(_finding(finding) for finding in findings) or outcome.summary
    kept = keep(attempt, SegmentKind.FINDING, f"Review of attempt {attempt.number}", text)
    return Ended(outcome="sent_back", reason=outcome.summary or text, commit=commit, evidence=(kept,))


def _finding(finding: Mapping[str, Any]) -> str:
    place = f"{finding.get('file', '')}:{finding['line']}" if finding.get("line") else str(finding.get("file", ""))
    return f"- {finding.get('severity', '')} {finding.get('dimension', '')}, {place}: {finding.get('message', '')}"
