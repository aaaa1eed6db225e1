"""Whatever changes while a session goes on, it knows what holds now, was told once, and nothing that was sent moved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
from support.contexts import LIMITS, message, segment, snapshot
from support.prefixes import first_difference
from support.spans import assert_covered

from aircoding.context.assembler import assemble
from aircoding.context.freezing import frozen_from
from aircoding.records.ids import SegmentId
from aircoding.records.layers import Layer, Scope, SegmentKind, Trust
from aircoding.records.manifest import AssembledContext
from aircoding.records.segments import LAPSED, REMOVED, Segment, place_of
from aircoding.records.snapshot import Message

_NAMES = ("a.md", "b.md", "c.md", "d.md")
_SAYS = {"a.md": "a", "b.md": "b", "c.md": "c", "d.md": "a"}
"""What a file's text is made of: `a.md` and `d.md` are copies of each other where their versions are the same."""
_FROZEN = {"a.md": 0, "b.md": 0}
"""What the run revision holds: version 0 of two files."""

_VERSIONS = st.dictionaries(st.sampled_from(_NAMES), st.integers(0, 2), max_size=4)
"""The files that are there in one turn, and in which version."""


def rule(name: str, version: int, scope: Scope, trust: Trust) -> Segment:
    return segment(
        f"Rule {_SAYS[name]} says {version}.\n",
        layer=Layer.L3,
        scope=scope,
        kind=SegmentKind.RULE,
        uri=f"project:{name}",
        trust=trust,
        title=name,
    )


def gone(name: str) -> Segment:
    text = f"The rule that stood in {name} was removed after this run began."
    made = segment(text, layer=Layer.L3, kind=SegmentKind.NOTICE, uri=f"project:{name}", trust=Trust.BUILTIN)
    digest = made.segment_id.rsplit("@", 1)[1]
    return replace(made, segment_id=SegmentId(f"L3:project:{name}{REMOVED}@{digest}"))


def candidates(files: Mapping[str, int], trust: Trust) -> list[Segment]:
    """What a gatherer gives: the frozen texts, and what of them is another by now."""
    frozen = [rule(name, version, Scope.RUN, trust) for name, version in _FROZEN.items()]
    changed = [rule(name, v, Scope.SESSION, trust) for name, v in files.items() if _FROZEN.get(name) != v]
    return [*frozen, *changed, *(gone(name) for name in _FROZEN if name not in files)]


def turns(number: int) -> tuple[Message, ...]:
    said: list[Message] = []
    for turn in range(1, number):
        call = {"type": "tool_use", "id": f"t{turn}", "name": "fs_read", "input": {"path": "x"}}
        result = {"type": "tool_result", "tool_use_id": f"t{turn}", "content": [{"type": "text", "text": "x"}]}
        said += [message(2 * turn - 2, "assistant", call), message(2 * turn - 1, "user", result)]
    return tuple(said)


def believed(context: AssembledContext) -> dict[str, str]:
    """Return the rule texts that a reader of the prompt takes to hold: the newest of each place, unless told gone."""
    latest: dict[str, str] = {}
    for record in context.manifest.segments:
        place = place_of(record.segment_id)
        if record.layer is not Layer.L3:
            continue
        if place.endswith((REMOVED, LAPSED)):
            latest.pop(place.removesuffix(REMOVED).removesuffix(LAPSED), None)
        elif record.kind is SegmentKind.RULE:
            latest[place] = record.source.text_digest
    return latest


@given(
    st.lists(_VERSIONS, min_size=2, max_size=7),
    st.booleans(),
    st.sampled_from([Trust.PROJECT, Trust.EXTERNAL, Trust.USER]),
)
@settings(max_examples=250, deadline=None)
def test_a_session_knows_what_holds_and_what_it_was_sent_never_moves(
    history: list[dict[str, int]], system_turns: bool, trust: Trust
) -> None:
    before: AssembledContext | None = None
    limits = replace(LIMITS, system_turns=system_turns)
    for number, files in enumerate(history, 1):
        frame = snapshot(
            *candidates(files, trust),
            turn=number,
            messages=turns(number),
            frozen=frozen_from(before) if before is not None else None,
            limits=limits,
        )
        context = assemble(frame)
        assert isinstance(context, AssembledContext)
        assert_covered(context)
        wanted = {rule(name, v, Scope.SESSION, trust).source.text_digest for name, v in files.items()}
        assert set(believed(context).values()) == wanted
        accounted = {note.segment_id for note in context.manifest.outcomes}
        accounted |= {record.segment_id for record in context.manifest.segments}
        assert {one.segment_id for one in frame.segments} <= accounted
        if before is not None:
            assert first_difference(before.request, context.request) is None
            own = len(context.messages) - len(before.messages)
            if history[number - 1] == history[number - 2]:
                assert own == 2, "nothing changed, and something was said"
            for one in context.messages:
                assert one["role"] != "system" or trust is not Trust.EXTERNAL or "says" not in str(one)
        before = context
