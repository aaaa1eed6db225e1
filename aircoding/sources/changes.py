"""Rules that changed after the run's text was frozen: new sessions are told, the shared prefix stays as it is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from aircoding.records.layers import Layer, Scope, SegmentKind, Trust
from aircoding.records.segments import Segment
from aircoding.sources.revision import Revision
from aircoding.sources.segments import Intake, unique

__all__ = ["changed_rules"]


def changed_rules(rules: Iterable[Segment], revision: Revision, *, intake: Intake) -> tuple[Segment, ...]:
    """Return, with session scope, each run-scope rule that is new or differs, and a line for each that is gone.

    A frozen rule of the same place stays in the prefix; the text that is given here says that it holds instead.
    """
    now = {_place(rule): rule for rule in rules if rule.scope is Scope.RUN and rule.barred is None}
    before = {
        _place(rule): rule
        for rule in (revision.segments[name] for name in revision.rules if name in revision.segments)
        if rule.barred is None
    }
    changed = (
        replace(rule, scope=Scope.SESSION, title=f"{rule.title} (changed after this run began; this text holds)")
        for place, rule in now.items()
        if place not in before or before[place].source.text_digest != rule.source.text_digest
    )
    gone = (_gone(rule, intake) for place, rule in before.items() if place not in now)
    return unique((*changed, *gone))


def _place(rule: Segment) -> str:
    return rule.segment_id.rsplit("@", 1)[0]


def _gone(rule: Segment, intake: Intake) -> Segment:
    where = rule.source.uri
    if rule.source.start_line is not None:
        where += f", lines {rule.source.start_line}-{rule.source.end_line}"
    segment = intake.segment(
        f"The rule that stood in {where} was removed after this run began. It no longer holds.",
        layer=Layer.L3,
        scope=Scope.SESSION,
        kind=SegmentKind.NOTICE,
        trust=Trust.BUILTIN,
        uri=rule.source.uri,
        fragment=f"removed-{rule.source.text_digest[:8]}",
        shortened=False,
    )
    return replace(segment, level=rule.level)
