"""The event log's unit and the names of its events."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from aircoding.records.ids import RunId

__all__ = ["Event"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One thing that happened in a run; `seq` orders a run's events and is 0 until the log gives it.

    `key` makes an event unique within its run where given: appending it twice stores it once.
    `type` is a dotted name: the glossary lists them.
    """

    run_id: RunId
    type: str
    at: str
    task_id: str | None = None
    attempt: int | None = None
    session_id: str | None = None
    payload: Mapping[str, Any] = field(default_factory=dict)
    key: str | None = None
    seq: int = 0
