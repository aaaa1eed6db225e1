"""What a model that judges rules is told of them, and what of its answer may enter a prompt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from aircoding.context.assembler import EXTENDING
from aircoding.context.conflicts.naming import source_place
from aircoding.context.conflicts.suspicions import suspicion_id
from aircoding.context.conflicts.user_rules import is_rule
from aircoding.context.draft import Draft, begin
from aircoding.records.conflicts import Conflict, JudgedConflict, NamedRule, Suspicion
from aircoding.records.digests import sha256_text
from aircoding.records.segments import Segment, place_of
from aircoding.records.snapshot import Snapshot

__all__ = ["accepted", "rule_list", "rules_in_force", "suspicions_in"]

_SHOWN = 60
"""Characters of a rule's beginning that tell it from others of its file."""


def rules_in_force(snapshot: Snapshot) -> tuple[Segment, ...]:
    """Return the rules that a snapshot's prompt would have if nothing had to be cut."""
    draft, _ = _detected(snapshot)
    return tuple(item.segment for item in draft.items if is_rule(item.segment))


def rule_list(rules: Iterable[Segment]) -> str:
    """Return the rules by the ids under which an answer names them: where each stands, and for what it holds."""
    return "\n".join(_listed(rule) for rule in rules)


def _listed(rule: Segment) -> str:
    lines = "" if rule.source.start_line is None else f", lines {rule.source.start_line}-{rule.source.end_line}"
    begins = " ".join(rule.text.split())[:_SHOWN]
    paths = f"; only for {', '.join(rule.paths)}" if rule.paths else ""
    tags = f"; only for tasks tagged {', '.join(rule.tags)}" if rule.tags else ""
    return f"- {_rule_key(rule)}: {rule.title or rule.source.uri}{lines}{paths}{tags}; begins: {begins}"


def _rule_key(rule: Segment) -> str:
    """Return the id of a rule in an answer: the same however its text changes."""
    return f"R-{sha256_text(place_of(rule.segment_id))[:8]}"


def suspicions_in(result: Mapping[str, Any], rules: Iterable[Segment], model: str) -> tuple[Suspicion, ...]:
    """Return what a validated ConflictJudgement says of rules that there are."""
    known = {_rule_key(rule): rule for rule in rules}
    return tuple(
        Suspicion(
            one=NamedRule(place=source_place(known[found["one"]["rule"]]), words=found["one"]["words"]),
            other=NamedRule(place=source_place(known[found["other"]["rule"]]), words=found["other"]["words"]),
            subject=" ".join(found["subject"].split()),
            why=" ".join(found["why"].split()),
            model=model,
        )
        for found in result["contradictions"]
        if found["one"]["rule"] in known and found["other"]["rule"] in known
    )


def accepted(snapshot: Snapshot, suspicions: Iterable[Suspicion]) -> tuple[JudgedConflict, ...]:
    """Return the suspicions that make a conflict in a prompt with all rules, and that code has not found itself."""
    new = {suspicion_id(one): one for one in suspicions}
    _, before = _detected(snapshot)
    _, after = _detected(replace(snapshot, suspicions=(*snapshot.suspicions, *new.values())))
    return tuple(
        JudgedConflict(suspicion=new[name], conflict=conflict)
        for name, conflict in sorted(after.items())
        if name in new and name not in before
    )


def _detected(snapshot: Snapshot) -> tuple[Draft, dict[str, Conflict]]:
    """Run the stages before fitting; return the draft and its conflicts."""
    draft = begin(snapshot)
    conflicts: dict[str, Conflict] = {}
    for stage in EXTENDING:
        draft, notes = stage(draft)
        conflicts |= {note.conflict_id: note for note in notes if isinstance(note, Conflict)}
    return draft, conflicts
