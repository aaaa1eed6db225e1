"""What the record gives whoever sums it up: calls that were paid for, and what was left out of prompts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from aircoding.records.conflicts import Conflict
from aircoding.records.manifest import OutcomeRecord
from aircoding.records.usage import UnitPrices, Usage

__all__ = ["LeftOut", "MetConflict", "PaidCall", "Spent"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What some tries used and cost together; a field that they were not grouped by is None.

    `paid` counts tries whose usage came back, `unpaid` the others. `cost_usd` is that of the tries whose price is
    known: None where there is none. `unpriced` and `simulated` count tries of unknown price, and those that no provider
    answered.
    """

    run_id: str | None
    task_id: str | None
    role: str | None
    model: str | None
    paid: int
    unpaid: int
    usage: Usage
    cost_usd: float | None
    unpriced: int
    simulated: int


@dataclass(frozen=True, slots=True)
class PaidCall:
    """One try that was paid for. `parts` are layer and estimated tokens of stretches of its prompt, in order.

    They are empty where its assembly is not on record. Calls of one session may share one list, to which the parts of
    the next call are added once this one was looked at.
    """

    parts: Sequence[tuple[str, int]]
    usage: Usage
    prices: UnitPrices
    cost_usd: float | None
    simulated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """What of one source was left out for one reason, by one line or stage.

    `example` is the newest of the outcomes, of the assembly `manifest_id`. `workers` counts sessions, `candidates` the
    distinct texts, `details` the distinct wordings of why. `tokens` is the sum over all workers.
    """

    example: OutcomeRecord
    manifest_id: str
    workers: int
    candidates: int
    details: int
    tokens: int
    roles: tuple[str, ...]
    tasks: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MetConflict:
    """A conflict as its newest prompt had it, and in how many sessions' prompts it stood.

    `open_sessions` of the `sessions` had it open to their end. `manifest_id` is that newest prompt.
    """

    conflict: Conflict
    manifest_id: str
    sessions: int
    open_sessions: int
    roles: tuple[str, ...]
    tasks: tuple[str, ...]
