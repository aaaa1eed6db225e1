"""Which segment of one assembly is which of another: by place, told apart by number, or found where it moved. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import partial

from aircoding.audit.word_changes import longest_rise
from aircoding.records.manifest import Manifest, SegmentRecord
from aircoding.records.segments import place_of

__all__ = ["Names", "Pairs", "content_of", "pair_segments"]

Pair = tuple[SegmentRecord, SegmentRecord]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairs:
    """Each segment of two assemblies, once: the one before with the one after, or alone.

    `pairs` are in the order of the assembly after; `moved` are those of them whose text is the same and whose layer,
    source or order is another.
    """

    pairs: tuple[Pair, ...]
    moved: tuple[Pair, ...]
    removed: tuple[SegmentRecord, ...]
    added: tuple[SegmentRecord, ...]


def pair_segments(before: Manifest, after: Manifest) -> Pairs:
    """Pair by place (layer, source, part of it), then by source alone, then by text; equal texts first each time.

    Ids of sessions, runs and tasks in sources do not count, so that two workers and two runs can be compared.
    """
    old_names, new_names = Names(before), Names(after)
    old, new = dict(enumerate(before.segments)), dict(enumerate(after.segments))
    found: list[tuple[int, int]] = []
    for key in _KEYS:
        matched = _matched(old, new, partial(key, old_names), partial(key, new_names))
        for left, right in matched:
            del old[left], new[right]
        found += matched
    found.sort(key=lambda pair: pair[1])
    in_order = {found[place] for place in longest_rise([left for left, _ in found])}
    pairs = [(before.segments[left], after.segments[right]) for left, right in found]
    moved = [
        pair
        for pair, at in zip(pairs, found, strict=True)
        if content_of(pair[0]) == content_of(pair[1])
        and (at not in in_order or _stands(old_names, pair[0]) != _stands(new_names, pair[1]))
    ]
    return Pairs(pairs=tuple(pairs), moved=tuple(moved), removed=tuple(old.values()), added=tuple(new.values()))


def content_of(record: SegmentRecord) -> tuple[str, str]:
    """Return what a segment says: its text and the form of it that is shown."""
    return record.source.text_digest, record.form.value


class Names:
    """What sources and segments are called, without the names of the session, the run and the task they stand in."""

    def __init__(self, manifest: Manifest) -> None:
        self._own = ((manifest.session_id, "SESSION"), (manifest.run_id, "RUN"))
        self._task = f"/{manifest.task_id}"

    def place(self, segment_id: str) -> str:
        """Return the place of a segment (see `records.segments.place_of`)."""
        return self.source(place_of(segment_id))

    def source(self, name: str) -> str:
        """Return a uri, or what begins with one."""
        if "air:" in name:
            for own, word in self._own:
                name = name.replace(own, word)
            if name.endswith(self._task):
                name = f"{name.removesuffix(self._task)}/TASK"
        return name


def _same_place(names: Names, record: SegmentRecord) -> Hashable:
    return names.place(record.segment_id), content_of(record)


def _place(names: Names, record: SegmentRecord) -> Hashable:
    return names.place(record.segment_id)


def _same_part(names: Names, record: SegmentRecord) -> Hashable:
    return _part(names, record), content_of(record)


def _part(names: Names, record: SegmentRecord) -> Hashable:
    return names.source(record.source.uri), record.layer, record.rule_id or record.kind


def _same_source(names: Names, record: SegmentRecord) -> Hashable:
    return record.kind, names.source(record.source.uri), content_of(record)


def _same_text(_names: Names, record: SegmentRecord) -> Hashable:
    return record.kind, content_of(record)


_KEYS = (_same_place, _place, _same_part, _part, _same_source, _same_text)
"""What is taken for the same segment, the surest first."""


def _stands(names: Names, record: SegmentRecord) -> Hashable:
    return record.layer, record.scope, names.source(record.source.uri)


def _matched(
    old: dict[int, SegmentRecord],
    new: dict[int, SegmentRecord],
    old_key: Callable[[SegmentRecord], Hashable],
    new_key: Callable[[SegmentRecord], Hashable],
) -> Sequence[tuple[int, int]]:
    """Pair what has the same key, the first with the first."""
    waiting: dict[Hashable, list[int]] = defaultdict(list)
    for left, record in old.items():
        waiting[old_key(record)].append(left)
    for places in waiting.values():
        places.reverse()
    found: list[tuple[int, int]] = []
    for right, record in new.items():
        if same := waiting.get(new_key(record)):
            found.append((same.pop(), right))
    return found
