"""How much of a layer a role retrieves: whole texts, or their short forms."""

from __future__ import annotations

from aircoding.records.layers import Layer
from aircoding.records.profiles import Profile
from aircoding.records.segments import Segment
from aircoding.sources.foreign_texts import without_pointers
from aircoding.sources.segments import in_short

__all__ = ["at_detail"]

_READ = "read"
"""The category of tools that read files."""


def at_detail(profile: Profile, layer: Layer, segments: tuple[Segment, ...]) -> tuple[Segment, ...]:
    """Return the segments as far as the role retrieves them: a role that takes summaries gets the short forms."""
    selection = profile.layers.get(layer)
    if layer is Layer.L3 and _READ not in profile.tool_categories:
        segments = without_pointers(segments)
    if selection is None or selection.detail != "summary":
        return segments
    return tuple(in_short(segment) for segment in segments)
