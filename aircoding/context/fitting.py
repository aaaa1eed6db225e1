"""Stage 5, fit: cut by one total order until it fits; what must be kept is never cut.

The order of cuts does not know the window, and cutting stops at the first point that fits. So a smaller window
holds a subset of what a larger one holds, form by form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from aircoding.context.draft import Draft, Item, Note, outcome
from aircoding.context.layout import tool_nodes
from aircoding.context.profiles import ALWAYS
from aircoding.context.tokens import BLOCK_OVERHEAD_TOKENS, estimate_range, estimate_tokens
from aircoding.records.digests import canonical_json
from aircoding.records.ids import SegmentId
from aircoding.records.layers import Form, Layer, OutcomeKind, Reason, Scope
from aircoding.records.manifest import Overflow
from aircoding.records.profiles import Profile
from aircoding.records.segments import Segment
from aircoding.records.snapshot import Estimator, Snapshot

__all__ = ["SHARED_SHARE", "TURN_SHARE", "available_tokens", "fit", "must_keep"]

SHARED_SHARE = 0.40
"""Part of the available input that fleet and run scope together may take."""
TURN_SHARE = 0.20
"""Part that is kept for the turns to come when an epoch starts; what the other scopes leave flows here too."""

_MUST_KEEP_LAYERS = ALWAYS | {Layer.L5}


def available_tokens(snapshot: Snapshot) -> int:
    """Return the input tokens that the model takes when the whole output is reserved."""
    return max(0, snapshot.limits.window_tokens - snapshot.limits.max_output_tokens)


def must_keep(segment: Segment) -> bool:
    """Whether the segment may never be cut (DESIGN section 2, "must keep")."""
    return segment.required or segment.layer in _MUST_KEEP_LAYERS


def fit(draft: Draft) -> tuple[Draft, tuple[Note, ...]]:
    """Cut fleet and run scope to their share, then session and turn scope to what is left of the window."""
    snapshot = draft.snapshot
    available = available_tokens(snapshot)
    shared = tuple(item for item in draft.items if item.segment.scope in {Scope.FLEET, Scope.RUN})
    own = tuple(item for item in draft.items if item.segment.scope in {Scope.SESSION, Scope.TURN})
    shared_budget = int(available * SHARED_SHARE) - _tool_tokens(snapshot)
    own_budget = int(available * (1 - SHARED_SHARE - TURN_SHARE))
    kept: list[Item] = []
    notes: list[Note] = []
    for scope, items, budget in ((Scope.RUN, shared, shared_budget), (Scope.SESSION, own, own_budget)):
        cut = _cut(items, budget, snapshot)
        if cut.needed_tokens > budget:
            return replace(draft, overflow=_overflow(scope, items, cut.needed_tokens, max(0, budget))), ()
        kept.extend(cut.items)
        notes.extend(cut.notes)
    kept.sort(key=lambda item: item.segment.segment_id)
    return draft.with_items(tuple(kept)), tuple(notes)


def _tool_tokens(snapshot: Snapshot) -> int:
    texts = (canonical_json(node).decode("utf-8") for node in tool_nodes(snapshot.tools))
    return sum(_hard(estimate_tokens(text, snapshot.estimator), snapshot.estimator) for text in texts)


def _hard(expected: int, estimator: Estimator) -> int:
    return estimate_range(expected + BLOCK_OVERHEAD_TOKENS, estimator).high


@dataclass(frozen=True, slots=True)
class _Cut:
    items: tuple[Item, ...]
    notes: tuple[Note, ...]
    needed_tokens: int


def _cut(items: tuple[Item, ...], budget_tokens: int, snapshot: Snapshot) -> _Cut:
    """Take the fixed sequence of cuts as far as the budget asks, and no further."""
    forms = {item.segment.segment_id: _forms(item, snapshot.estimator) for item in items}
    current = {key: options[0] for key, options in forms.items()}
    total = sum(_hard(option.tokens, snapshot.estimator) for option in current.values())
    droppable = sorted((item for item in items if not must_keep(item.segment)), key=_drop_key(snapshot))
    for key, smaller in _cuts(droppable, forms):
        if total <= budget_tokens:
            break
        total += _hard(smaller.tokens, snapshot.estimator) if smaller.form is not Form.NONE else 0
        total -= _hard(current[key].tokens, snapshot.estimator)
        current[key] = smaller
    kept = tuple(current[item.segment.segment_id] for item in items)
    notes = tuple(
        _note(item, current[item.segment.segment_id])
        for item in items
        if current[item.segment.segment_id].form is not item.form
    )
    return _Cut(tuple(item for item in kept if item.form is not Form.NONE), notes, total)


def _forms(item: Item, estimator: Estimator) -> tuple[Item, ...]:
    """Return the item in each form that it has, each smaller than the one before; the last is nothing."""
    options = [item]
    for form, text in ((Form.EXCERPT, item.segment.excerpt), (Form.REFERENCE, item.segment.reference)):
        if text is None:
            continue
        tokens = estimate_tokens(text, estimator)
        if tokens < options[-1].tokens:
            options.append(replace(item, form=form, text=text, tokens=tokens))
    options.append(replace(item, form=Form.NONE, text="", tokens=0))
    return tuple(options)


def _cuts(droppable: list[Item], forms: dict[SegmentId, tuple[Item, ...]]) -> Iterable[tuple[SegmentId, Item]]:
    """Yield the cuts in order: everything down to its last visible form first, then out of sight."""
    for item in droppable:
        for option in forms[item.segment.segment_id][1:-1]:
            yield item.segment.segment_id, option
    for item in droppable:
        yield item.segment.segment_id, forms[item.segment.segment_id][-1]


def _drop_key(snapshot: Snapshot) -> Callable[[Item], tuple[int, float, int, str]]:
    newest = max((segment.recency for segment in snapshot.segments), default=0) or 1

    def key(item: Item) -> tuple[int, float, int, str]:
        segment = item.segment
        weight = _share(snapshot.profile, segment.layer)
        value = weight * (0.6 * _relevance(segment, snapshot) + 0.4 * segment.recency / newest)
        return (segment.priority, round(value, 9), -int(segment.layer[1]), segment.segment_id)

    return key


def _share(profile: Profile, layer: Layer) -> float:
    return profile.shares.get(layer, 0.05)


def _relevance(segment: Segment, snapshot: Snapshot) -> float:
    """Return 0 to 1: how much of what the segment is about the task names."""
    if snapshot.task is None or not segment.relevance_terms:
        return 0.5
    words = _task_words(snapshot)
    hits = sum(1 for term in segment.relevance_terms if term in words)
    return hits / len(segment.relevance_terms)


def _task_words(snapshot: Snapshot) -> frozenset[str]:
    task = snapshot.task
    if task is None:
        return frozenset()
    text = " ".join((task.title, task.description, *task.acceptance, *task.write_area, *task.reads))
    return frozenset(text.replace("/", " ").replace(".", " ").lower().split()) | frozenset(task.write_area + task.reads)


def _note(before: Item, after: Item) -> Note:
    kinds = {
        Form.EXCERPT: (OutcomeKind.EXCERPTED, "an excerpt stands in its place"),
        Form.REFERENCE: (OutcomeKind.REFERENCED, "a reference stands in its place"),
        Form.NONE: (OutcomeKind.OMITTED, "nothing of it is left"),
    }
    kind, what = kinds[after.form]
    detail = f"{before.tokens} tokens did not fit; {what} ({after.tokens} tokens)"
    return outcome(before.segment, kind, Reason.BUDGET, detail, tokens=before.tokens - after.tokens, by="fit")


def _overflow(scope: Scope, items: tuple[Item, ...], needed_tokens: int, available: int) -> Overflow:
    largest = sorted(
        ((item.segment.segment_id, item.tokens) for item in items if must_keep(item.segment)),
        key=lambda pair: (-pair[1], pair[0]),
    )
    return Overflow(scope=scope, needed_tokens=needed_tokens, available_tokens=available, largest=tuple(largest[:5]))
