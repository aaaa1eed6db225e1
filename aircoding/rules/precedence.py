"""Which rule holds where two have the same identity (DESIGN section 5).

Rules add up. Only native files override, by the same identity at a later level; a file of another tool adds, unless it
carries an explicit id. What the user confirmed beats what was inferred; text of agents never overrides higher trust;
what is built in as an invariant yields to nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum

from aircoding.records.layers import Trust
from aircoding.records.segments import Segment

__all__ = ["Level", "Ruling", "resolve"]


class Level(IntEnum):
    """Rule levels in order: a later one refines an earlier one."""

    BUILTIN = 0
    MANAGED = 1
    USER = 2
    PROJECT = 3
    DIRECTORY = 4
    """The first of the levels for folders: a folder's depth is added, so that the nearest comes last."""
    TASK = 100
    LEARNED = 101
    """Promoted memories and skills."""


@dataclass(frozen=True, slots=True)
class Ruling:
    """One rule that yields to another, and why."""

    winner: Segment
    loser: Segment
    why: str


def resolve(rules: Iterable[Segment]) -> tuple[Ruling, ...]:
    """Return the rulings over all rules that share an identity; the order of the rules does not matter."""
    groups: dict[str, list[Segment]] = {}
    for rule in sorted(rules, key=lambda rule: rule.segment_id):
        if rule.identity is not None and (rule.native or rule.rule_id is not None):
            groups.setdefault(rule.identity, []).append(rule)
    rulings: list[Ruling] = []
    for identity in sorted(groups):
        winner, *losers = sorted(groups[identity], key=_strength, reverse=True)
        rulings.extend(Ruling(winner, loser, _why(winner, loser)) for loser in losers if _yields(winner, loser))
    return tuple(rulings)


def _strength(rule: Segment) -> tuple[int, int, int, int, str]:
    """Order rules of one identity: invariants, then confirmed, then not of an agent, then the later level."""
    return (
        int(rule.trust is Trust.BUILTIN and rule.required),
        int(rule.confirmed),
        int(rule.trust.rank > Trust.AGENT.rank),
        rule.level,
        rule.source.uri,
    )


def _yields(winner: Segment, loser: Segment) -> bool:
    """Two rules of one level in different files both stand; nobody wrote which one is meant."""
    same_place = (winner.level, winner.confirmed) == (loser.level, loser.confirmed)
    return not (same_place and winner.trust.rank == loser.trust.rank)


def _why(winner: Segment, loser: Segment) -> str:
    if winner.trust is Trust.BUILTIN and winner.required:
        return f"{winner.identity} is built in and yields to nothing"
    if winner.confirmed and not loser.confirmed:
        return f"{winner.source.uri} was confirmed by the user, {loser.source.uri} was not"
    if loser.trust.rank <= Trust.AGENT.rank < winner.trust.rank:
        return f"text of {loser.trust} trust does not override {winner.source.uri}"
    return f"{winner.source.uri} has the same identity ({winner.identity}) at a later level"
