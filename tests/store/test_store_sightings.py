"""The database answers as the pure functions do: who saw a segment, what became of a candidate, where it came in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import count

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.contexts import message, segment, snapshot
from support.records import run
from support.stores import empty_store

from aircoding.audit.considerations import Consideration, consideration, why_not
from aircoding.audit.sightings import sightings
from aircoding.audit.subjects import matches
from aircoding.audit.witnesses import summary, who_saw
from aircoding.context.assembler import assemble
from aircoding.context.freezing import frozen_from
from aircoding.records.ids import SegmentId
from aircoding.records.layers import Layer, SegmentKind
from aircoding.records.manifest import AssembledContext, Manifest, SegmentRecord
from aircoding.records.segments import Segment
from aircoding.store import Store
from aircoding.store.sightings import Named
from aircoding.store.verdicts import SubjectRows, count_verdicts
from aircoding.store.within import Within

_SUBJECTS = (
    "project:rules.md",
    "rules.md",
    "rules.md#size",
    "web/rules.md",
    "size",
    "air:clock",
    "clock",
    "no-such-thing",
)


_BEGAN = {"r1": "2026-11-30T12:00:00.000000Z", "r2": "2026-12-01T12:00:00.000000Z"}


@dataclass(frozen=True)
class Turn:
    """One session's plan: how its task reads, and the words of its rules in each epoch."""

    run: int
    task: int
    role: str
    touched: bool
    words: tuple[int, ...]


def _rule(path: str, name: str, word: int, *, scoped: bool) -> Segment:
    text = f"Mind the {name} of {word}."
    made = segment(
        text,
        layer=Layer.L3,
        kind=SegmentKind.RULE,
        uri=f"project:{path}",
        rule_id=f"{path.rsplit('/', 1)[-1]}#{name}",
        paths=("docs/**",) if scoped else (),
        paths_line=3 if scoped else None,
    )
    digest = made.source.text_digest[:8]
    return replace(made, segment_id=SegmentId(f"L3:project:{path}#{name}@{digest}"))


def _record(store: Store, plan: Turn, number: int) -> list[Manifest]:
    """Record one session: an epoch of two turns for each of its words."""
    found, turn = [], 0
    for epoch, word in enumerate(plan.words, start=1):
        rules = (
            _rule("rules.md", "size", word, scoped=False),
            _rule("rules.md", "tabs", 1, scoped=True),
            _rule("web/rules.md", "size", 1, scoped=word == 2),
        )
        frozen = None
        for _ in range(2):
            turn += 1
            asked = snapshot(*rules, touched_paths=("docs/a.md",) if plan.touched else ())
            request = replace(
                asked.request,
                run_id=f"r{plan.run}",
                session_id=f"r{plan.run}:T{plan.task}:1:{plan.role}:{number}",
                task_id=f"T{plan.task}" if plan.task else None,
                role=plan.role,
                turn=turn,
                epoch=epoch,
            )
            said = (message(0, "user", {"type": "text", "text": f"word {word}"}),) if frozen else ()
            asked = replace(asked, request=request, frozen=frozen, messages=said)
            context = assemble(asked)
            assert isinstance(context, AssembledContext)
            store.assemblies.record(context, snapshot=asked)
            frozen = frozen_from(context)
            found.append(context.manifest)
    return found


_turns = st.builds(
    Turn,
    run=st.integers(1, 2),
    task=st.integers(0, 2),
    role=st.sampled_from(["executor", "reviewer"]),
    touched=st.booleans(),
    words=st.lists(st.integers(1, 2), min_size=1, max_size=2).map(tuple),
)


_within = st.builds(
    Within,
    run_id=st.sampled_from([None, None, "r1"]),
    task_id=st.sampled_from([None, None, "T1"]),
    role=st.sampled_from([None, None, "executor"]),
    session_id=st.sampled_from([None, None, "r1:T1:1:executor:1", "r1:T1:1:executor:2", "r2:T2:1:reviewer:2"]),
    since=st.sampled_from([None, None, "2026-12-01T00:00:00.000000Z"]),
)


def _asked(manifests: Sequence[Manifest], within: Within) -> list[Manifest]:
    """The manifests that are within, by the words of `Within` itself."""
    return [
        one
        for one in manifests
        if within.run_id in {None, one.run_id}
        and within.task_id in {None, one.task_id}
        and within.role in {None, one.role}
        and within.session_id in {None, one.session_id}
        and (within.since or "") <= _BEGAN[one.run_id]
    ]


@contextmanager
def _recorded(plans: Sequence[Turn]) -> Iterator[tuple[Store, list[Manifest]]]:
    numbers = count(1)
    with empty_store() as store:
        for run_id, created_at in _BEGAN.items():
            store.runs.create(run(run_id, created_at=created_at))
        yield store, [manifest for plan in plans for manifest in _record(store, plan, next(numbers))]


_TWICE = Turn(1, 1, "executor", touched=True, words=(1,))
"""A worker whose two sessions saw other things."""


def _meant(named: Sequence[Named], subject: str) -> frozenset[int]:
    return frozenset(one.number for one in named if matches(subject, one.uri, one.rule_id, one.segment_id))


def _told(store: Store, subject: str, within: Within) -> tuple[tuple[Consideration, ...], int]:
    numbers = _meant(store.sightings.outcomes_named(subject), subject)
    groups, total, sessions = store.sightings.outcome_groups(numbers, within)
    assert total == len(groups)
    told = (consideration(one.newest, sessions=one.sessions, runs=one.runs, variants=one.variants) for one in groups)
    return tuple(told), sessions


