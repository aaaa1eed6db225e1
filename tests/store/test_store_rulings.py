"""Rulings are kept and the newest counts; conflicts and omissions of a run are found again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from support.contexts import LIMITS, segment, snapshot
from support.records import run

from aircoding.app.rulings import suspicions_of
from aircoding.context.assembler import assemble
from aircoding.context.conflicts.suspicions import suspicion_id
from aircoding.context.rule_judgement import accepted
from aircoding.records.conflicts import NamedRule, Suspicion
from aircoding.records.events import Event
from aircoding.records.ids import RunId
from aircoding.records.jsonable import jsonable
from aircoding.records.layers import Layer, Scope, SegmentKind
from aircoding.records.manifest import AssembledContext
from aircoding.records.snapshot import Snapshot
from aircoding.records.tasks import Adr
from aircoding.store import Store

ADR = Adr(id="ADR-1", status="accepted", title="A", interfaces=("src/a.py",), supersedes=(), uri="project:adr/1.md")


def rule(text: str, uri: str):
    return segment(text, layer=Layer.L3, scope=Scope.RUN, kind=SegmentKind.RULE, uri=uri)


def record(store: Store, given: Snapshot, run_id: str, task: str, role: str = "executor") -> AssembledContext:
    asked = replace(given.request, run_id=run_id, session_id=f"{run_id}:{task}:1:{role}:1", task_id=task, role=role)
    given = replace(given, request=asked)
    context = assemble(given)
    assert isinstance(context, AssembledContext)
    store.assemblies.record(context, snapshot=given)
    return context


def test_the_newest_ruling_that_counts_for_a_run_is_returned(store: Store, opener: Callable[[], Store]) -> None:
    store.rulings.rule("c-1", run_id=None, ruling="first", winner="a", by="user")
    store.rulings.rule("c-1", run_id=None, ruling="second", winner="b", by="user")
    store.rulings.rule("c-1", run_id="r2", ruling="for r2", winner="a", by="user")
    store.rulings.rule("c-2", run_id="r1", ruling="for r1", winner=None, by="user")

    def ruled(run_id: str | None) -> list[tuple[str, str, str | None]]:
        return [(one.conflict_id, one.ruling, one.winner) for one in opener().rulings.rulings(run_id)]

    assert ruled(None) == [("c-1", "second", "b")]
    assert ruled("r1") == [("c-1", "second", "b"), ("c-2", "for r1", None)]
    assert ruled("r2") == [("c-1", "for r2", "a")]


def test_a_ruling_knows_whether_it_stood_when_the_run_began(store: Store) -> None:
    store.runs.create(run("before", created_at="2000-01-01T00:00:00.000000Z"))
    store.runs.create(run("after", created_at="2999-01-01T00:00:00.000000Z"))
    store.rulings.rule("c-1", run_id=None, ruling="so", winner=None, by="user")

    assert [one.before_run for one in store.rulings.rulings("before")] == [False]
    assert [one.before_run for one in store.rulings.rulings("after")] == [True]
    assert [one.before_run for one in store.rulings.rulings()] == [True]


def test_conflicts_of_a_run_stand_once_with_their_tasks_and_roles(store: Store) -> None:
    tabs, blanks = rule("Use tabs.", "project:a.md"), rule("Use spaces.", "project:b.md")
    record(store, snapshot(tabs, blanks, adrs=(ADR,)), "r1", "T1")
    record(store, snapshot(tabs, blanks), "r1", "T2", "reviewer")
    record(store, snapshot(tabs, blanks), "r2", "T9")

    found = store.rulings.conflicts("r1")
    assert [(one.conflict.kind, one.tasks, one.roles) for one in found] == [
        ("architecture", ("T1",), ("executor",)),
        ("user_rule", ("T1", "T2"), ("executor", "reviewer")),
    ]
    assert found[0].conflict.blocking
    assert [(one.run_id, one.tasks) for one in store.rulings.conflicts()][2:] == [("r2", ("T9",))]
    assert store.rulings.conflicts("r3") == ()


def test_rulings_stand_in_the_snapshot_and_come_back_with_it(store: Store) -> None:
    given = snapshot(adrs=(ADR,))
    context = assemble(given)
    assert isinstance(context, AssembledContext)
    (conflict,) = context.conflicts
    ruling = store.rulings.rule(
        conflict.conflict_id, run_id=None, ruling="granted", winner=conflict.parties[0], by="user"
    )
    baselines = {"project:src/a.py": given.policy.digest}
    recorded = record(store, replace(given, rulings=(ruling,), baselines=baselines), "r1", "T1")

    kept = store.assemblies.snapshot(recorded.manifest_id)
    assert kept.rulings == (ruling,)
    assert kept.baselines == baselines
    assert [(one.state, one.ruled_by) for one in store.assemblies.get(recorded.manifest_id).conflicts] == [
        ("ruled", "user")
    ]


def test_what_was_left_out_for_space_is_told_largest_first(store: Store) -> None:
    files = [segment(f"text{n} " * (900 - n), uri=f"project:src/f{n}.py") for n in range(12)]
    record(store, snapshot(*files, limits=replace(LIMITS, window_tokens=14_000)), "r1", "T1")

    left_out = store.rulings.left_out("r1")
    assert left_out
    assert {(one.task_id, one.role) for one in left_out} == {("T1", "executor")}
    assert [one.tokens for one in left_out] == sorted((one.tokens for one in left_out), reverse=True)
    assert store.rulings.left_out("r2") == ()


def judged(store: Store, run_id: str, *pairs: tuple[str, str]) -> list[str]:
    """Record what the model found in a run, and return the ids."""
    rules = {name: rule(f"Text of {name}.", f"project:{name}.md") for name in "abc"}
    said = tuple(
        Suspicion(
            one=NamedRule(place=f"project:{one}.md", words=f"Text of {one}."),
            other=NamedRule(place=f"project:{other}.md", words=f"Text of {other}."),
            subject="texts",
            why="They differ.",
            model="m-1",
        )
        for one, other in pairs
    )
    found = accepted(snapshot(*rules.values()), said)
    payload = {"status": "done", "found": jsonable(found)}
    store.events.append(
        Event(run_id=RunId(run_id), type="conflict.judged", at="2026-11-30T12:00:00Z", payload=payload, key="j")
    )
    record(store, replace(snapshot(rules["a"], rules["b"]), suspicions=said), run_id, "T1")
    return [one.conflict.conflict_id for one in found]


def test_what_a_model_found_is_a_conflict_of_its_run_whether_a_prompt_has_both_rules_or_not(store: Store) -> None:
    store.runs.create(run("r1"))
    store.runs.create(run("r2"))
    names = judged(store, "r1", ("a", "b"), ("b", "c"))
    assert len(names) == 2

    found = {one.conflict.conflict_id: one for one in store.rulings.conflicts("r1")}

    assert set(found) == set(names)
    assert sorted(one.tasks for one in found.values()) == [(), ("T1",)]
    assert [one.conflict.conflict_id for one in store.rulings.judged("r1")] == names
    assert not store.rulings.judged("r2")
    assert not store.rulings.conflicts("r2")
    assert len(store.rulings.judged()) == 2


def test_a_ruling_brings_what_a_model_found_into_other_runs(store: Store) -> None:
    store.runs.create(run("r1"))
    store.runs.create(run("r2"))
    first, second = judged(store, "r1", ("a", "b"), ("b", "c"))
    suspected = suspicions_of(store)

    assert not suspected("r2")
    store.rulings.rule(first, run_id=None, ruling="so", winner=None, by="user")
    store.rulings.rule(second, run_id="r1", ruling="only there", winner=None, by="user")

    assert [suspicion_id(one) for one in suspected("r2")] == [first]
    assert {suspicion_id(one) for one in suspected("r1")} == {first, second}
