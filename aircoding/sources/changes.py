"""Text of run scope that changed after it was frozen: sessions are told, the shared prefix stays as it is."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from aircoding.records.ids import SegmentId
from aircoding.records.layers import Scope, SegmentKind, Trust
from aircoding.records.segments import REMOVED, UNUSABLE, Segment, is_unusable, place_of
from aircoding.sources.segments import Intake, unique

__all__ = ["changed_since"]


def changed_since(frozen: Collection[Segment], now: Iterable[Segment], *, intake: Intake) -> tuple[Segment, ...]:
    """Return, with session scope, each text that is new or differs, and a line for each that is gone.

    The frozen text of the same place stays in the prefix; the text that is given here says that it holds instead.

    Args:
        frozen: what the run revision holds, of the kind that is compared.
        now: the same sources as they are now.
        intake: makes the lines of what is gone.
    """
    present = tuple(now)
    current = {place_of(one.segment_id): one for one in present if one.barred is None}
    before = {place_of(one.segment_id): one for one in frozen if one.barred is None}
    changed = (
        replace(one, scope=Scope.SESSION, title=f"{one.title} (changed after this run began; this text holds)")
        for place, one in current.items()
        if place not in before or before[place].source.text_digest != one.source.text_digest
    )
    known = {one.segment_id for one in frozen}
    barred_now = tuple(one for one in present if one.barred is not None and one.segment_id not in known)
    broken = {one.source.uri for one in barred_now if is_unusable(one)}
    gone = (_gone(one, intake, one.source.uri in broken) for place, one in before.items() if place not in current)
    return unique((*changed, *(replace(one, scope=Scope.SESSION) for one in barred_now), *gone))


def _gone(rule: Segment, intake: Intake, broken: bool) -> Segment:
    where = rule.source.uri
    if rule.source.start_line is not None:
        where += f", lines {rule.source.start_line}-{rule.source.end_line}"
    what = f"The {rule.kind.value} that stood in {where} was"
    segment = intake.segment(
        f"{what} changed after this run began and cannot be used as it is now; the version above still holds."
        if broken
        else f"{what} removed after this run began. It no longer holds.",
        layer=rule.layer,
        scope=Scope.SESSION,
        kind=SegmentKind.NOTICE,
        trust=Trust.BUILTIN,
        uri=rule.source.uri,
        shortened=False,
    )
    name = f"{place_of(rule.segment_id)}{UNUSABLE if broken else REMOVED}@{segment.source.text_digest[:8]}"
    return replace(segment, segment_id=SegmentId(name), level=rule.level)
