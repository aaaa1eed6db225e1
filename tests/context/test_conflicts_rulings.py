"""Who wins, what stays the same from turn to turn, and what a person's ruling does."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
from support.conflict_cases import conflicts_of, load_cases
from support.contexts import EXECUTOR, LIMITS, TASK, message, segment, snapshot
from support.projects import effective_policy

from aircoding.agents.results import open_conflict
from aircoding.context.assembler import assemble
from aircoding.context.conflicts.user_rules import user_rule_conflicts
from aircoding.context.freezing import frozen_from
from aircoding.records.conflicts import Conflict, Ruling
from aircoding.records.layers import Layer, OutcomeKind, Reason, Scope, SegmentKind, Trust
from aircoding.records.manifest import AssembledContext
from aircoding.records.segments import Segment
from aircoding.records.snapshot import Snapshot
from aircoding.records.tasks import Adr

ADR = Adr(id="ADR-1", status="accepted", title="A", interfaces=("src/a.py",), supersedes=(), uri="project:adr/1.md")


def rule(text: str, uri: str, *, level: int = 3, scope: Scope = Scope.RUN, **more: object) -> Segment:
    return segment(text, layer=Layer.L3, scope=scope, kind=SegmentKind.RULE, uri=uri, level=level, **more)


def wish(text: str, session: str = "r1:T1:1:executor:1") -> Segment:
    return segment(
        text,
        layer=Layer.L9,
        scope=Scope.TURN,
        kind=SegmentKind.INSTRUCTION,
        trust=Trust.USER,
        uri=f"air:session/{session}/instruction",
    )


def ruled(conflict: Conflict, winner: str | None, **more: object) -> Ruling:
    return Ruling(
        conflict_id=conflict.conflict_id,
        ruling="we agreed so",
        winner=winner,
        ruled_by="user",
        ruled_at="2026-11-30T11:00:00Z",
        **more,  # type: ignore[arg-type]
    )


def assembled(given: Snapshot) -> AssembledContext:
    context = assemble(given)
    assert isinstance(context, AssembledContext)
    return context


TABS = rule("Always use tabs for indentation.", "project:a.md")
BLANKS = rule("Use spaces for indentation.", "project:b.md")


def test_the_latest_instruction_of_the_user_wins() -> None:
    (conflict,) = conflicts_of(snapshot(TABS, wish("Use spaces for indentation.")))

    assert conflict.ruled_by == "instruction"
    assert conflict.winner is not None
    assert conflict.winner.startswith("L9:air:session/")
    assert conflict.ruling == "the latest instruction of the user holds for this session"
    assert (conflict.state, conflict.blocking, conflict.route) == ("ruled", False, "experience_miner")


def test_the_later_level_wins_between_rules_and_nobody_between_equals() -> None:
    (conflict,) = conflicts_of(snapshot(TABS, replace(BLANKS, level=4)))
    (equal,) = conflicts_of(snapshot(TABS, BLANKS))

    assert conflict.winner == BLANKS.segment_id
    assert "project:b.md:1 is the later or nearer rule" in conflict.ruling
    assert (equal.winner, equal.state, equal.blocking) == (None, "open", False)


def test_a_confirmed_rule_wins_over_a_later_one() -> None:
    (conflict,) = conflicts_of(snapshot(replace(TABS, confirmed=True), replace(BLANKS, level=4)))

    assert conflict.winner == TABS.segment_id
    assert conflict.ruling == "project:a.md:1 was confirmed by the user and holds"


def test_an_id_outlives_other_lines_other_sessions_and_the_order_of_files() -> None:
    moved = rule("Some words.\n\nAlways use tabs for indentation.", "project:a.md")
    before = conflicts_of(snapshot(TABS, BLANKS))
    after = conflicts_of(snapshot(BLANKS, moved))
    said = conflicts_of(snapshot(TABS, wish("Use spaces for indentation.")))
    again = conflicts_of(snapshot(moved, wish("Use spaces for indentation.", "r2:T7:2:executor:1")))

    assert [one.conflict_id for one in before] == [one.conflict_id for one in after]
    assert [one.conflict_id for one in said] == [one.conflict_id for one in again]
    assert before[0].conflict_id == "c-user_rule-" + before[0].conflict_id.rpartition("-")[2]
    assert before[0].conflict_id != said[0].conflict_id


def test_a_ruling_takes_the_loser_out_and_says_whose_it_is() -> None:
    (conflict,) = conflicts_of(snapshot(TABS, BLANKS))
    context = assembled(snapshot(TABS, BLANKS, rulings=(ruled(conflict, TABS.segment_id),)))

    (lost,) = [note for note in context.omissions if note.uri == "project:b.md"]
    assert (lost.outcome, lost.reason) == (OutcomeKind.OVERRIDDEN, Reason.OVERRIDDEN)
    assert lost.by == f"ruling:{conflict.conflict_id}"
    assert "we agreed so" in lost.detail
    text = "".join(block["text"] for block in context.system)
    assert "tabs" in text
    assert "spaces" not in text
    (kept,) = context.conflicts
    assert (kept.state, kept.ruled_by, kept.winner) == ("ruled", "user", TABS.segment_id)


def test_a_ruling_keeps_when_the_winner_was_edited() -> None:
    (conflict,) = conflicts_of(snapshot(TABS, BLANKS))
    edited = rule("Words.\nAlways use tabs for indentation.", "project:a.md")

    context = assembled(snapshot(edited, BLANKS, rulings=(ruled(conflict, TABS.segment_id),)))

    assert [note.by for note in context.omissions] == [f"ruling:{conflict.conflict_id}"]
    assert context.conflicts[0].winner == edited.segment_id


def test_what_all_workers_share_stays_when_the_ruling_came_in_mid_run_or_for_one_task() -> None:
    (conflict,) = conflicts_of(snapshot(TABS, BLANKS))
    late = ruled(conflict, TABS.segment_id, before_run=False)
    assert assembled(snapshot(TABS, BLANKS, rulings=(late,))).omissions == ()

    near = rule("Use spaces for indentation.", "project:src/b.md", scope=Scope.SESSION, level=4, paths=("src/**",))
    (conflict,) = conflicts_of(snapshot(TABS, near))
    shared_loses = assembled(snapshot(TABS, near, rulings=(ruled(conflict, near.segment_id),)))
    near_loses = assembled(snapshot(TABS, near, rulings=(ruled(conflict, TABS.segment_id),)))
    assert shared_loses.omissions == ()
    assert [note.uri for note in near_loses.omissions] == ["project:src/b.md"]


def test_what_the_user_says_is_never_taken_out() -> None:
    said = wish("Use spaces for indentation.")
    (conflict,) = conflicts_of(snapshot(TABS, said))
    context = assembled(snapshot(TABS, said, rulings=(ruled(conflict, TABS.segment_id),)))

    assert context.omissions == ()
    assert "Use spaces for indentation." in context.messages[0]["content"][-1]["text"]


def test_a_ruling_for_what_the_user_said_holds_in_other_sessions() -> None:
    near = rule("Always use tabs.", "project:src/a.md", scope=Scope.SESSION, paths=("src/**",))
    said, again = wish("Use spaces for indentation."), wish("Use spaces for indentation.", "r2:T1:1:executor:1")
    (conflict,) = conflicts_of(snapshot(near, said))

    context = assembled(snapshot(near, again, rulings=(ruled(conflict, said.segment_id),)))

    assert [note.uri for note in context.omissions] == ["project:src/a.md"]
    assert context.conflicts[0].winner == again.segment_id


def test_a_grant_lifts_the_block_of_a_decision() -> None:
    open_ = assembled(snapshot(adrs=(ADR,)))
    conflict = open_conflict(open_)
    assert conflict is not None

    granted = assembled(snapshot(adrs=(ADR,), rulings=(ruled(conflict, conflict.parties[0]),)))

    assert open_conflict(granted) is None
    assert [(one.state, one.ruled_by, one.ruling) for one in granted.conflicts] == [("ruled", "user", "we agreed so")]


def test_a_ruling_lets_a_request_go_to_a_model_that_lacks_something() -> None:
    limits = replace(LIMITS, tools=False)
    conflict = open_conflict(assembled(snapshot(limits=limits)))
    assert conflict is not None

    assert open_conflict(assembled(snapshot(limits=limits, rulings=(ruled(conflict, conflict.parties[0]),)))) is None


def test_no_ruling_lifts_a_policy() -> None:
    given = snapshot(rule("Run `sudo make`.", "project:a.md"), policy=effective_policy(EXECUTOR, TASK))
    (conflict,) = conflicts_of(given)

    (after,) = conflicts_of(replace(given, rulings=(ruled(conflict, conflict.parties[0]),)))

    assert after == conflict


def test_a_conflict_is_noted_once_in_an_epoch_and_a_late_rule_meets_what_was_sent() -> None:
    near = rule("Use spaces for indentation.", "project:docs/b.md", scope=Scope.SESSION, level=4, paths=("docs/**",))
    sudo = rule("Run `sudo make`.", "project:c.md")
    policy = effective_policy(EXECUTOR, TASK)
    first = assembled(snapshot(TABS, near, sudo, policy=policy))
    call = {"type": "tool_use", "id": "t1", "name": "fs_read", "input": {"path": "docs/x.md"}}
    back = {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "x"}]}
    later = snapshot(
        TABS,
        near,
        sudo,
        policy=policy,
        turn=2,
        messages=(message(0, "assistant", call), message(1, "user", back)),
        frozen=frozen_from(first),
        touched_paths=("docs/x.md",),
    )
    second = assembled(later)

    assert [one.kind for one in first.conflicts] == ["policy"]
    assert [one.kind for one in second.conflicts] == ["policy", "user_rule"]
    assert second.conflicts[1].winner == near.segment_id


def test_a_blocked_rule_contradicts_nothing() -> None:
    from aircoding.records.segments import Finding

    hit = Finding(kind="hidden", code="hidden.tags", start=0, end=3, start_line=1, end_line=1, blocks=True)
    assert conflicts_of(snapshot(TABS, replace(BLANKS, findings=(hit,)))) == ()


_RULES = [
    rule(words, f"project:{number}.md")
    for number, words in enumerate(
        text.text
        for each in load_cases()
        if each.kind == "user_rule"
        for text in each.snapshot.segments
        if text.kind is SegmentKind.RULE
    )
]


@given(st.lists(st.sampled_from(_RULES), min_size=2, max_size=12, unique_by=lambda one: one.segment_id), st.randoms())
@settings(max_examples=60, deadline=None)
def test_the_order_of_the_rules_changes_nothing(rules: list[Segment], chance: object) -> None:
    shuffled = list(rules)
    chance.shuffle(shuffled)  # type: ignore[attr-defined]
    assert user_rule_conflicts(rules) == user_rule_conflicts(shuffled)
