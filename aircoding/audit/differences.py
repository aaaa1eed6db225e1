"""What changed between two assemblies: by segment first, then words, layers, omissions, conflicts, marks. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from aircoding.audit.pairing import Names, content_of, pair_segments
from aircoding.audit.texts import segment_texts
from aircoding.audit.word_changes import Stretch, word_changes
from aircoding.context.manifest import latest_outcomes
from aircoding.records.conflicts import Conflict
from aircoding.records.layers import Layer
from aircoding.records.manifest import AssembledContext, CacheMark, Manifest, OutcomeRecord, SegmentRecord

__all__ = ["Changed", "Difference", "TextChange", "compare", "compare_texts"]

_WORDS_CHARS = 2_000_000
"""Characters of changed segments, both sides, that are compared by words in one difference; the rest goes by lines."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """A source that is in both: with another text or another form, or moved."""

    before: SegmentRecord
    after: SegmentRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """The whole difference; `layer_tokens` gives each layer's tokens before and after.

    `moved` segments say the same in another layer, source or order. `facts` are values of the assembly itself that
    differ (role, model, policy, ...), with the one before and the one after. `shared_marks` are the marks after which
    both have the same prefix, `marks` those that differ or are in one only, by place.
    """

    added: tuple[SegmentRecord, ...]
    removed: tuple[SegmentRecord, ...]
    changed: tuple[Changed, ...]
    outcomes: tuple[tuple[OutcomeRecord | None, OutcomeRecord | None], ...]
    conflicts_added: tuple[str, ...]
    conflicts_removed: tuple[str, ...]
    shared_marks: tuple[str, ...]
    layer_tokens: dict[str, tuple[int, int]]
    moved: tuple[Changed, ...] = ()
    conflicts_changed: tuple[tuple[Conflict, Conflict], ...] = ()
    marks: tuple[tuple[CacheMark | None, CacheMark | None], ...] = ()
    facts: tuple[tuple[str, str, str], ...] = ()

    @property
    def empty(self) -> bool:
        """Whether nothing differs in content."""
        return not (
            self.added
            or self.removed
            or self.changed
            or self.moved
            or self.outcomes
            or self.conflicts_added
            or self.conflicts_removed
            or self.conflicts_changed
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TextChange:
    """What became of one segment's text, in parts: a new segment has only `added`, one that is gone only `removed`."""

    before: SegmentRecord | None
    after: SegmentRecord | None
    parts: tuple[Stretch, ...]


def compare(before: Manifest, after: Manifest) -> Difference:
    """Return what differs from `before` to `after`."""
    pairs = pair_segments(before, after)
    changed = [pair for pair in pairs.pairs if content_of(pair[0]) != content_of(pair[1])]
    old_conflicts = {conflict.conflict_id: conflict for conflict in before.conflicts}
    new_conflicts = {conflict.conflict_id: conflict for conflict in after.conflicts}
    both = sorted(old_conflicts.keys() & new_conflicts.keys())
    old_prefixes = {mark.prefix_digest for mark in before.cache}
    return Difference(
        added=pairs.added,
        removed=pairs.removed,
        changed=tuple(Changed(before=a, after=b) for a, b in changed),
        outcomes=_changed_outcomes(before, after),
        conflicts_added=tuple(sorted(new_conflicts.keys() - old_conflicts.keys())),
        conflicts_removed=tuple(sorted(old_conflicts.keys() - new_conflicts.keys())),
        shared_marks=tuple(mark.mark for mark in after.cache if mark.prefix_digest in old_prefixes),
        layer_tokens={
            layer.value: (before.budget.per_layer[layer].used, after.budget.per_layer[layer].used) for layer in Layer
        },
        moved=tuple(Changed(before=a, after=b) for a, b in pairs.moved),
        conflicts_changed=tuple(
            (old_conflicts[one], new_conflicts[one]) for one in both if old_conflicts[one] != new_conflicts[one]
        ),
        marks=_changed_marks(before, after),
        facts=_changed_facts(before, after),
    )


def compare_texts(
    before: AssembledContext, after: AssembledContext, difference: Difference, *, whole: bool = False
) -> tuple[TextChange, ...]:
    """Return the difference of each changed segment's text, as it stands in the two requests, by words.

    Args:
        before: an assembly with its texts.
        after: another one.
        difference: of the two.
        whole: the texts of segments that are in one of them only, too.
    """
    old, new = segment_texts(before), segment_texts(after)
    left_chars = _WORDS_CHARS
    found: list[TextChange] = []
    for one in difference.changed:
        a, b = old[one.before.segment_id], new[one.after.segment_id]
        left_chars -= len(a) + len(b)
        parts = word_changes(a, b, by_words=left_chars >= 0)
        found.append(TextChange(before=one.before, after=one.after, parts=parts))
    if whole:
        found += (_alone(record, None, "removed", old) for record in difference.removed)
        found += (_alone(None, record, "added", new) for record in difference.added)
    return tuple(found)


def _alone(before: SegmentRecord | None, after: SegmentRecord | None, kind: str, texts: dict[str, str]) -> TextChange:
    record = before or after
    text = texts[record.segment_id] if record is not None else ""
    return TextChange(before=before, after=after, parts=(Stretch(kind, text),) if text else ())


_FACTS = ("role", "mode", "model", "task_id", "run_revision", "policy_digest", "estimator", "provenance")


def _changed_facts(before: Manifest, after: Manifest) -> tuple[tuple[str, str, str], ...]:
    rows = [(name, str(getattr(before, name) or "-"), str(getattr(after, name) or "-")) for name in _FACTS]
    rows.append(("prompts", before.versions.prompts, after.versions.prompts))
    rows.append(("window_tokens", str(before.budget.window), str(after.budget.window)))
    return tuple(row for row in rows if row[1] != row[2])


def _changed_marks(before: Manifest, after: Manifest) -> tuple[tuple[CacheMark | None, CacheMark | None], ...]:
    old, new = {one.mark: one for one in before.cache}, {one.mark: one for one in after.cache}
    pairs = ((old.get(place), new.get(place)) for place in dict.fromkeys((*old, *new)))
    return tuple((a, b) for a, b in pairs if _prefix(a) != _prefix(b))


def _prefix(mark: CacheMark | None) -> str | None:
    return mark.prefix_digest if mark is not None else None


def _changed_outcomes(
    before: Manifest, after: Manifest
) -> tuple[tuple[OutcomeRecord | None, OutcomeRecord | None], ...]:
    old, new = _by_place(before), _by_place(after)
    pairs = ((old.get(key), new.get(key)) for key in sorted({*old, *new}))
    return tuple((a, b) for a, b in pairs if (a and (a.outcome, a.reason)) != (b and (b.outcome, b.reason)))


def _by_place(manifest: Manifest) -> dict[str, OutcomeRecord]:
    names = Names(manifest)
    return {names.place(note.segment_id): note for note in latest_outcomes(manifest.outcomes)}
