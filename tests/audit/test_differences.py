"""What differs between two prompts: segments paired by place, words that give both texts back, nothing for equals."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.contexts import message, segment, snapshot
from support.random_prompts import prompts

from aircoding.audit.differences import compare, compare_texts
from aircoding.audit.pairing import pair_segments
from aircoding.audit.texts import segment_texts
from aircoding.audit.word_changes import MAX_WORDS_PRODUCT, Stretch, longest_rise, word_changes
from aircoding.cli.context.diff_answers import diff_text, stat_text, texts_document
from aircoding.context.assembler import assemble
from aircoding.context.freezing import frozen_from
from aircoding.records.conflicts import Conflict, ConflictKind, Route
from aircoding.records.jsonable import jsonable
from aircoding.records.layers import Layer, Scope, SegmentKind
from aircoding.records.manifest import AssembledContext
from aircoding.records.segments import Segment
from aircoding.records.snapshot import Snapshot

WORDS = st.lists(st.sampled_from(["a", "b", "c", " ", "  ", "\n", "é", "(", "x_1", "\r", "\u2028"]), max_size=40)


def _context(*own: Segment, **more: object) -> AssembledContext:
    return _assembled(snapshot(*own, **more))  # type: ignore[arg-type]


def _assembled(frame: Snapshot) -> AssembledContext:
    context = assemble(frame)
    assert isinstance(context, AssembledContext)
    return context


def _sides(parts: tuple[Stretch, ...]) -> tuple[str, str]:
    before = "".join(part.text for part in parts if part.kind != "added")
    after = "".join(part.text for part in parts if part.kind != "removed")
    return before, after


@given(WORDS.map("".join), WORDS.map("".join), st.booleans())
@settings(deadline=None)
def test_both_texts_can_be_rebuilt_from_their_difference(before: str, after: str, by_words: bool) -> None:
    parts = word_changes(before, after, by_words=by_words)

    assert _sides(parts) == (before, after)
    assert all(part.text for part in parts)
    assert all(a.kind != b.kind for a, b in itertools.pairwise(parts))
    assert (before == after) is all(part.kind == "same" for part in parts)


@given(st.integers(0, 10_000), st.integers(2, 9), st.integers(0, 3))
@settings(deadline=None, max_examples=12)
def test_large_texts_are_compared_by_lines_that_occur_once(seed: int, step: int, width: int) -> None:
    """Above the bound too, what was not touched stays the same."""
    lines = [f"line {(number * 7 + seed) % 1_000} {number % (width + 1)}" for number in range(600)]
    changed = [line for number, line in enumerate(lines) if number % (step * 20) or not number] + ["the end"]
    before, after = "\n".join(lines), "\n".join(changed)

    parts = word_changes(before, after)

    assert _sides(parts) == (before, after)
    same = sum(len(part.text) for part in parts if part.kind == "same")
    assert same > len(after) * 0.9


def test_words_of_a_changed_line_are_told_and_large_stretches_are_not_compared_by_words() -> None:
    assert word_changes("Keep it small.\n", "Keep it very small.\n") == (
        Stretch("same", "Keep it "),
        Stretch("added", "very "),
        Stretch("same", "small.\n"),
    )
    before = "a b " * MAX_WORDS_PRODUCT
    assert [part.kind for part in word_changes(before, "a c")] == ["removed", "added"]


@given(st.permutations(range(9)))
def test_the_longest_rise_rises_and_none_is_longer(numbers: list[int]) -> None:
    rise = [numbers[place] for place in longest_rise(numbers)]

    best = [1] * len(numbers)
    for end in range(len(numbers)):
        best[end] = 1 + max((best[n] for n in range(end) if numbers[n] < numbers[end]), default=0)
    assert rise == sorted(rise)
    assert len(rise) == max(best)


@given(prompts())
@settings(deadline=None, max_examples=25)
def test_a_prompt_does_not_differ_from_itself(context: AssembledContext) -> None:
    difference = compare(context.manifest, context.manifest)

    assert difference.empty
    assert compare_texts(context, context, difference, whole=True) == ()
    assert (difference.facts, difference.marks, difference.moved) == ((), (), ())
    assert diff_text(difference) == stat_text(difference) == "no difference in content"


@given(prompts(), prompts())
@settings(deadline=None, max_examples=25)
def test_each_segment_is_paired_once_and_all_texts_can_be_rebuilt(a: AssembledContext, b: AssembledContext) -> None:
    pairs = pair_segments(a.manifest, b.manifest)
    difference = compare(a.manifest, b.manifest)

    assert sorted([one.segment_id for one, _ in pairs.pairs] + [one.segment_id for one in pairs.removed]) == sorted(
        one.segment_id for one in a.manifest.segments
    )
    assert sorted([one.segment_id for _, one in pairs.pairs] + [one.segment_id for one in pairs.added]) == sorted(
        one.segment_id for one in b.manifest.segments
    )
    old, new = segment_texts(a), segment_texts(b)
    for one in compare_texts(a, b, difference, whole=True):
        assert _sides(one.parts) == (
            old[one.before.segment_id] if one.before else "",
            new[one.after.segment_id] if one.after else "",
        )


def test_a_text_that_moved_is_not_removed_and_added() -> None:
    rule = segment("Keep it small.", layer=Layer.L3, scope=Scope.RUN, kind=SegmentKind.RULE, uri="project:a.md")
    late = replace(rule, scope=Scope.SESSION)
    renamed = replace(rule, source=replace(rule.source, uri="project:docs/a.md"))

    by_scope = compare(_context(rule).manifest, _context(late).manifest)
    by_name = compare(_context(rule).manifest, _context(renamed).manifest)

    for one in (by_scope, by_name):
        assert (one.added, one.removed, one.changed) == ((), (), ())
        assert [each.after.source.text_digest for each in one.moved] == [rule.source.text_digest]
        assert not one.empty
    assert "> L3 a.md:1-1: moved from L3, scope run, to L3, scope session" in diff_text(by_scope)
    assert "> L3 docs/a.md:1-1: the same text stood in a.md:1-1" in diff_text(by_name)


def test_the_same_turn_of_two_workers_is_compared_without_their_names() -> None:
    def worker(session: str) -> AssembledContext:
        own = (segment("Begin.", uri=f"air:session/{session}/note"),)
        frame = snapshot(*own)
        first = _assembled(replace(frame, request=replace(frame.request, session_id=session)))
        said = (message(0, "assistant", {"type": "text", "text": "One."}),)
        words = tuple(replace(each, uri=f"air:session/{session}/message/0") for each in said)
        later = snapshot(*own, turn=2, messages=words, frozen=frozen_from(first))
        return _assembled(replace(later, request=replace(later.request, session_id=session)))

    assert compare(worker("r1:T1:1:executor:1").manifest, worker("r1:T1:2:executor:1").manifest).empty


def test_the_words_stand_below_their_segment() -> None:
    before = _context(segment("first\nx = 1\nlast\nmore\nend", uri="project:x.py"))
    after = _context(segment("first\nx = 2\nlast\nmore\nend", uri="project:x.py"), segment("new", uri="project:y.py"))
    difference = compare(before.manifest, after.manifest)

    text = diff_text(difference, compare_texts(before, after, difference))
    whole = diff_text(difference, compare_texts(before, after, difference, whole=True), whole=True)

    assert "    first\n    x = [-1-]{+2+}\n    last\n    …" in text
    assert "{+new+}" not in text
    assert "+ L6 y.py:1-1 (" in text
    assert "{+new+}" in whole
    assert "1 added, 0 removed, 1 changed, 0 moved" in stat_text(difference)
    told = jsonable(texts_document(compare_texts(before, after, difference)))
    assert told[0]["parts"][1] == {"kind": "removed", "text": "1"}


def test_a_long_change_is_cut_unless_all_is_asked_for() -> None:
    before = _context(segment("\n".join(f"a{n}" for n in range(200)), uri="project:x.py"))
    after = _context(segment("\n".join(f"b{n}" for n in range(200)), uri="project:x.py"))
    difference = compare(before.manifest, after.manifest)
    texts = compare_texts(before, after, difference)

    assert "more lines: --words shows all" in diff_text(difference, texts)
    assert "b199" in diff_text(difference, texts, whole=True)


@pytest.mark.parametrize("winner", [None, "L3:project:a.md@1"])
def test_a_conflict_that_was_ruled_since_is_told(winner: str | None) -> None:
    open_one = Conflict(
        conflict_id="c-1",
        kind=ConflictKind.USER_RULE,
        parties=("a", "b"),
        subject="tabs",
        detail="",
        ruling="",
        winner=None,
        route=Route.MAIN,
        blocking=False,
        state="open",
    )
    manifest = _context().manifest
    ruled = replace(open_one, state="ruled", winner=winner)

    difference = compare(replace(manifest, conflicts=(open_one,)), replace(manifest, conflicts=(ruled,)))

    assert difference.conflicts_changed == ((open_one, ruled),)
    line = "! conflict c-1: open -> ruled" + (f", for {winner}" if winner else "")
    assert line in diff_text(difference).splitlines()


def test_another_model_and_role_are_named() -> None:
    context = _context()
    other = replace(context.manifest, model="other-model", role="reviewer")

    assert ("model", "test-model", "other-model") in compare(context.manifest, other).facts
    assert ("role", "executor", "reviewer") in compare(context.manifest, other).facts
