"""Cases of our own by kind: each gets the decision that its table expects; the tables are read as a user's are."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from permissions.policies import worker, written

from aircoding.permissions.case_table import CaseTable, PermissionCase, judge_cases, parse_case_table
from aircoding.records.policy import Effect

FOLDER = Path(__file__).parent / "cases"
POLICY = worker(written("commands: {allow: [curl *, wget *]}\nnetwork: {allow: [packages.example]}"))


def table(name: str) -> CaseTable:
    return parse_case_table((FOLDER / name).read_text("utf-8"), uri=name)


TABLES = {path.name: table(path.name) for path in sorted(FOLDER.glob("*.yaml"))}


@pytest.mark.parametrize("name", TABLES)
def test_each_case_of_the_table_gets_its_decision(name: str) -> None:
    assert TABLES[name].diagnostics == ()
    wrong = [
        f"{one.case.line}: {one.case.act} is {one.decision.effect.value}, not {one.case.expected.value}: "
        f"{one.decision.reason}"
        for one in judge_cases(TABLES[name], POLICY)
        if not one.holds
    ]
    assert wrong == []


def test_there_are_more_than_300_cases_of_many_kinds_and_no_kind_is_of_one_decision_by_chance() -> None:
    cases: list[PermissionCase] = [case for one in TABLES.values() for case in one.cases]
    kinds = Counter(case.kind for case in cases)
    assert len(cases) >= 800
    assert len(kinds) >= 50
    assert all(case.kind and case.why for case in cases)
    assert Counter(case.expected for case in cases)[Effect.ALLOW] >= 180
