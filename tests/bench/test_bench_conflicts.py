"""Planted conflicts found, alarms on near misses, and what finding them costs in a prompt of 300 rules."""

from __future__ import annotations

import time
from collections import Counter
from statistics import median

import pytest
from support.conflict_cases import conflicts_of, load_cases
from support.contexts import EXECUTOR, TASK, segment, snapshot
from support.projects import effective_policy

from aircoding.context.conflicts import detect
from aircoding.context.draft import begin
from aircoding.context.selection import select
from aircoding.records.layers import Layer, Scope, SegmentKind

pytestmark = pytest.mark.bench

RULES = 300


def test_planted_conflicts_and_near_misses() -> None:
    cases = load_cases()
    planted = Counter(case.kind for case in cases if case.planted)
    found = Counter(
        case.kind
        for case in cases
        if case.planted and [one.kind.value for one in conflicts_of(case.snapshot)] == [case.kind]
    )
    near = [case for case in cases if not case.planted]
    alarms = [case.name for case in near if conflicts_of(case.snapshot)]

    for kind, number in planted.items():
        print(f"conflicts, {kind}: {found[kind]} of {number} planted found")
    print(f"conflicts, near misses: {len(alarms)} alarms in {len(near)}")
    assert found == planted
    assert alarms == []


def test_the_cost_of_finding_them() -> None:
    words = "Write a test for each change of module {n}. Run `pytest -q tests/m{n}` before you finish. " * 8
    rules = [
        segment(
            f"## Module {number}\n\n- Use name_{number} for constant {number}.\n- {words.format(n=number)}\n",
            layer=Layer.L3,
            scope=Scope.RUN,
            kind=SegmentKind.RULE,
            uri=f"project:rules/{number}.md",
            level=3,
        )
        for number in range(RULES)
    ]
    draft, _ = select(begin(snapshot(*rules, policy=effective_policy(EXECUTOR, TASK))))
    seconds = []
    for _ in range(8):
        start = time.process_time()
        detect(draft)
        seconds.append(time.process_time() - start)
    size_bytes = sum(len(rule.text) for rule in rules)
    print(
        f"detect, {RULES} rules of {size_bytes} bytes: first {seconds[0] * 1000:.0f} ms of CPU, "
        f"then {median(seconds[1:]) * 1000:.1f} ms at the median"
    )
    assert seconds[0] < 1.0
