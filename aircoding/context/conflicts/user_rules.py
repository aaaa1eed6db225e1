"""User-rule conflicts: two directives that contradict, of rules and of what the user says now.

The latest explicit instruction of the user holds for the session. Between two rules the stronger one holds: confirmed
before inferred, then the later level, then the nearer folder; between equals nobody, and both stand.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, islice, product

from aircoding.context.conflicts.naming import conflict_id, source_place
from aircoding.records.conflicts import Conflict, ConflictKind, Route
from aircoding.records.layers import Layer, SegmentKind, Trust
from aircoding.records.segments import Segment, place_of
from aircoding.rules.choices import normal
from aircoding.rules.directives import Directive, directives_in
from aircoding.rules.globs import overlap
from aircoding.rules.opposition import Key, Sides, agree, contradiction, subject_sides

__all__ = ["Contradiction", "are_versions", "can_meet", "is_rule", "user_rule_conflicts"]

_RULES = frozenset({SegmentKind.RULE, SegmentKind.MEMORY, SegmentKind.SKILL})
_MOST_PAIRS = 1000
"""Pairs of one subject that are looked at: hundreds of rules on one subject say the same to whoever settles it."""
_WISHES = frozenset({SegmentKind.MESSAGE, SegmentKind.DECISION, SegmentKind.INSTRUCTION, SegmentKind.TASK})


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A conflict, the segments of its two parties, and of each the words that contradict and their line."""

    conflict: Conflict
    pair: tuple[Segment, Segment]
    words: tuple[str, str]
    lines: tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Said:
    segment: Segment
    directive: Directive
    sides: Sides

    @property
    def line(self) -> int:
        return (self.segment.source.start_line or 1) + self.directive.line - 1

    @property
    def where(self) -> str:
        return f"{source_place(self.segment)}:{self.line}"

    @property
    def quoted(self) -> str:
        return f"{self.where} says `{self.directive.text}`"


def user_rule_conflicts(segments: Iterable[Segment], fresh: frozenset[str] | None = None) -> tuple[Contradiction, ...]:
    """Return the contradictions among segments, each once, in the order of their ids.

    Args:
        segments: what stands in the prompt, or is about to.
        fresh: ids of the segments that are new in this turn; None: all are.
    """
    every = sorted(segments, key=lambda segment: segment.segment_id)
    rules = [said for segment in every if is_rule(segment) for said in _said(segment)]
    found: dict[str, Contradiction] = {}
    for one, other in _pairs(rules):
        if fresh is None or one.segment.segment_id in fresh or other.segment.segment_id in fresh:
            _add(found, _between_rules(one, other))
    wishes = [said for segment in sorted(every, key=_recency) if _is_wish(segment) for said in _said(segment)]
    by_key = _by_key(enumerate(wishes))
    for rule in rules if wishes else ():
        if fresh is None or rule.segment.segment_id in fresh:
            places = {place for key in rule.sides for place in by_key.get(key, ())}
            _add(found, _against_wish(rule, [wishes[place] for place in sorted(places, reverse=True)]))
    return tuple(found[name] for name in sorted(found))


def _add(found: dict[str, Contradiction], contradiction_: Contradiction | None) -> None:
    if contradiction_ is not None:
        found.setdefault(contradiction_.conflict.conflict_id, contradiction_)


def is_rule(segment: Segment) -> bool:
    """Whether a text can contradict another as a rule: external and blocked ones rule nothing."""
    return segment.kind in _RULES and segment.trust is not Trust.EXTERNAL and not _is_blocked(segment)


def _is_wish(segment: Segment) -> bool:
    """Whether the user says it now: an instruction, a message, the text of the task."""
    return segment.kind in _WISHES and segment.trust is Trust.USER and not _is_blocked(segment)


def _is_blocked(segment: Segment) -> bool:
    return any(finding.blocks for finding in segment.findings)


def _recency(segment: Segment) -> tuple[str, int, str]:
    """Order wishes: the task first, then messages as they came, the instruction of now last."""
    return str(segment.layer), segment.recency, segment.segment_id


def _said(segment: Segment) -> Iterator[_Said]:
    return (_Said(segment, directive, sides) for directive, sides in _read(segment.text))


@lru_cache(maxsize=2048)
def _read(text: str) -> tuple[tuple[Directive, Sides], ...]:
    """Return the directives of a text, each wording once."""
    once = {directive.text: directive for directive in reversed(directives_in(text))}
    return tuple((directive, subject_sides(directive)) for directive in reversed(once.values()))


