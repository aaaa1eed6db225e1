"""What-ifs over real assemblies: only the what-if shows, and it shows all of it."""

from __future__ import annotations

from dataclasses import replace

from context.test_fitting_properties import RANK, at, forms, projects, windows_of
from hypothesis import given, settings
from hypothesis import strategies as st
from support.contexts import LIMITS, message, segment, snapshot
from support.spans import assert_covered

from aircoding.audit.differences import compare
from aircoding.audit.what_if import (
    Change,
    Overflowed,
    assemble_epoch,
    change_snapshot,
    named_candidates,
    near_names,
)
from aircoding.context.assembler import assemble
from aircoding.context.freezing import frozen_from
from aircoding.records.layers import Form, Layer, Scope, SegmentKind
from aircoding.records.manifest import AssembledContext
from aircoding.records.segments import Segment
from aircoding.records.snapshot import Message, Snapshot


def rule(name: str, text: str, **more: object) -> Segment:
    return segment(
        text, layer=Layer.L3, scope=Scope.RUN, kind=SegmentKind.RULE, uri=f"project:{name}", rule_id=name, **more
    )


def turn_messages(number: int) -> tuple[Message, ...]:
    said: list[Message] = []
    for turn in range(1, number):
        call = {"type": "tool_use", "id": f"t{turn}", "name": "fs_read", "input": {"path": "x"}}
        result = {"type": "tool_result", "tool_use_id": f"t{turn}", "content": [{"type": "text", "text": "x"}]}
        said += [message(2 * turn - 2, "assistant", call), message(2 * turn - 1, "user", result)]
    return tuple(said)


def an_epoch(*of_turns: tuple[Segment, ...]) -> tuple[list[Snapshot], AssembledContext]:
    """Assemble turns as a session does, and return their snapshots and the last request."""
    snapshots: list[Snapshot] = []
    before: AssembledContext | None = None
    for number, segments in enumerate(of_turns, 1):
        frozen = frozen_from(before) if before is not None else None
        frame = snapshot(*segments, turn=number, messages=turn_messages(number), frozen=frozen)
        context = assemble(frame)
        assert isinstance(context, AssembledContext)
        snapshots.append(frame)
        before = context
    assert before is not None
    return snapshots, before


def would_be(snapshots: list[Snapshot], change: Change) -> AssembledContext:
    context = assemble_epoch([change_snapshot(one, change) for one in snapshots])
    assert isinstance(context, AssembledContext)
    assert_covered(context)
    return context


A, B = rule("a.md", "Alpha holds."), rule("b.md", "Beta holds.")
LATE = rule("late.md", "Late words.", paths=("src/**",))


def test_without_a_change_an_epoch_gives_its_recorded_bytes() -> None:
    newer = replace(rule("b.md", "Beta holds no more."), scope=Scope.SESSION)
    snapshots, recorded = an_epoch((A, B), (A, B, LATE), (A, B, LATE, newer))

    assert would_be(snapshots, Change()).digest == recorded.digest
    assert compare(recorded.manifest, would_be(snapshots, Change()).manifest).empty


def test_a_rule_is_gone_from_the_first_turn_on_and_nothing_else_moves() -> None:
    snapshots, recorded = an_epoch((A, B), (A, B, LATE), (A, B, LATE))

    context = would_be(snapshots, Change(without=("a.md",)))
    difference = compare(recorded.manifest, context.manifest)

    assert "Alpha" in str(recorded.request)
    assert "Alpha" not in str(context.request)
    assert [one.source.uri for one in difference.removed] == ["project:a.md"]
    assert (difference.added, difference.changed) == ((), ())


def test_what_came_late_is_left_out_where_it_came() -> None:
    snapshots, recorded = an_epoch((A, B), (A, B, LATE))

    context = would_be(snapshots, Change(without=("late.md",)))

    assert context.messages[:1] == recorded.messages[:1]
    assert "Late words" not in str(context.request)


