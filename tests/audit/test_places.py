"""Where a text stands, what stands behind its source, and which places are told as one."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
from support.contexts import message, segment, snapshot

from aircoding.audit.place_groups import fold_places
from aircoding.audit.places import Place, why
from aircoding.context.assembler import assemble
from aircoding.records.layers import Layer, SegmentKind
from aircoding.records.manifest import AssembledContext
from aircoding.records.segments import Segment

READ = {"type": "tool_use", "id": "t1", "name": "fs_read", "input": {"path": "src/a.py"}}
SHELL = {"type": "tool_use", "id": "t2", "name": "shell", "input": {"command": "grep needle"}}
RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "the needle"}]}


def _rule(uri: str, text: str, *importers: str) -> Segment:
    found = segment(text, layer=Layer.L3, kind=SegmentKind.RULE, uri=uri)
    return replace(found, importers=importers)


def _prompt(session: str, *segments: Segment) -> AssembledContext:
    said = [message(0, "assistant", READ, SHELL), message(1, "user", RESULT)]
    frame = snapshot(*segments, messages=said)
    context = assemble(replace(frame, request=replace(frame.request, session_id=session)))
    assert isinstance(context, AssembledContext)
    return context


def test_a_place_names_the_call_that_made_or_brought_it() -> None:
    calls = [one.call for one in why([_prompt("r1:T1:1:executor:1")], "needle")]

    assert [(one.tool, one.about) for one in calls if one is not None] == [
        ("shell", "grep needle"),
        ("fs_read", "src/a.py"),
    ]


def test_a_place_names_the_files_that_lead_to_its_own() -> None:
    rules = (
        _rule("project:CLAUDE.md", "Top."),
        _rule("project:docs/a.md", "Middle.", "project:CLAUDE.md"),
        _rule("project:docs/b.md", "The needle.", "project:docs/a.md"),
        _rule("project:docs/c.md", "Round.", "project:docs/c.md"),
    )
    context = _prompt("r1:T1:1:executor:1", *rules)

    (needle,) = why([context], "The needle.")
    (round_,) = why([context], "Round.")
    (top,) = why([context], "Top.")

    assert needle.importers == ("project:docs/a.md", "project:CLAUDE.md")
    assert round_.importers == ("project:docs/c.md",)
    assert top.importers == ()


def test_texts_of_sources_come_first_and_headings_last() -> None:
    rule = _rule("project:b.md", "The needle.\nAgain a needle.")
    file = segment("needle = 1", uri="project:needle.py", title="needle.py")
    prompts = [_prompt(f"r1:T1:1:executor:{number}", rule, file) for number in (1, 2)]

    groups = fold_places(why(prompts, "needle"))

    told = [(one.first.segment and one.first.segment.kind, len(one.manifest_ids), len(one.places)) for one in groups]
    assert told == [("rule", 2, 4), ("file", 2, 2), ("tool_call", 2, 2), ("tool_result", 2, 2), (None, 2, 2)]
    assert groups[0].lines == ("The needle.", "Again a needle.")
    assert groups[0].workers == {"executor": ("T1",)}


_TEXTS = st.lists(st.sampled_from(["x", "x y", "y x\nx", "z"]), max_size=4)


@given(st.lists(_TEXTS, min_size=1, max_size=3))
@settings(deadline=None, max_examples=30)
def test_folding_loses_no_place_and_tells_none_twice(prompts: list[list[str]]) -> None:
    contexts = [
        _prompt(f"r1:T1:1:executor:{number}", *(segment(text, uri=f"project:{n}.py") for n, text in enumerate(texts)))
        for number, texts in enumerate(prompts, start=1)
    ]
    places = why(contexts, "x")

    def key(one: Place) -> tuple[str, str, int]:
        return (one.manifest_id, one.block, one.start)

    folded = [one for group in fold_places(places) for one in group.places]
    assert sorted(map(key, folded)) == sorted(map(key, places))