def _by_key(numbered: Iterable[tuple[int, _Said]]) -> dict[Key, list[int]]:
    found: dict[Key, list[int]] = {}
    for place, said in numbered:
        for key in said.sides:
            found.setdefault(key, []).append(place)
    return found


def _pairs(rules: Sequence[_Said]) -> Iterator[tuple[_Said, _Said]]:
    """Yield the pairs that stand on different sides of a subject, once each."""
    seen: set[tuple[int, int]] = set()
    for key, places in _by_key(enumerate(rules)).items():
        sides: dict[str, list[int]] = {}
        for place in places:
            sides.setdefault(rules[place].sides[key], []).append(place)
        pairs = (pair for one, other in combinations(sides.values(), 2) for pair in product(one, other))
        for one, other in islice(pairs, _MOST_PAIRS):
            pair = (min(one, other), max(one, other))
            if pair not in seen:
                seen.add(pair)
                yield rules[pair[0]], rules[pair[1]]


def are_versions(one: Segment, other: Segment) -> bool:
    """Whether one is what the other was: the run's frozen text of a place, and what stands there now."""
    return one.segment_id != other.segment_id and place_of(one.segment_id) == place_of(other.segment_id)


def _between_rules(one: _Said, other: _Said) -> Contradiction | None:
    one_text = one.segment.source.uri == other.segment.source.uri
    if are_versions(one.segment, other.segment) or not can_meet(one.segment.paths, other.segment.paths):
        return None
    subject = contradiction(one.directive, other.directive, one_text=one_text)
    if subject is None:
        return None
    strength = _strength(one.segment), _strength(other.segment)
    if strength[0] == strength[1]:
        return _made(one, other, subject, "both stand in one place or at one level: say which is meant", None, "")
    winner, loser = (one, other) if strength[0] > strength[1] else (other, one)
    why = "was confirmed by the user" if _by_confirmation(winner, loser) else "is the later or nearer rule"
    return _made(one, other, subject, f"{winner.where} {why} and holds", winner, "level")


def _by_confirmation(winner: _Said, loser: _Said) -> bool:
    (trust, confirmed, _), (other_trust, other_confirmed, _) = _strength(winner.segment), _strength(loser.segment)
    return trust == other_trust and confirmed and not other_confirmed


def _strength(rule: Segment) -> tuple[int, bool, int]:
    """Order rules as `rules.precedence` does where two have one identity."""
    return min(rule.trust.rank, Trust.PROJECT.rank), rule.confirmed, rule.level


def can_meet(paths: Sequence[str], others: Sequence[str]) -> bool:
    """Whether rules of these globs can hold for one path; none: they hold everywhere."""
    return not paths or not others or any(overlap(a, b) for a in paths for b in others)


def _against_wish(rule: _Said, wishes: Sequence[_Said]) -> Contradiction | None:
    """Return the contradiction with the latest wish on the subject; an older one that was taken back counts no more."""
    for wish in wishes:
        if agree(wish.directive, rule.directive):
            return None
        subject = contradiction(wish.directive, rule.directive, one_text=False, covers=True)
        if subject is not None:
            return _made(rule, wish, subject, _WISH_HOLDS[wish.segment.layer == Layer.L5], wish, "instruction")
    return None


_WISH_HOLDS = {
    False: "the latest instruction of the user holds for this session",
    True: "what the user asks for in the task holds for this session",
}


def _made(one: _Said, other: _Said, subject: str, ruling: str, winner: _Said | None, ruled_by: str) -> Contradiction:
    """Make a conflict whose id depends on the two places and words, not on their order or lines."""
    first, second = sorted((one, other), key=lambda said: (source_place(said.segment), said.directive.text))
    pair = (first.segment, second.segment)
    same = pair[0].segment_id == pair[1].segment_id
    parties = {id(said): said.where if same else str(said.segment.segment_id) for said in (first, second)}
    names = (part for said in (first, second) for part in (source_place(said.segment), normal(said.directive.text)))
    conflict = Conflict(
        conflict_id=conflict_id(ConflictKind.USER_RULE, *names),
        kind=ConflictKind.USER_RULE,
        parties=(parties[id(first)], parties[id(second)]),
        subject=subject,
        detail=f"on {subject}: {' and '.join(said.quoted for said in (first, second))}",
        ruling=ruling,
        winner=None if winner is None else parties[id(winner)],
        route=Route.EXPERIENCE_MINER,
        blocking=False,
        state="open" if winner is None else "ruled",
        ruled_by=ruled_by or None,
    )
    return Contradiction(conflict, pair, (first.directive.text, second.directive.text), (first.line, second.line))
