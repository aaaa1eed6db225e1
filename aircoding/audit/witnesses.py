"""Which workers had a source in a prompt, and which had not. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from aircoding.audit.considerations import IN_A_PROMPT, Consideration, consideration
from aircoding.audit.subjects import matches
from aircoding.records.manifest import SegmentRecord
from aircoding.records.seen import SeenOutcome, SeenSegment, Worker
from aircoding.records.segments import place_of

__all__ = ["SourceNow", "Summary", "Verdict", "Witness", "summary", "who_saw"]

Verdict = Literal["seen", "part", "missed", "other", "never"]
SourceNow = Literal["same", "around", "changed", "gone", "unknown"]
"""What the source of a segment is now: as it was; another, but this text still stands in it; with another text; not
there any more; or nothing can be said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Witness:
    """One worker and whether it saw: `saw` is the first segment that was in, `missed` why none was.

    `verdict`: all of it was `seen`, a `part`, it was `missed` (considered and left out), only an `other` version was
    seen, or it was `never` considered. `sections_seen` counts the segments of the subject (a file's sections) that were
    in a prompt of this worker; `left_out` are those that were in none. `newest` is the segment that came in last, of
    any version, and `now` what its source is now; `stale` says that what the worker holds is no more in its source.
    """

    run_id: str
    task_id: str | None
    role: str
    session_ids: tuple[str, ...]
    manifest_id: str
    verdict: Verdict
    saw: SegmentRecord | None
    missed: Consideration | None
    sections_seen: int = 0
    left_out: tuple[Consideration, ...] = ()
    newest: SegmentRecord | None = None
    stale: bool = False
    now: SourceNow = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """How many workers there are, and how many of them saw a subject; `reasons` counts those who missed it."""

    workers: int
    seen: int
    part: int
    missed: int
    other: int
    never: int
    stale: int
    reasons: Mapping[str, int] = field(default_factory=dict)


def who_saw(
    workers: Iterable[Worker],
    segments: Iterable[SeenSegment],
    outcomes: Iterable[SeenOutcome],
    subject: str,
    *,
    digest: str | None = None,
    is_stale: Callable[[SegmentRecord], bool] = lambda _: False,
) -> tuple[Witness, ...]:
    """Return one witness for each worker, in their order: who had the subject in a prompt, and who did not.

    Args:
        workers: who is asked about.
        segments: what came in, in the order in which it was recorded.
        outcomes: likewise.
        subject: as `matches` takes it.
        digest: only this version counts as seen (the start of its raw or its text digest).
        is_stale: whether a segment's text is not in its source any more.
    """
    seen: dict[tuple[str, str, str], list[SeenSegment]] = {}
    for one in segments:
        if matches(subject, one.record.source.uri, one.record.rule_id, one.record.segment_id):
            seen.setdefault(_key(one), []).append(one)
    told: dict[tuple[str, str, str], list[SeenOutcome]] = {}
    for note in outcomes:
        if matches(subject, note.record.uri, note.record.rule_id, note.record.segment_id):
            told.setdefault(_key(note), []).append(note)
    return tuple(
        _witness(worker, seen.get(worker.key, []), told.get(worker.key, []), digest, is_stale) for worker in workers
    )


def summary(witnesses: Iterable[Witness]) -> Summary:
    """Count witnesses."""
    all_of_them = tuple(witnesses)
    counts = {name: sum(one.verdict == name for one in all_of_them) for name in ("seen", "part", "missed", "other")}
    reasons: dict[str, int] = {}
    for one in all_of_them:
        if one.verdict == "missed" and one.missed is not None:
            word = one.missed.outcome.reason.value if one.missed.outcome.reason else one.missed.outcome.outcome.value
            reasons[word] = reasons.get(word, 0) + 1
    return Summary(
        workers=len(all_of_them),
        never=len(all_of_them) - sum(counts.values()),
        stale=sum(one.stale for one in all_of_them),
        reasons=dict(sorted(reasons.items())),
        **counts,
    )


def _key(one: SeenSegment | SeenOutcome) -> tuple[str, str, str]:
    return (one.run_id, one.task_id or "", one.role)


def _witness(
    worker: Worker,
    seen: list[SeenSegment],
    told: list[SeenOutcome],
    digest: str | None,
    is_stale: Callable[[SegmentRecord], bool],
) -> Witness:
    found = [one for one in seen if digest is None or _is_version(one.record, digest)]
    places = {place_of(one.record.segment_id) for one in found}
    last: dict[str, SeenOutcome] = {}
    for note in told:
        place = place_of(note.record.segment_id)
        last.pop(place, None)
        last[place] = note
    left_out = tuple(
        consideration(note, sessions=1, runs=1, variants=1)
        for place, note in last.items()
        if place not in places and note.record.outcome not in IN_A_PROMPT
    )
    newest = {one.record.source.uri: one.record for one in seen}
    verdict: Verdict = "never"
    if found:
        verdict = "part" if left_out else "seen"
    elif left_out:
        verdict = "missed"
    elif seen:
        verdict = "other"
    return Witness(
        run_id=worker.run_id,
        task_id=worker.task_id,
        role=worker.role,
        session_ids=worker.session_ids,
        manifest_id=found[0].manifest_id if found else worker.manifest_id,
        verdict=verdict,
        saw=found[0].record if found else None,
        missed=left_out[-1] if left_out and not found else None,
        sections_seen=len(places),
        left_out=left_out,
        newest=seen[-1].record if seen else None,
        stale=any(is_stale(record) for record in newest.values()),
    )


def _is_version(record: SegmentRecord, digest: str) -> bool:
    return record.source.digest.startswith(digest) or record.source.text_digest.startswith(digest)
