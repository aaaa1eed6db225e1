"""What changed between two assemblies: by segment first, then layers, omissions, conflicts, marks."""

from __future__ import annotations

from dataclasses import dataclass

from aircoding.context.manifest import latest_outcomes
from aircoding.records.layers import Layer
from aircoding.records.manifest import Manifest, OutcomeRecord, SegmentRecord

__all__ = ["Changed", "Difference", "compare"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """A source that is in both, with another text or another form."""

    before: SegmentRecord
    after: SegmentRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """The whole difference; `layer_tokens` gives each layer's tokens before and after."""

    added: tuple[SegmentRecord, ...]
    removed: tuple[SegmentRecord, ...]
    changed: tuple[Changed, ...]
    outcomes: tuple[tuple[OutcomeRecord | None, OutcomeRecord | None], ...]
    conflicts_added: tuple[str, ...]
    conflicts_removed: tuple[str, ...]
    shared_marks: tuple[str, ...]
    layer_tokens: dict[str, tuple[int, int]]

    @property
    def empty(self) -> bool:
        """Whether nothing differs in content."""
        return not (
            self.added
            or self.removed
            or self.changed
            or self.outcomes
            or self.conflicts_added
            or self.conflicts_removed
        )


def compare(before: Manifest, after: Manifest) -> Difference:
    """Return what differs from `before` to `after`."""
    old, new = _by_place(before), _by_place(after)
    both = [(old[key], new[key]) for key in old if key in new]
    old_conflicts = {conflict.conflict_id for conflict in before.conflicts}
    new_conflicts = {conflict.conflict_id for conflict in after.conflicts}
    old_prefixes = {mark.prefix_digest for mark in before.cache}
    return Difference(
        added=tuple(record for key, record in new.items() if key not in old),
        removed=tuple(record for key, record in old.items() if key not in new),
        changed=tuple(Changed(before=a, after=b) for a, b in both if _content(a) != _content(b)),
        outcomes=_changed_outcomes(before, after),
        conflicts_added=tuple(sorted(new_conflicts - old_conflicts)),
        conflicts_removed=tuple(sorted(old_conflicts - new_conflicts)),
        shared_marks=tuple(mark.mark for mark in after.cache if mark.prefix_digest in old_prefixes),
        layer_tokens={
            layer.value: (before.budget.per_layer[layer].used, after.budget.per_layer[layer].used) for layer in Layer
        },
    )


def _by_place(manifest: Manifest) -> dict[tuple[str, str, str, int], SegmentRecord]:
    """Key each segment by what it is, not by what it says; repeats of one place are told apart by number."""
    seen: dict[tuple[str, str, str], int] = {}
    keyed: dict[tuple[str, str, str, int], SegmentRecord] = {}
    for record in manifest.segments:
        place = (record.layer.value, _subject(record.source.uri, manifest), record.rule_id or record.kind.value)
        seen[place] = number = seen.get(place, -1) + 1
        keyed[(*place, number)] = record
    return keyed


def _subject(uri: str, manifest: Manifest) -> str:
    """Leave out the session's own id, so that two workers can be compared."""
    return uri.replace(manifest.session_id, "SESSION")


def _content(record: SegmentRecord) -> tuple[str, str]:
    return record.source.text_digest, record.form.value


def _changed_outcomes(
    before: Manifest, after: Manifest
) -> tuple[tuple[OutcomeRecord | None, OutcomeRecord | None], ...]:
    old = {note.segment_id.rsplit("@", 1)[0]: note for note in latest_outcomes(before.outcomes)}
    new = {note.segment_id.rsplit("@", 1)[0]: note for note in latest_outcomes(after.outcomes)}
    pairs = ((old.get(key), new.get(key)) for key in sorted({*old, *new}))
    return tuple((a, b) for a, b in pairs if (a and (a.outcome, a.reason)) != (b and (b.outcome, b.reason)))
