"""Which rule holds, whatever order the rules come in."""

import itertools
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from aircoding.records.ids import Digest, SegmentId
from aircoding.records.layers import Layer, Scope, SegmentKind, Trust
from aircoding.records.segments import Segment, Source
from aircoding.rules.precedence import Level, directory_level, resolve


def rule(name: str, level: int, identity: str = "a.md#x", **changes) -> Segment:
    digest = Digest("0" * 64)
    base = Segment(
        segment_id=SegmentId(name),
        layer=Layer.L3,
        scope=Scope.RUN,
        trust=Trust.PROJECT,
        kind=SegmentKind.RULE,
        source=Source(uri=f"project:{name}", digest=digest, text_digest=digest),
        text=name,
        identity=identity,
        level=level,
    )
    return replace(base, **changes)


def ruled(*rules: Segment) -> list[tuple[str, str, str]]:
    answers = {
        tuple((one.winner.segment_id, one.loser.segment_id, one.why) for one in resolve(order))
        for order in itertools.permutations(rules)
    }
    assert len(answers) == 1, "the order of the rules made a difference"
    return list(answers.pop())


def test_a_later_level_overrides_the_same_identity():
    user, project = rule("u", Level.USER, trust=Trust.USER), rule("p", Level.PROJECT)
    other = rule("o", Level.TASK, identity="b.md#x")
    assert ruled(user, project, other) == [("p", "u", "project:p has the same identity (a.md#x) at a later level")]


def test_the_nearest_folder_comes_last_and_the_task_later_still():
    far, near = rule("far", directory_level(1)), rule("near", directory_level(7))
    task = rule("task", Level.TASK)
    assert [(one, other) for one, other, _ in ruled(far, near, task)] == [("task", "near"), ("task", "far")]
    assert Level.PROJECT < directory_level(1) < directory_level(2)
    assert directory_level(10_000) < Level.TASK


def test_foreign_files_add():
    assert ruled(rule("p", Level.PROJECT), rule("claude", Level.DIRECTORY, native=False)) == []


def test_an_explicit_id_overrides_across_names():
    foreign = rule("f", Level.DIRECTORY, identity="house", rule_id="house", native=False)
    assert [one[:2] for one in ruled(foreign, rule("p", Level.PROJECT, identity="house", rule_id="house"))] == [
        ("f", "p")
    ]


def test_confirmed_beats_inferred():
    (found,) = ruled(rule("yes", Level.PROJECT, confirmed=True), rule("no", Level.LEARNED))
    assert found == ("yes", "no", "project:yes was confirmed by the user, project:no was not")


def test_text_of_agents_never_overrides_higher_trust():
    agent = rule("agent", Level.LEARNED, trust=Trust.AGENT, confirmed=True)
    (found,) = ruled(rule("p", Level.PROJECT), agent)
    assert found == ("p", "agent", "text of agent trust does not override project:p")
    external = rule("ext", Level.TASK, trust=Trust.EXTERNAL)
    assert [one[:2] for one in ruled(external, agent)] == [("agent", "ext")]


def test_what_is_built_in_as_an_invariant_yields_to_nothing():
    invariant = rule("b", Level.BUILTIN, trust=Trust.BUILTIN, required=True)
    task = rule("t", Level.TASK, trust=Trust.USER, confirmed=True)
    assert ruled(invariant, task) == [("b", "t", "a.md#x is built in and yields to nothing")]
    template = replace(invariant, required=False)
    assert [one[:2] for one in ruled(template, task)] == [("t", "b")]


def test_managed_stands_between_what_is_built_in_and_the_users_own():
    managed, mine = rule("m", Level.MANAGED, trust=Trust.USER), rule("u", Level.USER, trust=Trust.USER)
    template = rule("b", Level.BUILTIN, trust=Trust.BUILTIN)
    assert [one[:2] for one in ruled(managed, mine, template)] == [("u", "m"), ("u", "b")]
    assert [one[:2] for one in ruled(managed, template)] == [("m", "b")]
    assert ruled(managed, rule("agent", Level.LEARNED, trust=Trust.AGENT))[0][:2] == ("m", "agent")


def test_equals_all_stand():
    assert ruled(rule("one", Level.PROJECT), rule("two", Level.PROJECT)) == []
    low = rule("low", Level.USER)
    assert [one[1] for one in ruled(rule("one", Level.PROJECT), rule("two", Level.PROJECT), low)] == ["low"]


RULES = st.lists(
    st.builds(
        rule,
        st.text("abcd", min_size=1, max_size=3),
        st.sampled_from([0, 1, 2, 3, 4, 9, 100, 101]),
        identity=st.sampled_from(["x", "y"]),
        trust=st.sampled_from(list(Trust)),
        native=st.booleans(),
        confirmed=st.booleans(),
        required=st.booleans(),
        rule_id=st.sampled_from([None, "x"]),
    ),
    max_size=6,
    unique_by=lambda one: one.segment_id,
)


@given(RULES, st.randoms())
@settings(max_examples=300, deadline=None)
def test_winners_stand_and_losers_yield_once(rules, random):
    rulings = resolve(rules)
    losers = [one.loser.segment_id for one in rulings]
    assert len(losers) == len(set(losers))
    assert not set(losers) & {one.winner.segment_id for one in rulings}
    shuffled = list(rules)
    random.shuffle(shuffled)
    assert resolve(shuffled) == rulings
    for one in rulings:
        assert one.winner.identity == one.loser.identity
        assert not (one.loser.trust is Trust.BUILTIN and one.loser.required) or one.winner.trust is Trust.BUILTIN
