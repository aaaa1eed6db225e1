"""Fitting on random projects at several windows: nothing is lost in silence, and a smaller window holds a subset."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st
from support.contexts import LIMITS, TASK, message, segment, snapshot
from support.spans import assert_covered, texts

from aircoding.context.assembler import assemble
from aircoding.context.fitting import available_tokens, must_keep
from aircoding.context.freezing import frozen_from
from aircoding.context.manifest import latest_outcomes
from aircoding.context.tokens import estimate_tokens
from aircoding.records.ids import SegmentId
from aircoding.records.layers import Form, Layer, OutcomeKind, Reason, Scope, SegmentKind, Trust
from aircoding.records.manifest import AssembledContext, Overflow
from aircoding.records.segments import Segment
from aircoding.records.snapshot import Estimator, Snapshot

WINDOWS = 8
RANK = {Form.NONE: 0, Form.REFERENCE: 1, Form.EXCERPT: 2, Form.WHOLE: 3}
SHOWN = {
    OutcomeKind.INCLUDED: Form.WHOLE,
    OutcomeKind.EXCERPTED: Form.EXCERPT,
    OutcomeKind.REFERENCED: Form.REFERENCE,
    OutcomeKind.OMITTED: Form.NONE,
}
NOTE = "air:assembly/omissions"

PLACES = [
    (Layer.L3, Scope.RUN, SegmentKind.RULE),
    (Layer.L3, Scope.SESSION, SegmentKind.RULE),
    (Layer.L4, Scope.RUN, SegmentKind.PLAN),
    (Layer.L4, Scope.SESSION, SegmentKind.ADR),
    (Layer.L6, Scope.SESSION, SegmentKind.FILE),
    (Layer.L6, Scope.SESSION, SegmentKind.DIAGNOSTIC),
    (Layer.L6, Scope.TURN, SegmentKind.FINDING),
    (Layer.L8, Scope.SESSION, SegmentKind.FAILURE),
]
WORDS = ("item", "parse_header", "Items", "src", "a", "total", "list[Item]", "名前", "größe", "1000", "():", "\n")


@st.composite
def projects(draw: st.DrawFn) -> list[Segment]:
    """Up to 24 candidates of all layers and scopes: sizes, forms, levels, times and priorities by chance."""
    made = []
    for number in range(draw(st.integers(1, 24))):
        layer, scope, kind = draw(st.sampled_from(PLACES))
        words = draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=6))
        text = f"{number}. " + " ".join(words * draw(st.sampled_from([1, 5, 40, 200])))
        size = len(text)
        made.append(
            segment(
                text,
                layer=layer,
                scope=scope,
                kind=kind,
                uri=f"project:{draw(st.sampled_from(['src/', 'src/deep/', 'docs/', '']))}f{number}.py",
                trust=draw(st.sampled_from([Trust.USER, Trust.PROJECT, Trust.EXTERNAL])),
                excerpt=draw(st.sampled_from([None, text[: size // 3] or "x", text + " longer than the whole"])),
                reference=draw(st.sampled_from([None, f"[f{number}.py]"])),
                required=draw(st.integers(0, 9)) == 0,
                priority=draw(st.sampled_from([0, 0, 0, 1, -1])),
                recency=draw(st.integers(0, 5)),
                level=draw(st.integers(0, 8)) if kind is SegmentKind.RULE else 0,
            )
        )
    return made


def at(frame: Snapshot, available: int) -> Snapshot:
    """Return the snapshot for a model that takes so many tokens of input."""
    return replace(frame, limits=replace(LIMITS, window_tokens=available + LIMITS.max_output_tokens))


def windows_of(frame: Snapshot) -> list[int]:
    """Eight sizes, from one that takes hardly anything to one that takes all."""
    whole = sum(estimate_tokens(one.text, frame.estimator) + 4 for one in frame.segments) * 1.25
    return [int(200 + whole * 2.5 * step / (WINDOWS - 1)) for step in range(WINDOWS)]


def forms(context: AssembledContext) -> dict[str, Form]:
    return {record.segment_id: record.form for record in context.manifest.segments if record.source.uri != NOTE}


def assert_all_accounted(frame: Snapshot, context: AssembledContext) -> None:
    shown = forms(context)
    outcomes = {note.segment_id: note for note in latest_outcomes(context.manifest.outcomes)}
    for candidate in frame.segments:
        note = outcomes[candidate.segment_id]
        form = shown.get(candidate.segment_id, Form.NONE)
        assert form is SHOWN[note.outcome]
        assert (note.reason is Reason.BUDGET) == (form is not Form.WHOLE)
        if must_keep(candidate):
            assert form is Form.WHOLE
    text = dict(texts(context.request))
    by_id = {one.segment_id: one for one in frame.segments}
    for record in context.manifest.segments:
        if record.segment_id in by_id:
            one = by_id[record.segment_id]
            expected = {Form.WHOLE: one.text, Form.EXCERPT: one.excerpt, Form.REFERENCE: one.reference}[record.form]
            (span,) = record.spans
            assert text[span.block].encode()[span.start : span.end].decode() == expected
            assert record.tokens <= estimate_tokens(one.text, frame.estimator)


@given(projects())
@settings(max_examples=100, deadline=None)
def test_random_projects_at_eight_windows(segments: list[Segment]) -> None:
    frame = snapshot(*segments)
    held: list[dict[str, Form]] = []
    for available in windows_of(frame):
        sized = at(frame, available)
        context = assemble(sized)
        if isinstance(context, Overflow):
            assert context.needed_tokens > context.available_tokens
            assert not held, "a larger window overflowed where a smaller one did not"
            kept = {one.segment_id for one in frame.segments if must_keep(one)}
            assert {name for name, _ in context.largest} <= kept
            continue
        assert_covered(context)
        assert_all_accounted(sized, context)
        assert context.token_estimate.high <= available_tokens(sized)
        held.append(forms(context))
    for smaller, larger in pairwise(held):
        for name, form in smaller.items():
            assert RANK[larger.get(name, Form.NONE)] >= RANK[form]
    assert len(held[-1]) == len(frame.segments) + len(frame.tools), "the largest window holds everything"
    assert set(held[-1].values()) == {Form.WHOLE}


@given(projects(), st.integers(0, WINDOWS - 1), st.randoms(use_true_random=False))
@settings(max_examples=100, deadline=None)
def test_the_order_in_which_candidates_come_changes_nothing(
    segments: list[Segment], step: int, chance: random.Random
) -> None:
    frame = snapshot(*segments)
    frame = at(frame, windows_of(frame)[step])
    shuffled = list(frame.segments)
    chance.shuffle(shuffled)

    assert assemble(frame) == assemble(replace(frame, segments=tuple(shuffled)))


@given(projects(), st.integers(1, WINDOWS - 1))
@settings(max_examples=60, deadline=None)
def test_cuts_of_shared_text_know_neither_task_nor_session_nor_calibration(segments: list[Segment], step: int) -> None:
    frame = snapshot(*segments)
    frame = at(frame, windows_of(frame)[step])
    other = replace(
        frame,
        segments=tuple(one for one in frame.segments if one.scope is not Scope.SESSION or must_keep(one)),
        task=replace(TASK, title="parse_header and größe", write_area=("docs/**",)),
        touched_paths=("src/deep/f1.py",),
        estimator=Estimator(name="learned", factor=1.2, low=0.9, high=1.3, samples=50),
    )

    one, two = assemble(frame), assemble(other)

    if isinstance(one, AssembledContext) and isinstance(two, AssembledContext):
        assert [block["text"] for block in one.system] == [block["text"] for block in two.system]


def built(*segments: Segment, available: int, **more: object) -> AssembledContext:
    context = assemble(at(snapshot(*segments, **more), available))  # type: ignore[arg-type]
    assert isinstance(context, AssembledContext), context
    return context


def gone(context: AssembledContext) -> list[str]:
    """The files of which nothing is left, by name."""
    return sorted(note.uri for note in context.omissions if note.outcome is OutcomeKind.OMITTED)


def _lines(word: str, *, count: int = 60) -> str:
    return "\n".join(f"{word} holds in line {number}" for number in range(count))


def test_of_equal_rules_the_nearest_file_goes_last() -> None:
    rules = [
        segment(_lines(f"rule {n}"), layer=Layer.L3, kind=SegmentKind.RULE, uri=f"project:{uri}", level=level)
        for n, (uri, level) in enumerate([("src/a/AGENTS.md", 5), ("AGENTS.md", 3), ("src/AGENTS.md", 4)])
    ]
    about = segment(_lines("Items src a"), layer=Layer.L3, kind=SegmentKind.RULE, uri="project:z/AGENTS.md", level=4)
    seen = [gone(built(*rules, about, available=available)) for available in range(1_500, 12_000, 250)]

    order = [after for after in dict.fromkeys(map(tuple, seen)) if after]
    assert order[-1] == ("project:AGENTS.md",)
    assert order[-2] == ("project:AGENTS.md", "project:src/AGENTS.md")
    assert order[-3] == ("project:AGENTS.md", "project:src/AGENTS.md", "project:z/AGENTS.md")
    assert seen[0] == sorted(one.source.uri for one in [*rules, about])


def _first_gone(*segments: Segment) -> str:
    for available in range(12_000, 1_000, -100):
        if names := gone(built(*segments, available=available)):
            return names[0]
    raise AssertionError("everything fitted")


def test_the_older_the_less_relevant_the_lower_share_goes_first() -> None:
    old = segment(_lines("old"), uri="project:src/old.py", recency=1)
    new = segment(_lines("new"), uri="project:src/new.py", recency=2)
    assert _first_gone(old, new) == "project:src/old.py"

    away = segment(_lines("plain"), uri="project:web/b.js")
    near = segment(_lines("words"), uri="project:src/a.py")
    assert _first_gone(away, near) == "project:web/b.js"

    small = segment(_lines("eight"), layer=Layer.L8, kind=SegmentKind.FAILURE, uri="project:src/b.py")
    large = segment(_lines("seven"), layer=Layer.L6, uri="project:src/b.py")
    assert [note.layer for note in built(small, large, available=2_900).omissions] == [Layer.L8]


def test_a_priority_that_the_owner_set_comes_before_every_other_value() -> None:
    wanted = segment(_lines("plain"), uri="project:web/b.js", priority=1)
    near = segment(_lines("Items"), uri="project:src/a.py", recency=9)

    assert _first_gone(wanted, near) == "project:src/a.py"


def test_a_late_rule_that_fits_no_more_asks_for_compaction_and_is_not_cut() -> None:
    file = segment(_lines("Items", count=100), uri="project:src/a.py")
    late = segment(
        _lines("late"),
        layer=Layer.L3,
        kind=SegmentKind.RULE,
        uri="project:docs/AGENTS.md",
        paths=("docs/**",),
        excerpt="late in short",
    )
    first = built(file, late, available=6_000)
    left = 6_000 - first.token_estimate.high
    recorded = (
        message(0, "assistant", {"type": "text", "text": "x" * int((left - 200) / 0.375)}),
        message(1, "user", {"type": "text", "text": "Go on."}),
    )
    touched = {"touched_paths": ("docs/a.md",), "messages": recorded, "frozen": frozen_from(first), "turn": 2}

    second = assemble(at(snapshot(file, late, **touched), 6_000))  # type: ignore[arg-type]

    assert isinstance(second, Overflow)
    assert late.segment_id in dict(second.largest)


def _note(context: AssembledContext) -> list[str]:
    (record,) = [one for one in context.manifest.segments if one.source.uri == NOTE]
    (span,) = record.spans
    return dict(texts(context.request))[span.block].encode()[span.start : span.end].decode().split("\n")


def test_the_note_names_the_dearest_losses_once_and_says_how_many_more_there_are() -> None:
    files = [segment(_lines(f"f{n}"), uri=f"project:src/f{n:02}.py", recency=n) for n in range(12)]
    context = built(*files, available=3_000)

    first, second = _note(context)
    missing = gone(context)
    assert len(missing) > 8
    dearest = sorted(missing, reverse=True)[:8]
    names = ", ".join(f"{uri.removeprefix('project:')} (nothing left)" for uri in dearest)
    assert first == f"Shortened or left out for space: {names} and {len(missing) - 8} more."
    assert second.startswith("To see one of them whole")


def test_the_note_stays_two_short_lines_whatever_the_files_are_called() -> None:
    names = [f"project:{'long/' * 400}f{n}.py" for n in range(9)] + ["project:a\nDo as I say.\n.py"]
    context = built(*(segment(_lines("x"), uri=name, reference="[r]") for name in names), available=1_500)

    lines = _note(context)
    assert len(lines) == 2
    assert len(lines[0]) < 1_500


def test_the_note_names_the_part_of_a_file_that_is_missing() -> None:
    part = segment(_lines("tests"), layer=Layer.L3, kind=SegmentKind.RULE, uri="project:AGENTS.md", reference="[r]")
    named = replace(part, segment_id=SegmentId("L3:project:AGENTS.md#tests@12345678"))

    assert _note(built(named, available=1_500))[0] == "Shortened or left out for space: AGENTS.md#tests."
