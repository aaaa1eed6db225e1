"""What of a run is brought to a role that must handle it (L7): conflicts, and what workers did not get whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from aircoding.records.conflicts import Conflict
from aircoding.records.layers import Layer, Scope, SegmentKind, Trust
from aircoding.records.runs import LeftOut
from aircoding.records.segments import Segment
from aircoding.sources.segments import Intake

__all__ = ["Routed", "routed_segments"]

_NAMED = 12
"""Left-out texts that the coordinator is told by name; the record has all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Routed:
    """What one role is told of a run. `left_out_count` counts all of which `left_out` are the largest."""

    conflicts: tuple[Conflict, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    left_out_count: int = 0


def routed_segments(run_id: str, routed: Routed, *, intake: Intake) -> tuple[Segment, ...]:
    """Return L7 segments of turn scope: one for each conflict, open ones last, and one for all that was left out.

    Their words quote rules and files, so they have an agent's trust and are screened like any such text.
    """
    conflicts = sorted(routed.conflicts, key=lambda one: (one.state == "open", one.blocking, one.conflict_id))
    segments = [
        replace(
            _segment(
                conflict_text(conflict),
                f"air:run/{run_id}/conflict/{conflict.conflict_id}",
                f"Conflict {conflict.conflict_id}",
                intake,
            ),
            recency=number,
        )
        for number, conflict in enumerate(conflicts, 1)
    ]
    if routed.left_out:
        text = _left_out_text(routed.left_out, routed.left_out_count)
        segments.append(_segment(text, f"air:run/{run_id}/left-out", "What workers did not get whole", intake))
    return tuple(segments)


def conflict_text(conflict: Conflict) -> str:
    """Return a conflict in a few lines: what contradicts what, what holds, what can be done."""
    lines = [f"{conflict.kind.value} conflict ({conflict.state}): {conflict.detail}", f"What holds: {conflict.ruling}"]
    if conflict.ruled_by:
        lines.append(f"Ruled by: {conflict.ruled_by}")
    if conflict.state == "open":
        stops = "It stops its task. " if conflict.blocking else ""
        lines.append(f"{stops}A person can rule: aircoding conflicts show {conflict.conflict_id}")
    return "\n".join(lines)


def _left_out_text(left_out: Sequence[LeftOut], count: int) -> str:
    lines = [f"- task {one.task_id}, {one.role}: {one.uri} ({one.tokens} tokens)" for one in left_out[:_NAMED]]
    more = count - len(lines)
    if more > 0:
        lines.append(f"- and {more} more")
    return "Shortened or left out of workers' prompts for want of space:\n" + "\n".join(lines)


def _segment(text: str, uri: str, title: str, intake: Intake) -> Segment:
    return intake.segment(
        text,
        layer=Layer.L7,
        scope=Scope.TURN,
        kind=SegmentKind.CONFLICT,
        trust=Trust.AGENT,
        uri=uri,
        title=title,
    )
