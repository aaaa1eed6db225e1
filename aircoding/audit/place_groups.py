"""Places that are told as one: what a source shows in many prompts is one answer, not many. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from aircoding.audit.places import Place
from aircoding.records.layers import SegmentKind
from aircoding.records.segments import Source

__all__ = ["PlaceGroup", "fold_places"]

_SAID = frozenset({SegmentKind.MESSAGE, SegmentKind.TOOL_CALL, SegmentKind.TOOL_RESULT})
"""What the conversation itself holds; where it says what a file says, the file is the better answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceGroup:
    """All places of one text of one source, in the order in which they were found; there is at least one."""

    places: tuple[Place, ...]

    @property
    def first(self) -> Place:
        """The place that is shown for all."""
        return self.places[0]

    @property
    def manifest_ids(self) -> tuple[str, ...]:
        """The prompts that have it, each once."""
        return tuple(dict.fromkeys(one.manifest_id for one in self.places))

    @property
    def lines(self) -> tuple[str, ...]:
        """The lines that hold the text, each once."""
        return tuple(dict.fromkeys(one.line.strip() for one in self.places))

    @property
    def selections(self) -> tuple[str, ...]:
        """What let it in, each once."""
        return tuple(dict.fromkeys(one.segment.selected_by for one in self.places if one.segment is not None))

    @property
    def workers(self) -> dict[str, tuple[str, ...]]:
        """The tasks of the prompts that have it, by role, sorted; a session of no task is `-`."""
        roles = dict.fromkeys(sorted({one.role for one in self.places}))
        return {role: tuple(sorted({one.task_id or "-" for one in self.places if one.role == role})) for role in roles}


def fold_places(places: Iterable[Place]) -> tuple[PlaceGroup, ...]:
    """Return places in groups: texts of sources first, by layer, then what was said and done, headings last."""
    groups: dict[tuple[object, ...], list[Place]] = {}
    for one in places:
        groups.setdefault(_told_as(one), []).append(one)
    folded = (PlaceGroup(places=tuple(some)) for some in groups.values())
    return tuple(sorted(folded, key=_order))


def _told_as(place: Place) -> tuple[object, ...]:
    record = place.segment
    if record is None:
        return ("layout", place.line)
    if record.kind in _SAID:
        about = place.call if place.call is not None else record.source.uri
        return (record.kind, about, place.line.strip())
    source: Source = record.source
    return (record.layer, record.kind, source.uri, source.start_line, source.end_line, source.text_digest, record.form)


def _order(group: PlaceGroup) -> tuple[int, str, int]:
    record = group.first.segment
    if record is None:
        return (2, "", -len(group.places))
    return (int(record.kind in _SAID), record.layer.value, -len(group.places))
