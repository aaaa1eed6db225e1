"""What a model says of the rules: when it makes a conflict, and what it can never do."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from support.conflict_cases import conflicts_of
from support.contexts import EXECUTOR, segment, snapshot
from support.projects import effective_policy

from aircoding.context.assembler import assemble
from aircoding.context.conflicts.suspicions import suspicion_id
from aircoding.context.rule_judgement import accepted, rule_list, rules_in_force, suspicions_in
from aircoding.records.conflicts import Conflict, ConflictKind, NamedRule, Ruling, Suspicion
from aircoding.records.layers import Layer, Scope, SegmentKind, Trust
from aircoding.records.manifest import AssembledContext
from aircoding.records.segments import Segment
from aircoding.records.snapshot import Snapshot

SINGLE = "Keep every pull request to a single commit."
STEPS = "Commit each step on its own, so that reviewers can follow a change."


def rule(text: str, uri: str, *, scope: Scope = Scope.RUN, **more: object) -> Segment:
    return segment(text, layer=Layer.L3, scope=scope, kind=SegmentKind.RULE, uri=uri, **more)


ONE = rule(f"# Pull requests\n\n- {SINGLE}\n", "project:a.md")
OTHER = rule(f"{STEPS}\n", "project:b.md", level=4)


def suspicion(
    one: str = SINGLE, other: str = STEPS, *, at: tuple[str, str] = ("project:a.md", "project:b.md")
) -> Suspicion:
    return Suspicion(
        one=NamedRule(place=at[0], words=one),
        other=NamedRule(place=at[1], words=other),
        subject="commits",
        why="One commit is not several.",
        model="m-1",
    )


def told(*segments: Segment, says: Suspicion | None = None, **more: object) -> Snapshot:
    return replace(snapshot(*segments, **more), suspicions=(says or suspicion(),))  # type: ignore[arg-type]


def assembled(given_: Snapshot) -> AssembledContext:
    context = assemble(given_)
    assert isinstance(context, AssembledContext)
    return context


def test_two_rules_of_the_prompt_make_an_open_conflict_that_names_the_model() -> None:
    assert not conflicts_of(snapshot(ONE, OTHER)), "code does not see this one"

    (conflict,) = conflicts_of(told(ONE, OTHER))

    assert (conflict.kind, conflict.state, conflict.blocking) == (ConflictKind.USER_RULE, "open", False)
    assert (conflict.winner, conflict.ruled_by, conflict.route) == (None, None, "experience_miner")
    assert conflict.parties == (ONE.segment_id, OTHER.segment_id)
    assert conflict.conflict_id == suspicion_id(suspicion())
    assert conflict.detail == (
        f"found by the model m-1, on commits: project:a.md:3 says `{SINGLE}` and project:b.md:1 says `{STEPS}`;"
        " One commit is not several."
    )


def test_the_id_outlives_edits_elsewhere_and_the_order_of_the_two() -> None:
    says = suspicion()
    turned = replace(says, one=says.other, other=says.one, why="Other words.")
    moved = rule(f"More.\n\nAnd more.\n\n{STEPS}\n", "project:b.md", level=4)

    names = {
        one.conflict_id for each in (told(ONE, OTHER), told(ONE, moved, says=turned)) for one in conflicts_of(each)
    }

    assert names == {suspicion_id(says)}


def test_it_is_no_conflict_where_a_rule_is_not_in_the_prompt_or_its_words_are_gone() -> None:
    assert not conflicts_of(told(ONE))
    assert not conflicts_of(told(ONE, rule("Commit what works.", "project:b.md")))
    assert not conflicts_of(told(ONE, OTHER, says=suspicion(at=("project:a.md", "project:c.md"))))
    assert not conflicts_of(told(ONE, OTHER, says=suspicion(SINGLE, SINGLE, at=("project:a.md", "project:a.md"))))


def test_text_that_rules_nothing_makes_none() -> None:
    assert not conflicts_of(told(ONE, replace(OTHER, trust=Trust.EXTERNAL)))


def test_rules_for_paths_that_cannot_meet_do_not_contradict() -> None:
    web, api = (replace(one, paths=(glob,)) for one, glob in ((ONE, "web/**"), (OTHER, "api/**")))
    apart = replace(told(web, api), touched_paths=("web/a", "api/a"))
    met = replace(told(web, replace(api, paths=("**/a",))), touched_paths=("web/a", "api/a"))

    assert not conflicts_of(apart)
    assert len(conflicts_of(met)) == 1


def test_two_sentences_of_one_rule_are_told_apart_by_their_lines() -> None:
    both = rule(f"{SINGLE}\n\n{STEPS}\n", "project:a.md")

    (conflict,) = conflicts_of(told(both, says=suspicion(at=("project:a.md", "project:a.md"))))

    assert set(conflict.parties) == {"project:a.md:1", "project:a.md:3"}


def test_more_or_less_of_the_same_words_is_the_same_contradiction() -> None:
    shorter = suspicion(SINGLE, "Commit each step on its own")
    both = replace(told(ONE, OTHER), suspicions=(suspicion(), shorter))

    (conflict,) = conflicts_of(both)

    assert conflict.conflict_id == suspicion_id(suspicion())
    assert not accepted(told(ONE, OTHER), (shorter,))


def test_what_code_has_found_is_not_said_again() -> None:
    tabs = rule("Always use tabs for indentation.", "project:a.md")
    blanks = rule("- Use spaces for indentation.", "project:b.md")
    by_code = conflicts_of(snapshot(tabs, blanks))

    assert len(by_code) == 1
    for words in ("Use spaces for indentation.", "- Use spaces for indentation."):
        assert conflicts_of(told(tabs, blanks, says=suspicion("Always use tabs for indentation.", words))) == by_code


def test_a_policy_holds_whatever_the_model_says_of_it() -> None:
    denied = rule("Run `sudo make install` first.", "project:b.md")
    policy = effective_policy(EXECUTOR, None)
    by_code = conflicts_of(replace(snapshot(ONE, denied), policy=policy))
    says = suspicion(SINGLE, "Run `sudo make install` first.")

    assert [one.kind for one in by_code] == [ConflictKind.POLICY]
    assert conflicts_of(replace(told(ONE, denied, says=says), policy=policy)) == by_code


def test_a_ruling_takes_the_loser_out() -> None:
    ruling = Ruling(
        conflict_id=suspicion_id(suspicion()),
        ruling="small commits",
        winner=OTHER.segment_id,
        ruled_by="user",
        ruled_at="2026-11-30T11:00:00Z",
    )

    context = assembled(replace(told(ONE, OTHER), rulings=(ruling,)))

    assert SINGLE not in str(context.request)
    assert STEPS in str(context.request)
    (conflict,) = context.conflicts
    assert (conflict.state, conflict.ruled_by, conflict.winner) == ("ruled", "user", OTHER.segment_id)


def answer(one: str, one_words: str, other: str, other_words: str) -> dict[str, object]:
    parts = {"one": {"rule": one, "words": one_words}, "other": {"rule": other, "words": other_words}}
    return {"contradictions": [{**parts, "subject": "commits", "why": "One commit is\nnot several."}]}


def test_an_answer_counts_as_far_as_it_names_rules_that_there_are() -> None:
    given_ = snapshot(ONE, OTHER)
    rules = rules_in_force(given_)
    first, second = (line.split(":")[0].removeprefix("- ") for line in rule_list(rules).splitlines())

    good = suspicions_in(answer(first, SINGLE, second, STEPS), rules, "m-1")
    (found,) = accepted(given_, good)
    assert found.suspicion == suspicion(), "the line break in the reason is gone"
    assert found.conflict.conflict_id == suspicion_id(suspicion())
    assert not suspicions_in(answer(first, SINGLE, "R-nothing", STEPS), rules, "m-1")
    misquoted = suspicions_in(answer(first, "Keep every pull request small.", second, STEPS), rules, "m-1")
    assert misquoted
    assert not accepted(given_, misquoted)


PIECES = [SINGLE, STEPS, "Keep every", "single commit.\n", "# Pull requests", "Commit each  step", "-", "["]
WORDS = st.sampled_from(PIECES) | st.text(st.characters(codec="utf-8"), max_size=30)


@given(WORDS, WORDS, st.sampled_from(["project:a.md", "project:b.md"]))
def test_whatever_a_model_says_only_open_user_rule_conflicts_can_come_of_it(one: str, other: str, place: str) -> None:
    before = conflicts_of(snapshot(ONE, OTHER))

    after = conflicts_of(told(ONE, OTHER, says=suspicion(one, other, at=("project:a.md", place))))

    new: list[Conflict] = [conflict for conflict in after if conflict not in before]
    assert set(before) <= set(after)
    assert all((one.kind, one.state, one.blocking) == (ConflictKind.USER_RULE, "open", False) for one in new)
