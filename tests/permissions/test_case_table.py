"""A table of cases is read strictly: a case that is not understood must not count as one that held."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from permissions.policies import worker

from aircoding.permissions.case_table import judge_cases, parse_case_table
from aircoding.records.policy import CommandAct, Effect, PathAct

TABLE = """\
version: 1
write_area: [src/**]
cases:
  - {command: git push, cwd: src, expect: ask, why: it leaves, kind: confirmed}
  - {write: src/a.py, expect: allow}
  - {read: .env, expect: deny}
  - {host: evil.example, expect: deny}
  - {tool: shell, expect: allow}
"""


def test_each_kind_of_act_is_read_with_its_line() -> None:
    table = parse_case_table(TABLE, uri="t.yaml")
    assert table.diagnostics == ()
    assert table.write_area == ("src/**",)
    assert [case.line for case in table.cases] == [4, 5, 6, 7, 8]
    assert table.cases[0].act == CommandAct(command="git push", cwd="src")
    assert table.cases[1].act == PathAct(path="src/a.py", access="write")
    assert all(one.holds for one in judge_cases(table, worker()))


def test_an_expected_ask_holds_also_where_nobody_can_be_asked_now() -> None:
    table = parse_case_table("version: 1\ncases: [{command: git push, expect: ask}]", uri="t")
    (result,) = judge_cases(table, worker(interactive=False))
    assert (result.holds, result.decision.effect) == (True, Effect.ASK)


def test_what_was_approved_once_does_not_make_a_case_hold() -> None:
    table = parse_case_table("version: 1\ncases: [{command: git push, expect: ask}]", uri="t")
    approved = frozenset({judge_cases(table, worker())[0].decision.fingerprint})
    assert all(one.holds for one in judge_cases(table, worker(approved=approved)))


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("", 1, "must hold keys"),
        ("cases: []", 1, "`version` must be 1"),
        ("version: 2\ncases: []", 1, "`version` must be 1"),
        ("version: 1", 1, "no `cases`"),
        ("version: 1\ncases: ls", 2, "must be a list"),
        ("version: 1\nextra: 1\ncases: []", 2, "`extra` is not known"),
        ("version: 1\ncases: [ls]", 2, "a case must hold keys"),
        ("version: 1\ncases:\n- {command: ls}", 3, "`expect` must be one of"),
        ("version: 1\ncases:\n- {command: ls, expect: maybe}", 3, "`expect` must be one of"),
        ("version: 1\ncases:\n- {expect: ask}", 3, "names one act"),
        ("version: 1\ncases:\n- {command: ls, host: a, expect: ask}", 3, "names one act"),
        ("version: 1\ncases:\n- {command: [ls], expect: ask}", 3, "must be a text"),
        ("version: 1\ncases:\n- {command: ls, expects: ask, expect: ask}", 3, "`expects` is not known"),
        ("version: 1\ncases:\n- {host: a, cwd: src, expect: ask}", 3, "only a command"),
        ("version: 1\ncases:\n- {tool: a b, expect: ask}", 3, "no name of a tool"),
        ("version: 1\ncases:\n- command: ls\n  command: pwd\n  expect: ask", 4, "stands twice"),
        ("version: 1\nwrite_area: [[a]]\ncases: []", 2, "write_area"),
    ],
)
def test_each_fault_names_its_line(text: str, line: int, says: str) -> None:
    table = parse_case_table(text, uri="t.yaml")
    assert says in table.diagnostics[0].message
    if "twice" not in says:
        assert table.diagnostics[0].line == line


@given(st.text(max_size=80))
@settings(max_examples=100, deadline=None)
def test_no_text_breaks_the_reader(text: str) -> None:
    for whole in (text, f"version: 1\ncases:\n- {text}"):
        table = parse_case_table(whole, uri="t")
        assert table.cases or table.diagnostics or "cases" in whole
