"""Random prompts, made by the real assembler: segments of all places, and often a second turn with messages."""

from __future__ import annotations

from hypothesis import strategies as st

from aircoding.context.assembler import assemble
from aircoding.context.freezing import frozen_from
from aircoding.records.layers import Layer, Scope, SegmentKind, Trust
from aircoding.records.manifest import AssembledContext
from aircoding.records.segments import Segment
from aircoding.records.snapshot import Snapshot
from support.contexts import message, segment, snapshot

__all__ = ["prompts"]

PIECES = st.lists(st.sampled_from(["a", "é", "\n", "\n\n", "日本\n", " ", "\r", "\u2028", "\t", "word "]), max_size=12)
TEXTS = PIECES.map("".join)
PLACES = st.sampled_from(
    [
        (Layer.L3, Scope.RUN, SegmentKind.RULE),
        (Layer.L3, Scope.SESSION, SegmentKind.RULE),
        (Layer.L4, Scope.RUN, SegmentKind.PLAN),
        (Layer.L6, Scope.SESSION, SegmentKind.FILE),
    ]
)


@st.composite
def segments(draw: st.DrawFn) -> list[Segment]:
    made = []
    for number in range(draw(st.integers(0, 6))):
        layer, scope, kind = draw(PLACES)
        trust = draw(st.sampled_from([Trust.PROJECT, Trust.EXTERNAL]))
        text = draw(TEXTS)
        made.append(segment(text, layer=layer, scope=scope, kind=kind, trust=trust, uri=f"project:f{number}"))
    return made


BLOCKS = st.one_of(
    TEXTS.map(lambda text: {"type": "text", "text": text}),
    TEXTS.map(lambda text: {"type": "tool_use", "id": "t", "name": "fs_read", "input": {"path": text}}),
)
RESULTS = st.one_of(
    st.lists(TEXTS, max_size=3).map(
        lambda parts: {
            "type": "tool_result",
            "tool_use_id": "t",
            "content": [{"type": "text", "text": part} for part in parts],
        }
    ),
    TEXTS.map(lambda text: {"type": "tool_result", "tool_use_id": "t", "content": text}),
)


def _assemble(frame: Snapshot) -> AssembledContext:
    context = assemble(frame)
    assert isinstance(context, AssembledContext)
    return context


@st.composite
def prompts(draw: st.DrawFn) -> AssembledContext:
    """A first turn, and often a second one with recorded messages."""
    own = draw(segments())
    first = _assemble(snapshot(*own))
    if draw(st.booleans()):
        return first
    recorded = (message(0, "assistant", draw(BLOCKS), draw(BLOCKS)), message(1, "user", draw(RESULTS)))
    return _assemble(snapshot(*own, turn=2, messages=recorded, frozen=frozen_from(first)))
