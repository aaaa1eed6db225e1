"""Stage 5, fit: cut by one total order until it fits; what must be kept is never cut.

The order of cuts does not know the window, and cutting stops at the first point that fits. So a smaller window
holds a subset of what a larger one holds, form by form.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from aircoding.context.draft import Draft, Item, Note, outcome
from aircoding.context.layout import tool_nodes
from aircoding.context.profiles import ALWAYS
from aircoding.context.relevance import relevance
from aircoding.context.tokens import BLOCK_OVERHEAD_TOKENS, estimate_tokens
from aircoding.records.digests import canonical_json
from aircoding.records.layers import Form, Layer, OutcomeKind, Reason, Scope, SegmentKind
from aircoding.records.manifest import Overflow, SegmentRecord
from aircoding.records.segments import Segment
from aircoding.records.snapshot import Estimator, Snapshot
from aircoding.rules.precedence import Level

__all__ = ["SESSION_PERCENT", "SHARED_PERCENT", "available_tokens", "fit", "must_keep", "window_overflow"]

SHARED_PERCENT = 40
"""Part of the available input that fleet and run scope together may take, tools included."""
SESSION_PERCENT = 40
"""Part that session scope and the first turn may take. The rest, and what these two leave, is for the turns to come."""

_SHARED = frozenset({Scope.FLEET, Scope.RUN})
_MUST_KEEP_LAYERS = ALWAYS | {Layer.L5}
_PLAIN = Estimator()
"""The measure of fleet and run scope: two workers of a role hold the same bytes, whatever was calibrated in between."""

_SMALL_SHARE = 0.05
"""The share of a layer for which the profile names none."""
_RELEVANCE_PART, _RECENCY_PART = 0.6, 0.4


def available_tokens(snapshot: Snapshot) -> int:
    """Return the input tokens that the model takes when the whole output is reserved."""
    return max(0, snapshot.limits.window_tokens - snapshot.limits.max_output_tokens)


def window_overflow(snapshot: Snapshot, segments: Sequence[SegmentRecord]) -> Overflow | None:
    """Return what does not fit when a whole request is laid out; None when it does."""
    needed = math.ceil(sum(record.tokens for record in segments) * snapshot.estimator.high)
    available = available_tokens(snapshot)
    if needed <= available:
        return None
    largest = sorted(((record.segment_id, record.tokens) for record in segments), key=lambda row: (-row[1], row[0]))
    return Overflow(scope=Scope.TURN, needed_tokens=needed, available_tokens=available, largest=tuple(largest[:5]))


def must_keep(segment: Segment) -> bool:
    """Whether the segment may never be cut (DESIGN section 2, "must keep")."""
    return segment.required or segment.layer in _MUST_KEEP_LAYERS


def fit(draft: Draft) -> tuple[Draft, tuple[Note, ...]]:
    """Cut fleet and run scope to their share, then session and turn scope to theirs.

    This opens an epoch. Within one nothing is fitted again: what comes late comes whole, and whether a turn fits the
    window is asked when it is laid out.
    """
    snapshot = draft.snapshot
    kept: list[Item] = []
    notes: list[Note] = []
    for budget in _budgets(snapshot):
        items = tuple(item for item in draft.items if (item.segment.scope in _SHARED) is budget.shared)
        cut = _cut(items, budget, snapshot)
        if cut.needed_tokens > budget.total_tokens:
            return replace(draft, overflow=_overflow(budget, items, cut.needed_tokens)), ()
        kept.extend(cut.items)
        notes.extend(cut.notes)
    kept.sort(key=lambda item: item.segment.segment_id)
    return draft.with_items(tuple(kept)), tuple(notes)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Budget:
    """What one part of the request may take, and what it has taken before anything is fitted; in hard tokens."""

    shared: bool
    total_tokens: int
    taken_tokens: int
    estimator: Estimator

    def tokens(self, text: str) -> int:
        """Return what `text` takes at most, as a block of its own."""
        return _hard(estimate_tokens(text, self.estimator) + BLOCK_OVERHEAD_TOKENS, self.estimator)


def _hard(expected_tokens: int, estimator: Estimator) -> int:
    return math.ceil(expected_tokens * estimator.high)


def _budgets(snapshot: Snapshot) -> tuple[_Budget, ...]:
    available, own = available_tokens(snapshot), snapshot.estimator
    share = available * SHARED_PERCENT // 100
    shared = _Budget(shared=True, total_tokens=share, taken_tokens=0, estimator=_PLAIN)
    tools = sum(shared.tokens(canonical_json(node).decode("utf-8")) for node in tool_nodes(snapshot.tools))
    session = available * SESSION_PERCENT // 100
    return (
        replace(shared, taken_tokens=tools),
        _Budget(shared=False, total_tokens=session, taken_tokens=0, estimator=own),
    )


@dataclass(frozen=True, slots=True)
class _Cut:
    items: tuple[Item, ...]
    notes: tuple[Note, ...]
    needed_tokens: int


def _cut(items: tuple[Item, ...], budget: _Budget, snapshot: Snapshot) -> _Cut:
    """Take the fixed sequence of cuts as far as the budget asks, and no further."""
    needed = budget.taken_tokens + sum(budget.tokens(item.text) for item in items)
    if needed <= budget.total_tokens:
        return _Cut(items, (), needed)
    order = _drop_order(tuple(item for item in items if not must_keep(item.segment)), budget, snapshot)
    current = {item.segment.segment_id: item for item in items}
    for smaller in _cuts(order, budget, snapshot.estimator):
        name = smaller.segment.segment_id
        needed -= budget.tokens(current[name].text)
        needed += budget.tokens(smaller.text) if smaller.form is not Form.NONE else 0
        current[name] = smaller
        if needed <= budget.total_tokens:
            break
    # What is worth most comes first: a list that is cut short then names what the worker may miss most.
    notes = (_note(item, current[item.segment.segment_id]) for item in reversed(order))
    return _Cut(
        tuple(item for item in current.values() if item.form is not Form.NONE),
        tuple(note for note in notes if note is not None),
        needed,
    )


def _cuts(order: tuple[Item, ...], budget: _Budget, estimator: Estimator) -> Iterator[Item]:
    """Yield the cuts in order: everything down to its last visible form first, then out of sight."""
    for item in order:
        yield from _smaller(item, budget, estimator)
    for item in order:
        yield replace(item, form=Form.NONE, text="", tokens=0)


def _smaller(item: Item, budget: _Budget, estimator: Estimator) -> Iterator[Item]:
    """Yield the visible forms below the whole one; a form that saves no token is none."""
    size_tokens = budget.tokens(item.text)
    for form, text in ((Form.EXCERPT, item.segment.excerpt), (Form.REFERENCE, item.segment.reference)):
        if text is not None and budget.tokens(text) < size_tokens:
            size_tokens = budget.tokens(text)
            yield replace(item, form=form, text=text, tokens=estimate_tokens(text, estimator))


def _drop_order(items: tuple[Item, ...], budget: _Budget, snapshot: Snapshot) -> tuple[Item, ...]:
    """Return the items, what goes first in front: by priority, value, layer from L9 down, segment id.

    Shared text is judged without task and paths: every worker of the role must come to the same cuts.
    """
    segments = [item.segment for item in items]
    task, touched = (None, ()) if budget.shared else (snapshot.task, snapshot.touched_paths)
    newest = max((segment.recency for segment in segments), default=0) or 1
    keyed: list[tuple[tuple[int, float, int, str], Item]] = []
    for item, about in zip(items, relevance(segments, task, touched), strict=True):
        segment = item.segment
        relevant = _nearness(segment.level, about) if segment.kind is SegmentKind.RULE else about
        worth = _RELEVANCE_PART * relevant + _RECENCY_PART * segment.recency / newest
        value = round(snapshot.profile.shares.get(segment.layer, _SMALL_SHARE) * worth, 9)
        keyed.append(((segment.priority, value, -int(segment.layer[1]), segment.segment_id), item))
    keyed.sort(key=lambda pair: pair[0])
    return tuple(item for _, item in keyed)


def _nearness(level: int, relevant: float) -> float:
    """Return the relevance of a rule, 0 to 1: the nearer its file, the later it goes; the text decides at one distance.

    The steps are 1/2, 2/3, 3/4 and so on from the user's own files over the project's root down its folders. What a
    text adds always stays below the next step.
    """
    distance = min(max(level - Level.USER, 0), Level.TASK - Level.USER)
    here, nearer = (1 - 1 / (distance + 2 + step) for step in (0, 1))
    return here + 0.99 * relevant * (nearer - here)


def _note(before: Item, after: Item) -> Note | None:
    if after.form is before.form:
        return None
    kinds = {
        Form.EXCERPT: (OutcomeKind.EXCERPTED, "an excerpt stands in its place"),
        Form.REFERENCE: (OutcomeKind.REFERENCED, "a reference stands in its place"),
        Form.NONE: (OutcomeKind.OMITTED, "nothing of it is left"),
    }
    kind, what = kinds[after.form]
    detail = f"{before.tokens} tokens did not fit; {what} ({after.tokens} tokens)"
    return outcome(before.segment, kind, Reason.BUDGET, detail, tokens=before.tokens - after.tokens, by="fit")


def _overflow(budget: _Budget, items: tuple[Item, ...], needed_tokens: int) -> Overflow:
    largest = sorted(
        ((item.segment.segment_id, item.tokens) for item in items if must_keep(item.segment)),
        key=lambda pair: (-pair[1], pair[0]),
    )
    return Overflow(
        scope=Scope.RUN if budget.shared else Scope.SESSION,
        needed_tokens=needed_tokens,
        available_tokens=budget.total_tokens,
        largest=tuple(largest[:5]),
    )