@pytest.mark.moves_cache_prefix("each epoch begins with other words")
@given(st.lists(_turns, min_size=1, max_size=4), st.sampled_from(_SUBJECTS), _within)
@settings(deadline=None, max_examples=20)
def test_the_database_groups_outcomes_as_the_pure_function_does(
    plans: list[Turn], subject: str, within: Within
) -> None:
    with _recorded(plans) as (store, manifests):
        told, sessions = _told(store, subject, within)
    expected = why_not(sightings(_asked(manifests, within)).outcomes, subject)

    assert told == expected
    assert sessions == sum(one.sessions for one in expected)


@pytest.mark.moves_cache_prefix("each epoch begins with other words")
@given(st.lists(_turns, min_size=1, max_size=4), st.sampled_from(_SUBJECTS), st.sampled_from(["", "1", "2"]), _within)
@example([_TWICE, replace(_TWICE, touched=False)], "rules.md#tabs", "", Within(session_id="r1:T1:1:executor:2"))
@settings(deadline=None, max_examples=20)
def test_the_database_counts_witnesses_as_the_pure_function_does(
    plans: list[Turn], subject: str, version: str, within: Within
) -> None:
    digest = _rule("rules.md", "size", int(version), scoped=False).source.text_digest if version else None
    with _recorded(plans) as (store, manifests):
        named = store.sightings.segments_named(subject)
        segments = _meant(named, subject)
        other = {one.number for one in named if one.text_digest != digest}
        rows = SubjectRows(
            segments=segments,
            outcomes=_meant(store.sightings.outcomes_named(subject), subject),
            version=None if digest is None else segments - other,
            stale=segments & other if digest is not None else (),
        )
        verdicts = store.sightings.verdicts(rows, within)
        counts = count_verdicts(verdicts)
        workers = store.sightings.workers([one.worker for one in verdicts], within)
        seen, told = store.sightings.of_workers(workers, rows.segments, rows.outcomes)

    def is_stale(record: SegmentRecord) -> bool:
        return digest is not None and record.source.text_digest != digest

    everything = sightings(_asked(manifests, within))
    ordered = sorted(everything.workers, key=lambda one: (-int(one.run_id[1:]), one.task_id or "", one.role))
    expected = who_saw(ordered, everything.segments, everything.outcomes, subject, digest=digest, is_stale=is_stale)
    counted = summary(expected)

    assert workers == tuple(ordered)
    assert who_saw(workers, seen, told, subject, digest=digest, is_stale=is_stale) == expected
    assert [(one.worker, one.verdict, one.stale) for one in verdicts] == [
        (worker.key, one.verdict, one.stale) for worker, one in zip(ordered, expected, strict=True)
    ]
    for name in ("seen", "part", "missed", "other", "never"):
        assert sum(one.workers for one in counts if one.verdict == name) == getattr(counted, name)
    assert sum(one.stale for one in counts) == counted.stale
    by_reason = {one.reason: one.workers for one in counts if one.verdict == "missed"}
    assert by_reason == counted.reasons


@pytest.fixture
def fleet(store: Store) -> Store:
    """Two runs: two executors of which one saw the scoped rule, and a reviewer."""
    store.runs.create(run("r1"))
    store.runs.create(run("r2", created_at="2026-12-01T12:00:00Z"))
    for number, (run_number, task, role, touched) in enumerate(
        [(1, 1, "executor", True), (1, 2, "executor", False), (2, 1, "reviewer", True)], start=1
    ):
        _record(store, Turn(run_number, task, role, touched=touched, words=(1,)), number)
    return store


def test_both_databases_count_the_same(fleet: Store) -> None:
    named = fleet.sightings.segments_named("rules.md#tabs")
    rows = SubjectRows(
        segments=_meant(named, "rules.md#tabs"),
        outcomes=_meant(fleet.sightings.outcomes_named("rules.md#tabs"), "rules.md#tabs"),
    )
    told, sessions = _told(fleet, "rules.md#tabs", Within())
    places, times, in_sessions = fleet.sightings.places(rows.segments, limit=1)

    assert fleet.sightings.newest_run() == "r2"
    verdicts = fleet.sightings.verdicts(rows)
    assert [(one.worker, one.verdict, one.reason) for one in verdicts] == [
        (("r2", "T1", "reviewer"), "seen", ""),
        (("r1", "T1", "executor"), "seen", ""),
        (("r1", "T2", "executor"), "missed", "path_not_matched"),
    ]
    assert [one.workers for one in count_verdicts(verdicts)] == [2, 1]
    assert [one.key for one in fleet.sightings.workers([verdicts[2].worker])] == [("r1", "T2", "executor")]
    assert [(one.outcome.outcome, one.sessions, one.runs) for one in told] == [("omitted", 1, 1), ("included", 2, 2)]
    assert sessions == 3
    assert ([one.run_id for one in places], times, in_sessions) == (["r2"], 2, 2)
    assert len(fleet.sightings.last_of_epochs()) == 3
    assert len(fleet.sightings.last_of_epochs(Within(since="2026-12-01T00:00:00.000000Z"))) == 1
    assert fleet.sightings.last_of_epochs(Within(since="2026-12-02T00:00:00.000000Z")) == ()
