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

__all__ = ["Level", "Ruling", "directory_level", "resolve"]


class Level(IntEnum):
    """Rule levels in order: a later one refines an earlier one."""

    BUILTIN = 0
    MANAGED = 1
    USER = 2
    PROJECT = 3
    DIRECTORY = 4
    """The first of the levels for folders (see `directory_level`): the nearest comes last."""
    TASK = 100
    LEARNED = 101
    """Promoted memories and skills."""


@dataclass(frozen=True, slots=True)
class Ruling:
    """One rule that yields to another, and why."""

    winner: Segment
    loser: Segment
    why: str


def directory_level(depth: int) -> int:
    """Return the level of a rule file in a folder `depth` levels below the root (1: a folder of the root)."""
    return min(Level.DIRECTORY + max(depth, 1) - 1, Level.TASK - 1)


def resolve(rules: Iterable[Segment]) -> tuple[Ruling, ...]:
    """Return the rulings over all rules that share an identity; the order of the rules does not matter."""
    groups: dict[str, list[Segment]] = {}
    for rule in sorted(rules, key=lambda rule: rule.segment_id):
        if rule.identity is not None and (rule.native or rule.rule_id is not None):
            groups.setdefault(rule.identity, []).append(rule)
    rulings: list[Ruling] = []
    for identity in sorted(groups):
        winner, *others = sorted(groups[identity], key=_strength, reverse=True)
        strength = _strength(winner)
        rulings.extend(Ruling(winner, loser, _why(winner, loser)) for loser in others if _strength(loser) < strength)
    return tuple(rulings)


def _strength(rule: Segment) -> tuple[bool, int, bool, int]:
    """Order rules of one identity: invariants, then who may instruct, then what was confirmed, then the later level.

    Project, user and built-in text are equals here: the level decides between them. Rules that are
    equally strong all stand: nobody wrote which of them is meant.
    """
    trust = min(rule.trust.rank, Trust.PROJECT.rank)
    return _is_invariant(rule), trust, rule.confirmed, rule.level


def _is_invariant(rule: Segment) -> bool:
    return rule.trust is Trust.BUILTIN and rule.required


def _why(winner: Segment, loser: Segment) -> str:
    here, there = winner.source.uri, loser.source.uri
    if _is_invariant(winner):
        return f"{winner.identity} is built in and yields to nothing"
    if loser.trust.rank < min(winner.trust.rank, Trust.PROJECT.rank):
        return f"text of {loser.trust} trust does not override {here}"
    if winner.confirmed and not loser.confirmed:
        return f"{here} was confirmed by the user, {there} was not"
    return f"{here} has the same identity ({winner.identity}) at a later level"
