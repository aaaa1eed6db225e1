"""What a change does to who sees what: nothing for equal views, each effect with exactly its readers, in one order."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from hypothesis import example, given
from hypothesis import strategies as st
from support.contexts import READ_TOOL, snapshot

from aircoding.audit.context_tests import ContextTest, Expected
from aircoding.audit.expectations import judge
from aircoding.audit.impact import (
    ContextChange,
    Effect,
    SeenChange,
    Viewer,
    compact_paths,
    compare_views,
    join_effects,
    line_diff,
    sources_of,
)
from aircoding.audit.views import LeftOut, Part, View, context_view
from aircoding.context.assembler import assemble
from aircoding.records.digests import sha256_text
from aircoding.records.manifest import AssembledContext
from aircoding.records.segments import place_of

PLACES = ("a", "b", "c", "d", "e")
PATHS = ("x.py", "y.py", "in/x.py", "in/y.md", "in/deep/z.py", "out/z.md", "Makefile")


def part(place: str, text: str = "", *, scope: str = "run", form: str = "whole", by: str = "") -> Part:
    return Part(
        place=place,
        uri=f"project:{place}#_",
        layer="L3",
        scope=scope,
        form=form,
        text_digest=sha256_text(text),
        tokens=len(text),
        by=by,
        text=text,
    )


PARTS = st.builds(
    part,
    st.sampled_from(PLACES),
    st.sampled_from(["", "one\n", "two\n", "one \n"]),
    scope=st.sampled_from(["run", "session"]),
)
VIEWS = st.builds(
    lambda parts, conflicts: View(parts=tuple(parts), conflicts=tuple(sorted(conflicts))),
    st.lists(PARTS, max_size=5, unique_by=lambda one: one.place),
    st.sets(st.sampled_from(["c1", "c2"])),
)


@given(view=VIEWS)
def test_a_view_equals_itself_whatever_let_its_parts_in(view: View) -> None:
    other = View(
        parts=tuple(part(one.place, one.text, scope=one.scope, by="another reason") for one in view.parts),
        conflicts=view.conflicts,
        left_out=(LeftOut(place="z", uri="z", layer="", outcome="omitted", reason="", detail="", by=""),),
    )
    assert compare_views(view, view) is None
    assert compare_views(view, other) is None


@given(before=VIEWS, after=VIEWS)
def test_a_change_makes_the_later_view_of_the_earlier(before: View, after: View) -> None:
    change = compare_views(before, after)
    told = change or ContextChange()
    places = [one.place for one in before.parts]
    gone = {one.part.place for one in told.removed}
    new = {one.place for one in told.added}
    assert {*places} - gone | new == {one.place for one in after.parts}
    texts = {one.place: (one.text, one.scope) for one in before.parts}
    texts |= {one.after.place: (one.after.text, one.after.scope) for one in told.changed}
    texts |= {one.place: (one.text, one.scope) for one in told.added}
    assert all(texts[one.place] == (one.text, one.scope) for one in after.parts)
    moved = {one.place for one in told.moved}
    stay = [place for place in places if place not in gone | moved]
    assert stay == [one.place for one in after.parts if one.place not in new | moved]
    assert {*before.conflicts} - {*told.conflicts_removed} | {*told.conflicts_added} == {*after.conflicts}
    back = compare_views(after, before)
    assert (change is None) is (back is None)
    if change is not None and back is not None:
        assert change.token_change == -back.token_change
        assert (new, gone) == ({one.part.place for one in back.removed}, {one.place for one in back.added})


def test_what_left_a_part_out_is_told_with_it() -> None:
    why = LeftOut(place="a", uri="a", layer="L3", outcome="omitted", reason="budget", detail="d", by="fit")
    change = compare_views(View(parts=(part("a"),)), View(parts=(), left_out=(why,)))
    assert change is not None
    assert [one.left_out for one in change.removed] == [why]


def test_a_tool_is_compared_and_searched_as_it_is_sent() -> None:
    told = 'Say "why"\nand end.'
    read, other = (
        replace(READ_TOOL, input_schema={**READ_TOOL.input_schema, "description": words}) for words in (told, "Say.")
    )
    before, after = (assemble(snapshot(tools=(tool,))) for tool in (other, read))
    assert isinstance(before, AssembledContext)
    assert isinstance(after, AssembledContext)
    change = compare_views(context_view(before), context_view(after))
    test = ContextTest(line=1, name="t", must_contain=(Expected(kind="text", value=told, line=2),))
    assert change is not None
    assert [one.after.place for one in change.changed] == [place_of(after.manifest.segments[0].segment_id)]
    assert [len(judge(test, context_view(one), {})) for one in (before, after)] == [1, 0]


def _seen(who: tuple[str, str, str | None], change: ContextChange, before: int, after: int) -> SeenChange:
    return SeenChange(viewer=Viewer(*who), change=change, tokens_before=before, tokens_after=after)


def _found(seen: Iterable[tuple[tuple[str, str, str | None], ContextChange]]) -> tuple[Effect, ...]:
    return join_effects([_seen(who, change, 10, 20) for who, change in seen], {"path": PATHS})


def _singles(change: ContextChange) -> set[str]:
    return {
        *(f"+{one.place}" for one in change.added),
        *(f"-{one.part.place}" for one in change.removed),
        *(f"~{one.after.place}" for one in change.changed),
    }


CHANGES = {
    place: ContextChange(added=tuple(part(one, "text") for one in place)) for place in ("a", "b", "ab", "abc", "c")
}
SEEN = st.dictionaries(
    st.tuples(st.sampled_from(["codex", "executor"]), st.just("path"), st.sampled_from(PATHS))
    | st.tuples(st.sampled_from(["executor", "main"]), st.just("task"), st.sampled_from(["T1", "T2"]))
    | st.tuples(st.sampled_from(["executor", "main"]), st.just("role"), st.none()),
    st.sampled_from(sorted(CHANGES)),
)


@given(seen=SEEN)
@example(seen={})
def test_each_effect_names_exactly_who_sees_it(seen: dict[tuple[str, str, str | None], str]) -> None:
    effects = _found((who, CHANGES[which]) for who, which in seen.items())
    again = _found((who, CHANGES[which]) for who, which in reversed(list(seen.items())))
    found: dict[tuple[str, str, str | None], set[str]] = {}
    for effect in effects:
        for reader in effect.readers:
            for subject in reader.subjects or (None,):
                assert (reader.subjects == ()) is (reader.kind == "role")
                found.setdefault((reader.viewer, reader.kind, subject), set()).update(_singles(effect.change))
    assert found == {who: {f"+{place}" for place in which} for who, which in seen.items()}
    # Nothing is told twice, and nobody sees a part of an effect.
    told = [one for effect in effects for one in sorted(_singles(effect.change))]
    assert len(told) == len(set(told))
    readers = [effect.readers for effect in effects]
    assert all(first != second for first, second in itertools.combinations(readers, 2))
    assert [_singles(one.change) for one in again] == [_singles(one.change) for one in effects]
    assert [one.readers for one in again] == readers
    sizes = [sum(len(reader.subjects) or 1 for reader in effect.readers) for effect in effects]
    assert sizes == sorted(sizes, reverse=True)


def test_readers_stand_by_kind_and_name_with_their_largest_context() -> None:
    change = CHANGES["a"]
    found = [
        _seen(("executor", "path", "x.py"), change, 1, 2),
        _seen(("codex", "path", "y.py"), change, 5, 9),
        _seen(("codex", "path", "x.py"), change, 8, 3),
        _seen(("main", "task", "T1"), change, 1, 1),
        _seen(("main", "role", None), change, 1, 1),
    ]
    (effect,) = join_effects(found, {"path": PATHS})
    assert [(one.viewer, one.kind) for one in effect.readers] == [
        ("main", "role"),
        ("main", "task"),
        ("codex", "path"),
        ("executor", "path"),
    ]
    codex = effect.readers[2]
    assert (codex.subjects, codex.tokens_before, codex.tokens_after) == (("x.py", "y.py"), 5, 9)
    assert sources_of(effect) == {"project:a"}


@given(chosen=st.sets(st.sampled_from(PATHS)))
def test_short_names_mean_the_chosen_paths_and_no_other(chosen: set[str]) -> None:
    shown = compact_paths(chosen, PATHS)
    meant = {path for path in PATHS if any(_means(name, path) for name in shown)}
    assert meant == chosen
    assert len(shown) <= len(chosen)


def _means(name: str, path: str) -> bool:
    folder, stars, ending = name.partition("**")
    return path == name or (bool(stars) and path.startswith(folder) and path.endswith(ending.removeprefix("/*")))


TEXTS = st.lists(st.sampled_from(["a", "b", " ", "\n", "\r\n", "--", "++", "@@"]), max_size=12).map("".join)


@given(before=TEXTS, after=TEXTS)
@example(before="a\n", after="a \n")
@example(before="-- a\nb\n", after="b\n++ c\n")
def test_all_lines_that_differ_are_told(before: str, after: str) -> None:
    lines = line_diff(before, after)
    assert (lines == ()) is (before == after)
    if before.split() != after.split():
        gone = Counter(before.splitlines()) - Counter(after.splitlines())
        new = Counter(after.splitlines()) - Counter(before.splitlines())
        assert gone <= Counter(line[1:] for line in lines if line.startswith("-"))
        assert new <= Counter(line[1:] for line in lines if line.startswith("+"))
