"""A rule that not everybody has, and what a worker said and heard: what searches of the record are tried on."""

from __future__ import annotations

from aircoding.records.layers import Layer, SegmentKind
from support.contexts import message, segment

__all__ = ["HEARD", "RULE", "SAID"]

RULE = segment(
    "Never push to main.\n",
    layer=Layer.L3,
    kind=SegmentKind.RULE,
    uri="project:rules.md",
    rule_id="rules.md#push",
    paths=("docs/**",),
)
"""In where docs were touched."""
SAID = message(
    0,
    "assistant",
    {"type": "text", "text": "I ask first."},
    {"type": "tool_use", "id": "t1", "name": "shell", "input": {"command": 'echo "two\nlines"'}},
)
"""What a worker said, with a call of two lines."""
HEARD = message(
    1, "user", {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "two\nlines"}]}
)
"""What the call gave."""
