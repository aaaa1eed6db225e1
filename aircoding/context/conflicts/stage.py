"""The stage `detect`: all kinds of conflicts of one assembly, with what people ruled on them before."""

from __future__ import annotations

from collections.abc import Iterator

from aircoding.context.conflicts.architecture import architecture_conflicts
from aircoding.context.conflicts.evidence import split_stale
from aircoding.context.conflicts.policy import command_conflicts, task_conflicts
from aircoding.context.conflicts.provider import provider_conflicts
from aircoding.context.conflicts.rulings import apply_ruling, settle
from aircoding.context.conflicts.suspicions import suspected
from aircoding.context.conflicts.user_rules import user_rule_conflicts
from aircoding.context.draft import Draft, Item, Note
from aircoding.records.conflicts import Conflict
from aircoding.records.layers import SegmentKind
from aircoding.records.policy import Policy
from aircoding.records.snapshot import Snapshot

__all__ = ["detect"]

_NAMES_COMMANDS = frozenset(
    {
        SegmentKind.RULE,
        SegmentKind.PLAN,
        SegmentKind.ADR,
        SegmentKind.SKILL,
        SegmentKind.MEMORY,
        SegmentKind.CONTEXT,
    }
)


def detect(draft: Draft) -> tuple[Draft, tuple[Note, ...]]:
    """Note the conflicts that are new in this epoch; take out stale evidence, and rules that lost by a ruling."""
    snapshot = draft.snapshot
    kept, stale, notes = split_stale(draft)
    draft = draft.with_items(kept)
    fresh = _fresh(draft)
    segments, new = [item.segment for item in draft.items], _ids(draft, fresh)
    contradictions = user_rule_conflicts(segments, new)
    denied = tuple(_policy(fresh, snapshot.policy))
    contradictions += suspected(snapshot.suspicions, segments, new, known=contradictions, denied=denied)
    found = [*denied, *_of_task(snapshot), *provider_conflicts(snapshot), *stale]
    rulings = {ruling.conflict_id: ruling for ruling in snapshot.rulings}
    draft, settled = settle(draft, contradictions)
    found = [apply_ruling(conflict, rulings.get(conflict.conflict_id)) for conflict in found]
    return draft, (*notes, *{one.conflict_id: one for one in found}.values(), *settled)


def _policy(fresh: tuple[Item, ...], policy: Policy) -> Iterator[Conflict]:
    for item in fresh:
        if item.segment.kind in _NAMES_COMMANDS and not any(finding.blocks for finding in item.segment.findings):
            yield from command_conflicts(item.segment, policy)


def _of_task(snapshot: Snapshot) -> Iterator[Conflict]:
    """The task does not change within an epoch."""
    if snapshot.task is not None and snapshot.frozen is None:
        yield from task_conflicts(snapshot.task, snapshot.policy)
        yield from architecture_conflicts(snapshot.task, snapshot.adrs)


def _fresh(draft: Draft) -> tuple[Item, ...]:
    """Return the items that this epoch has not sent as they are now: of the others it has told already."""
    frozen = draft.snapshot.frozen
    if frozen is None:
        return draft.items
    sent = {record.segment_id for record in frozen.context.manifest.segments}
    return tuple(item for item in draft.items if item.segment.segment_id not in sent)


def _ids(draft: Draft, fresh: tuple[Item, ...]) -> frozenset[str] | None:
    """Return the ids of fresh items; None: all are."""
    return None if draft.snapshot.frozen is None else frozenset(item.segment.segment_id for item in fresh)
