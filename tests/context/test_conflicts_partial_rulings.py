"""A ruling on one sentence takes nothing else from a session: the text stays, and the session is told what holds."""

from __future__ import annotations

import pytest
from support.conflict_cases import conflicts_of
from support.contexts import message, segment, snapshot

from aircoding.context.assembler import assemble
from aircoding.context.freezing import frozen_from
from aircoding.records.conflicts import Conflict, Ruling
from aircoding.records.layers import Layer, Scope, SegmentKind, Trust
from aircoding.records.manifest import AssembledContext
from aircoding.records.segments import Segment, place_of
from aircoding.records.snapshot import Snapshot
from aircoding.rules.sentences import is_one_statement

AGAINST = "Never use semicolons."


def rule(text: str, uri: str, **more: object) -> Segment:
    given: dict[str, object] = {"scope": Scope.RUN, "level": 3} | more
    return segment(text, layer=Layer.L3, kind=SegmentKind.RULE, uri=uri, **given)  # type: ignore[arg-type]


def ruled(conflict: Conflict, winner: str | None, **more: object) -> Ruling:
    at = "2026-11-30T11:00:00Z"
    return Ruling(
        conflict_id=conflict.conflict_id,
        ruling="we agreed so",
        winner=winner,
        ruled_by="ann",
        ruled_at=at,
        **more,  # type: ignore[arg-type]
    )


def assembled(given: Snapshot) -> AssembledContext:
    context = assemble(given)
    assert isinstance(context, AssembledContext)
    return context


def session_text(context: AssembledContext) -> str:
    return "".join(block["text"] for block in context.messages[0]["content"])


def overridden_uris(context: AssembledContext) -> list[str]:
    return [note.uri for note in context.omissions if note.reason == "overridden"]


@pytest.mark.parametrize(
    "text",
    [
        "Always use semicolons.\nNever log passwords.",
        "# Style\n\n- Always use semicolons.\n- Never log passwords.",
        "Always use semicolons; never log passwords.",
        "Always use semicolons.\n\n```sh\nmake test\n```",
        "Always use semicolons.\n\n| log | passwords |",
    ],
)
def test_a_text_that_says_more_than_what_lost_stays_and_the_session_is_told(text: str) -> None:
    more, against = rule(text, "project:a.md"), rule(AGAINST, "project:b.md")
    (conflict,) = conflicts_of(snapshot(more, against))

    context = assembled(snapshot(more, against, rulings=(ruled(conflict, against.segment_id),)))

    assert overridden_uris(context) == []
    assert text in context.system[-1]["text"]
    assert "ann ruled on a contradiction on semicolons: project:a.md:" in session_text(context)
    assert "The second of the two holds, the first does not. we agreed so" in session_text(context)
    (told,) = [one for one in context.manifest.segments if one.kind is SegmentKind.DECISION]
    assert (told.layer, told.scope, told.trust, told.required) == (Layer.L7, Scope.SESSION, Trust.USER, True)


def test_a_required_rule_stays_also_where_it_is_all_that_lost() -> None:
    required, against = rule("Always use semicolons.", "project:a.md", required=True), rule(AGAINST, "project:b.md")
    (conflict,) = conflicts_of(snapshot(required, against))

    context = assembled(snapshot(required, against, rulings=(ruled(conflict, against.segment_id),)))

    assert overridden_uris(context) == []
    assert "the first does not" in session_text(context)


def test_the_shared_prefix_is_the_same_with_and_without_the_ruling_that_is_told() -> None:
    more, against = rule("Always use semicolons.\nAlways test.", "project:a.md"), rule(AGAINST, "project:b.md")
    (conflict,) = conflicts_of(snapshot(more, against))

    before = assembled(snapshot(more, against))
    after = assembled(snapshot(more, against, rulings=(ruled(conflict, against.segment_id),)))

    assert after.system == before.system


def test_only_a_session_that_holds_both_texts_is_told() -> None:
    more, against = rule("Always use semicolons.\nAlways test.", "project:a.md"), rule(AGAINST, "project:b.md")
    (conflict,) = conflicts_of(snapshot(more, against))
    ruling = ruled(conflict, against.segment_id)

    assert "ruled on" in session_text(assembled(snapshot(more, against, rulings=(ruling,))))
    assert "ruled on" not in session_text(assembled(snapshot(more, rulings=(ruling,))))


def test_two_sentences_of_one_text_both_stay_and_the_session_is_told_which_holds() -> None:
    both = rule("Always use semicolons.\nNever use semicolons.", "project:a.md")
    (conflict,) = conflicts_of(snapshot(both))

    context = assembled(snapshot(both, rulings=(ruled(conflict, "project:a.md:2"),)))

    assert overridden_uris(context) == []
    assert "project:a.md:2 says `Never use semicolons.`. The second of the two holds" in session_text(context)


def test_a_contradiction_of_a_text_that_was_taken_out_is_not_listed_as_standing() -> None:
    lost, winner = rule("Use tabs over spaces.", "project:a.md"), rule("Prefer spaces over tabs.", "project:b.md")
    third = rule("Use spaces for indentation.\nAlways test.", "project:c.md")
    found = conflicts_of(snapshot(lost, winner, third))
    between = next(one for one in found if set(one.parties) == {lost.segment_id, winner.segment_id})
    assert any(set(one.parties) == {lost.segment_id, third.segment_id} for one in found)

    context = assembled(snapshot(lost, winner, third, rulings=(ruled(between, winner.segment_id),)))

    assert overridden_uris(context) == ["project:a.md"]
    assert [(one.conflict_id, one.state) for one in context.conflicts] == [(between.conflict_id, "ruled")]


def test_a_rule_that_comes_late_brings_the_ruling_on_it_once() -> None:
    shared = rule("Always use semicolons.\nAlways test.", "project:a.md")
    late = rule(AGAINST, "project:docs/b.md", scope=Scope.SESSION, paths=("docs/**",))
    (conflict,) = conflicts_of(snapshot(shared, late, touched_paths=("docs/x.md",)))
    rulings = (ruled(conflict, late.segment_id),)
    first = assembled(snapshot(shared, late, rulings=rulings))

    def turn(number: int, before: AssembledContext) -> AssembledContext:
        said = []
        for place in range(1, number):
            call = {"type": "tool_use", "id": f"t{place}", "name": "fs_read", "input": {"path": "docs/x.md"}}
            back = {"type": "tool_result", "tool_use_id": f"t{place}", "content": [{"type": "text", "text": "x"}]}
            said += [message(2 * place - 2, "assistant", call), message(2 * place - 1, "user", back)]
        more = {"turn": number, "messages": tuple(said), "touched_paths": ("docs/x.md",)}
        return assembled(snapshot(shared, late, rulings=rulings, frozen=frozen_from(before), **more))

    second = turn(2, first)
    third = turn(3, second)

    def told(context: AssembledContext) -> list[str]:
        places = [place_of(one.segment_id) for one in context.manifest.segments]
        return [place for place in places if place.startswith("L7:air:conflict/")]

    assert (len(told(first)), len(told(second)), len(told(third))) == (0, 1, 1)


@pytest.mark.parametrize(
    ("text", "alone"),
    [
        ("Use tabs.", True),
        ("# Style\n\n- Use tabs\n  for indentation.\n", True),
        ("Use tabs and log nothing.", False),
        ("Use tabs. Log nothing.", False),
        ("Use tabs (not in Makefiles).", False),
        ("# Style\n", False),
    ],
)
def test_what_is_one_statement(text: str, alone: bool) -> None:
    assert is_one_statement(text) is alone
