"""What a worker saw, and what became of a candidate, each with the assembly that it came in with."""

from __future__ import annotations

from dataclasses import dataclass

from aircoding.records.manifest import OutcomeRecord, SegmentRecord

__all__ = ["SeenOutcome", "SeenSegment", "Worker"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Worker:
    """All sessions of one role on one task of one run; `manifest_id` names its first assembly."""

    run_id: str
    task_id: str | None
    role: str
    session_ids: tuple[str, ...]
    manifest_id: str

    @property
    def key(self) -> tuple[str, str, str]:
        """What tells one worker from another."""
        return (self.run_id, self.task_id or "", self.role)


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenSegment:
    """A segment and the assembly that it came in with. It stands in every later turn of that epoch."""

    manifest_id: str
    run_id: str
    session_id: str
    task_id: str | None
    attempt: int | None
    role: str
    turn: int
    record: SegmentRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenOutcome:
    """An outcome and the assembly that it came in with."""

    manifest_id: str
    run_id: str
    session_id: str
    task_id: str | None
    attempt: int | None
    role: str
    turn: int
    record: OutcomeRecord
