"""What a plan may cost: a range from the first prompts of its sessions and from assumptions that are named; pure.

A session of n turns sends its first prompt n times, and what each turn adds in every later one. Of that the cache
gives back all that an earlier request has marked, so the layout decides what is read and what is written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from aircoding.records.usage import TokenEstimate, UnitPrices, Usage

__all__ = ["Assumption", "Bound", "Driver", "SessionShape", "UnitPricesOf", "assumptions_for", "bound_of"]
__all__ += ["drivers_of"]

Side = Literal["low", "expected", "high"]

UnitPricesOf = Callable[[str, int], UnitPrices | None]
"""Unit prices of a model for a prompt of so many tokens, or None where they are not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assumption:
    """One number that the plan does not give, and what it is based on (`guess` where it is one)."""

    name: str
    low: float
    expected: float
    high: float
    basis: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Driver:
    """An assumption, and by how many `times` the expected cost (tokens where it is not known) grows at its high end."""

    name: str
    expected: float
    high: float
    times: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionShape:
    """The sessions of one role with one model: for how many tasks, and their mean first prompt.

    `shared` is what all of them share (tools and `system`, up to the last mark there), `own` the rest. `part` says
    when the role takes part: `always`, once per attempt, or `failure`, when the verification of an attempt fails.
    """

    role: str
    model: str
    part: str
    tasks: int
    shared: TokenEstimate
    own: TokenEstimate
    caches: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """One end, or the middle, of the estimate. Money is None where a price is not known."""

    sessions: float
    calls: float
    prompt_tokens: int
    cached_tokens: int
    output_tokens: int
    cost_usd: float | None
    cost_without_cache_usd: float | None


_TURNS = {"executor": (5, 12, 25), "debugger": (3, 8, 16), "reviewer": (2, 4, 8)}
_OTHER_TURNS = (3, 10, 25)


def assumptions_for(roles: Iterable[str], *, max_turns: int, max_attempts: float) -> tuple[Assumption, ...]:
    """Return all assumptions for a plan whose sessions have these roles.

    Each is a mean over the whole plan, so its ends are those of a cheap and of a costly plan, not of the costliest
    session that could be.
    """
    turns = tuple(_turns_of(role, max_turns) for role in sorted(set(roles)))
    return (
        *turns,
        _assumed("output tokens of one turn", 200, 400, 700, "guess: a tool call with a few lines, up to a file"),
        _assumed("tokens of tool results of one turn", 400, 1_000, 1_800, "guess: a part of a file or a test output"),
        _assumed("evidence tokens of a debugger or reviewer", 1_000, 3_000, 6_000, "guess; cut at 60,000 characters"),
        _assumed(
            "attempts of one task", 1, min(1.2, max_attempts), min(2, max_attempts), "guess; at most retry.max_attempts"
        ),
        _assumed("share of attempts whose verification fails", 0, 0.25, 0.5, "guess"),
        _assumed("share of sessions that find the shared prefix cold", 0, 0.05, 0.25, "guess; besides the first"),
        _assumed("share of turns after more than 5 minutes", 0, 0.02, 0.05, "guess; an entry lives 5 minutes"),
    )


def drivers_of(
    shapes: Sequence[SessionShape], assumptions: Sequence[Assumption], unit_prices: UnitPricesOf
) -> tuple[Driver, ...]:
    """Return what each assumption does to the expected estimate when it alone is at its high end, the strongest first.

    Those that change nothing are left out.
    """
    expected = bound_of("expected", shapes, assumptions, unit_prices)
    found: list[Driver] = []
    for place, one in enumerate(assumptions):
        alone = [*assumptions[:place], replace(one, expected=one.high), *assumptions[place + 1 :]]
        times = _size(bound_of("expected", shapes, alone, unit_prices)) / (_size(expected) or 1.0)
        if times > 1:
            found.append(Driver(name=one.name, expected=one.expected, high=one.high, times=round(times, 2)))
    return tuple(sorted(found, key=lambda driver: (-driver.times, driver.name)))


def _size(bound: Bound) -> float:
    """Return what two bounds are compared by: money, or tokens where a price is not known."""
    return float(bound.prompt_tokens + bound.output_tokens) if bound.cost_usd is None else bound.cost_usd


def _turns_of(role: str, max_turns: int) -> Assumption:
    low, expected, high = (min(turns, max_turns) for turns in _TURNS.get(role, _OTHER_TURNS))
    return _assumed(f"turns of one session: {role}", low, expected, high, f"guess; [run] max_turns = {max_turns}")


def _assumed(name: str, low: float, expected: float, high: float, basis: str) -> Assumption:
    return Assumption(name=name, low=low, expected=expected, high=high, basis=basis)


def bound_of(
    side: Side, shapes: Sequence[SessionShape], assumptions: Sequence[Assumption], unit_prices: UnitPricesOf
) -> Bound:
    """Return one bound of the estimate for all sessions of a plan."""
    given = {one.name: float(getattr(one, side)) for one in assumptions}
    sessions = calls = usd = uncached_usd = 0.0
    usage, priced = _Sums(), True
    for shape in shapes:
        count = shape.tasks * given["attempts of one task"]
        if shape.part == "failure":
            count *= given["share of attempts whose verification fails"]
        if not count:
            continue
        turns = _turns(side, shape, given, count)
        sessions += count
        calls += count * len(turns)
        for turn in turns:
            usage.add(turn, count)
            prices = unit_prices(shape.model, turn.prompt_tokens)
            cost, uncached = (prices.usd(turn), prices.usd_without_cache(turn)) if prices else (None, None)
            priced = priced and cost is not None
            usd += (cost or 0.0) * count
            uncached_usd += (uncached or 0.0) * count
    return Bound(
        sessions=round(sessions, 2),
        calls=round(calls, 2),
        prompt_tokens=round(usage.prompt),
        cached_tokens=round(usage.cached),
        output_tokens=round(usage.output),
        cost_usd=usd if priced else None,
        cost_without_cache_usd=uncached_usd if priced else None,
    )


@dataclass(slots=True)
class _Sums:
    prompt: float = 0.0
    cached: float = 0.0
    output: float = 0.0

    def add(self, turn: Usage, count: float) -> None:
        self.prompt += turn.prompt_tokens * count
        self.cached += turn.cache_read_tokens * count
        self.output += turn.output_tokens * count


def _turns(side: Side, shape: SessionShape, given: dict[str, float], sessions: float) -> list[Usage]:
    """Return the usage of each turn of the mean session of a shape."""
    shared, own = getattr(shape.shared, side), getattr(shape.own, side)
    if shape.part == "failure" or shape.role == "reviewer":
        own += given["evidence tokens of a debugger or reviewer"]
    output = round(given["output tokens of one turn"])
    growth = output + given["tokens of tool results of one turn"]
    cold = given["share of sessions that find the shared prefix cold"]
    cold_share = min(1.0, 1 / sessions + cold)  # the first session of a role and model writes for all
    missed = given["share of turns after more than 5 minutes"]
    turns: list[Usage] = []
    for number in range(round(given[f"turns of one session: {shape.role}"])):
        prompt = shared + own + growth * number
        found = shared * (1 - cold_share) if number == 0 else (prompt - growth) * (1 - missed)
        read = round(found) if shape.caches else 0
        rest = round(prompt) - read
        written, plain = (rest, 0) if shape.caches else (0, rest)
        turns.append(
            Usage(input_tokens=plain, output_tokens=output, cache_read_tokens=read, cache_write_5m_tokens=written)
        )
    return turns
