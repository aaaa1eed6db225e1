"""What became of a candidate each time that it was considered, and what would change that. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from aircoding.audit.remedies import remedy
from aircoding.audit.subjects import matches
from aircoding.records.layers import OutcomeKind
from aircoding.records.manifest import OutcomeRecord
from aircoding.records.seen import SeenOutcome
from aircoding.records.segments import place_of

__all__ = ["IN_A_PROMPT", "Consideration", "consideration", "group_of", "grouped", "latest", "order_of"]
__all__ += ["why_not"]

IN_A_PROMPT = frozenset({OutcomeKind.INCLUDED, OutcomeKind.EXCERPTED, OutcomeKind.REFERENCED})
"""Outcomes with which at least a line of the candidate stands in the prompt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Consideration:
    """What became of a candidate in `sessions` sessions of `runs` runs, and what would change that.

    The outcome and the names are those of the newest of them. `variants` counts the distinct outcomes that are taken
    together: they differ in the candidate's text, in the detail, and, where it is in, in what let it in.
    """

    manifest_id: str
    run_id: str
    session_id: str
    task_id: str | None
    attempt: int | None
    role: str
    outcome: OutcomeRecord
    remedy: str
    sessions: int = 1
    runs: int = 1
    variants: int = 1


def why_not(outcomes: Iterable[SeenOutcome], subject: str) -> tuple[Consideration, ...]:
    """Return what became of a path, rule or section; of one session and candidate the last outcome holds.

    Those that are left out stand first, then those of most sessions. Included ones are among them: their outcome says
    so. An empty answer means never considered.

    Args:
        outcomes: in the order in which they were recorded.
        subject: as `matches` takes it.
    """
    return grouped(one for one in outcomes if _named(one, subject))


def grouped(outcomes: Iterable[SeenOutcome]) -> tuple[Consideration, ...]:
    """Return what became of candidates, in the groups and the order of `why_not`."""
    groups: dict[tuple[str, str, str, str], list[SeenOutcome]] = {}
    for seen in latest(outcomes):
        groups.setdefault(group_of(seen.record), []).append(seen)
    found = (
        consideration(
            some[-1],
            sessions=len(some),
            runs=len({seen.run_id for seen in some}),
            variants=len({seen.record for seen in some}),
        )
        for some in groups.values()
    )
    return tuple(sorted(found, key=order_of))


def latest(outcomes: Iterable[SeenOutcome]) -> list[SeenOutcome]:
    """Return the last outcome of each candidate in each session, in the order in which these were recorded."""
    last: dict[tuple[str, str], SeenOutcome] = {}
    for seen in outcomes:
        key = (seen.session_id, place_of(seen.record.segment_id))
        last.pop(key, None)
        last[key] = seen
    return list(last.values())


def group_of(note: OutcomeRecord) -> tuple[str, str, str, str]:
    """Return what outcomes have in common that are told as one: candidate, outcome, reason, who decided against it."""
    by = "" if note.outcome is OutcomeKind.INCLUDED else note.by
    return (place_of(note.segment_id), note.outcome.value, note.reason.value if note.reason else "", by)


def order_of(found: Consideration) -> tuple[bool, int, tuple[str, str, str, str]]:
    """Return the place of a consideration in an answer."""
    return (found.outcome.outcome is OutcomeKind.INCLUDED, -found.sessions, group_of(found.outcome))


def consideration(seen: SeenOutcome, *, sessions: int, runs: int, variants: int) -> Consideration:
    """Return what is told of a group of which `seen` is the newest."""
    return Consideration(
        manifest_id=seen.manifest_id,
        run_id=seen.run_id,
        session_id=seen.session_id,
        task_id=seen.task_id,
        attempt=seen.attempt,
        role=seen.role,
        outcome=seen.record,
        remedy=remedy(seen.record),
        sessions=sessions,
        runs=runs,
        variants=variants,
    )


def _named(seen: SeenOutcome, subject: str) -> bool:
    note = seen.record
    return matches(subject, note.uri, note.rule_id, note.segment_id)
