"""What a model said of the rules, as far as it holds: a conflict of two rules that code has not decided about.

A model decides nothing here. It can only add an open conflict between rules that both stand in the prompt.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from aircoding.context.conflicts.naming import conflict_id, source_place
from aircoding.context.conflicts.user_rules import Contradiction, are_versions, can_meet, is_rule
from aircoding.records.conflicts import Conflict, ConflictKind, NamedRule, Route, Suspicion
from aircoding.records.segments import Segment
from aircoding.rules.choices import normal

__all__ = ["suspected", "suspicion_id"]


@dataclass(frozen=True, slots=True)
class _Party:
    segment: Segment
    words: str
    line: int

    @property
    def where(self) -> str:
        return f"{source_place(self.segment)}:{self.line}"


def suspicion_id(suspicion: Suspicion) -> str:
    """Return the id of the conflict that a suspicion makes: of its places and words, as that of one found by code."""
    names = (part for rule in _ordered(suspicion) for part in (rule.place, normal(rule.words)))
    return conflict_id(ConflictKind.USER_RULE, *names)


def suspected(
    suspicions: Iterable[Suspicion],
    segments: Iterable[Segment],
    fresh: frozenset[str] | None,
    *,
    known: Sequence[Contradiction],
    denied: Sequence[Conflict],
) -> tuple[Contradiction, ...]:
    """Return the conflicts of suspicions whose two rules are among `segments`, each once.

    Of two that name more or less of the same words the first counts: one that was ruled on stands before a new one.

    Args:
        suspicions: what the model said.
        segments: what stands in the prompt, or is about to.
        fresh: ids of the segments that are new in this turn; None: all are.
        known: what code found between rules: it is not said twice.
        denied: the policy conflicts: of what the policy denies, no rule can win.
    """
    rules = [segment for segment in segments if is_rule(segment)]
    ids = {one.conflict.conflict_id for one in known}
    found: dict[str, Contradiction] = {}
    for suspicion in suspicions:
        name = suspicion_id(suspicion)
        if name in ids or name in found:
            continue
        for one, other in _pairs(suspicion, rules):
            is_new = fresh is None or one.segment.segment_id in fresh or other.segment.segment_id in fresh
            if is_new and not _is_decided((one, other), (*known, *found.values()), denied):
                found[name] = _made(name, suspicion, one, other)
                break
    return tuple(found[name] for name in sorted(found))


def _ordered(suspicion: Suspicion) -> tuple[NamedRule, NamedRule]:
    first, second = sorted((suspicion.one, suspicion.other), key=lambda rule: (rule.place, rule.words))
    return first, second


def _pairs(suspicion: Suspicion, rules: Sequence[Segment]) -> Iterator[tuple[_Party, _Party]]:
    """Yield the pairs of texts that have the named words and can hold together."""
    first, second = _ordered(suspicion)
    others = list(_with_words(second, rules))
    for one in _with_words(first, rules):
        for other in others:
            same = one.segment.segment_id == other.segment.segment_id
            if same and (one.words in other.words or other.words in one.words):
                continue
            if not are_versions(one.segment, other.segment) and can_meet(one.segment.paths, other.segment.paths):
                yield one, other


def _with_words(rule: NamedRule, rules: Sequence[Segment]) -> Iterator[_Party]:
    pattern = re.compile(r"\s+".join(re.escape(word) for word in rule.words.split()))
    for segment in rules if pattern.pattern else ():
        if source_place(segment) == rule.place and (match := pattern.search(segment.text)) is not None:
            line = (segment.source.start_line or 1) + segment.text.count("\n", 0, match.start())
            yield _Party(segment, _plain(rule.words), line)


def _is_decided(pair: tuple[_Party, _Party], known: Sequence[Contradiction], denied: Sequence[Conflict]) -> bool:
    """Whether the same contradiction was found before, or the policy is against what one of the rules says."""
    return any(_is_same(pair, found) for found in known) or any(
        party.segment.segment_id in conflict.parties and _plain(conflict.subject) in party.words
        for conflict in denied
        for party in pair
    )


def _is_same(pair: tuple[_Party, _Party], found: Contradiction) -> bool:
    sides = tuple((segment.segment_id, _plain(words)) for segment, words in zip(found.pair, found.words, strict=True))
    return any(
        all(
            party.segment.segment_id == name and (party.words in words or words in party.words)
            for party, (name, words) in zip(order, sides, strict=True)
        )
        for order in (pair, pair[::-1])
    )


def _plain(text: str) -> str:
    return " ".join(text.split())


def _made(name: str, suspicion: Suspicion, one: _Party, other: _Party) -> Contradiction:
    pair = (one.segment, other.segment)
    same = one.segment.segment_id == other.segment.segment_id
    said = " and ".join(f"{party.where} says `{party.words}`" for party in (one, other))
    conflict = Conflict(
        conflict_id=name,
        kind=ConflictKind.USER_RULE,
        parties=(one.where, other.where) if same else (one.segment.segment_id, other.segment.segment_id),
        subject=suspicion.subject,
        detail=f"found by the model {suspicion.model}, on {suspicion.subject}: {said}; {suspicion.why}",
        ruling="both stand, since a model decides nothing: say which is meant",
        winner=None,
        route=Route.EXPERIENCE_MINER,
        blocking=False,
        state="open",
    )
    first, second = (segment.source.start_line or 1 for segment in pair)
    return Contradiction(conflict, pair, (one.words, other.words), (first, second))