def test_a_text_that_a_rule_had_beaten_comes_in_instead() -> None:
    first = rule("x/one.md", "Use blanks.", identity="style", level=5)
    second = rule("y/two.md", "Use tabs.", identity="style", level=6)
    snapshots, recorded = an_epoch((first, second))

    assert "Use blanks" not in str(recorded.request)
    assert "Use blanks" in str(would_be(snapshots, Change(without=("y/two.md",))).request)


def test_what_only_a_left_out_file_imports_goes_with_it() -> None:
    shared = rule("shared.md", "Shared words.", importers=("project:CLAUDE.md", "project:a.md"))
    own = rule("own.md", "Own words.", importers=("project:CLAUDE.md",))
    snapshots, _ = an_epoch((A, rule("CLAUDE.md", "Claude words."), shared, own))

    text = str(would_be(snapshots, Change(without=("CLAUDE.md",))).request)

    assert "Shared words" in text
    assert "Own words" not in text


def test_a_candidate_takes_the_place_of_all_of_its_source() -> None:
    newer = replace(rule("b.md", "Beta holds no more."), scope=Scope.SESSION)
    snapshots, _ = an_epoch((A, B), (A, B, newer))

    text = str(would_be(snapshots, Change(added=(rule("b.md", "Gamma."),))).request)

    assert "Gamma." in text
    assert "Beta" not in text


def test_an_overflow_names_the_turn_from_which_nothing_would_have_been_sent() -> None:
    long = rule("long.md", "word " * 3000, required=True)
    snapshots, _ = an_epoch((A, long), (A, long))
    tight = replace(LIMITS, window_tokens=LIMITS.max_output_tokens + 2000)

    found = assemble_epoch([change_snapshot(one, Change(limits=tight)) for one in snapshots])

    assert isinstance(found, Overflowed)
    assert found.turn == 1
    assert found.overflow.needed_tokens > found.overflow.available_tokens


def test_names_are_those_of_why_not_and_a_wrong_one_has_near_ones() -> None:
    part = replace(rule("docs/rules.md", "Section."), segment_id="L3:project:docs/rules.md#style@1")  # type: ignore[arg-type]
    frame = snapshot(A, part)

    assert named_candidates([frame, frame], "rules.md#style") == ("L3:project:docs/rules.md#style@1",)
    assert named_candidates([frame], "docs/rules.md") == ("L3:project:docs/rules.md#style@1",)
    assert named_candidates([frame], "nothing.md") == ()
    assert "docs/rules.md" in near_names([frame], "rulse.md")


@given(projects(), st.data())
@settings(max_examples=30, deadline=None)
def test_a_candidate_that_is_left_out_is_nowhere_and_comes_back_byte_for_byte(
    segments: list[Segment], data: st.DataObject
) -> None:
    frame = snapshot(*segments)
    context = assemble(frame)
    if not isinstance(context, AssembledContext):
        return
    one = data.draw(st.sampled_from(segments))

    reduced = change_snapshot(frame, Change(without=(one.source.uri,)))
    without = assemble_epoch([reduced])
    again = change_snapshot(reduced, Change(added=(one,)))

    assert isinstance(without, AssembledContext), "less cannot need more"
    assert one.segment_id not in {record.segment_id for record in without.manifest.segments}
    assert one.segment_id not in {note.segment_id for note in without.manifest.outcomes}
    assert one.text not in str(without.request) or any(one.text in other.text for other in segments if other != one)
    rebuilt = assemble_epoch([again])
    assert isinstance(rebuilt, AssembledContext)
    assert rebuilt.digest == context.digest


@given(projects())
@settings(max_examples=12, deadline=None)
def test_a_smaller_window_holds_a_subset(segments: list[Segment]) -> None:
    frame = snapshot(*segments)
    held: dict[str, Form] | None = None
    for available in reversed(windows_of(frame)):
        context = assemble_epoch([change_snapshot(frame, Change(limits=at(frame, available).limits))])
        if isinstance(context, Overflowed):
            break
        now = forms(context)
        if held is not None:
            assert all(RANK[form] <= RANK[held.get(name, Form.NONE)] for name, form in now.items())
        held = now
    assert isinstance(assemble_epoch([change_snapshot(frame, Change(limits=at(frame, 1).limits))]), Overflowed)
