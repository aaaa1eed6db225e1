"""The plan and its decisions as L4, as much of them as a role retrieves."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.projects import by_uri, make_intake, write_tree

from aircoding.records.ids import TaskId
from aircoding.records.layers import OutcomeKind, Reason, Scope
from aircoding.records.profiles import LayerSelection
from aircoding.records.segments import Segment
from aircoding.records.tasks import TaskSpec
from aircoding.sources.plan_docs import PlanDocs, read_plan_docs, run_plan, task_plan

INTAKE = make_intake()
PLAN = ".air/shared/plan"
FULL, RELEVANT, SUMMARY = (LayerSelection(detail=detail) for detail in ("full", "relevant", "summary"))


def adr(number: str, status: str = "accepted", more: str = "") -> str:
    return f"---\nid: '{number}'\nstatus: {status}\n{more}---\n\n# Choice {number}\n\n## Decision\n\nDo {number}.\n"


@pytest.fixture
def docs(tmp_path: Path) -> PlanDocs:
    write_tree(
        tmp_path,
        {
            f"{PLAN}/AGENTS.md": "# Constraints\n\nKeep the core pure.\n",
            f"{PLAN}/plan.md": "# Plan\n\n" + "".join(f"## Part {n}\n\n{'words ' * 40}\n\n" for n in range(30)),
            f"{PLAN}/todo.md": "- [ ] a\n",
            f"{PLAN}/c4/context.md": "# System\n",
            f"{PLAN}/c4/picture.png": b"\x89PNG\0",
            f"{PLAN}/adr/0001-a.md": adr("0001", more="interfaces: ['src/api/**']\n"),
            f"{PLAN}/adr/0002-b.md": adr("0002", "proposed"),
            f"{PLAN}/adr/0003-c.md": adr("0003", more="supersedes: ['0004']\n"),
            f"{PLAN}/adr/0004-d.md": adr("0004"),
            f"{PLAN}/adr/0005-e.md": adr("0005", "agreed"),
        },
    )
    return read_plan_docs(tmp_path, intake=INTAKE, trusted=True)


def texts(segments: tuple[Segment, ...], path: str) -> list[str]:
    return [segment.text for segment in by_uri(segments, f"project:{PLAN}/{path}")]


def test_a_role_that_designs_gets_everything_whole(docs: PlanDocs) -> None:
    whole = run_plan(docs, FULL)
    assert len(texts(whole, "plan.md")) == 31
    assert texts(whole, "todo.md") == ["- [ ] a"]
    assert texts(whole, "adr/0001-a.md") == ["# Choice 0001\n\n## Decision\n\nDo 0001."]
    assert {segment.scope for segment in whole} == {Scope.RUN}


def test_a_worker_gets_constraints_whole_the_plan_in_short_and_a_line_of_the_rest(docs: PlanDocs) -> None:
    part = run_plan(docs, RELEVANT)
    assert texts(part, "AGENTS.md") == ["# Constraints\n\nKeep the core pure."]
    (plan,) = texts(part, "plan.md")
    assert "left out" in plan
    assert texts(part, "todo.md") == [f"[not shown here; the text stands in {PLAN}/todo.md]"]
    assert texts(part, "adr/0001-a.md") == [
        f"ADR 0001: Choice 0001. Interfaces: `src/api/**`. [not shown here; the text stands in {PLAN}/adr/0001-a.md]"
    ]


def test_a_summary_shows_what_is_to_do(docs: PlanDocs) -> None:
    assert texts(run_plan(docs, SUMMARY), "todo.md") == ["- [ ] a"]


@pytest.mark.parametrize(
    ("name", "outcome", "reason", "detail"),
    [
        ("adr/0002-b.md", OutcomeKind.OMITTED, Reason.DISABLED, "ADR 0002 is proposed, not accepted"),
        ("adr/0004-d.md", OutcomeKind.OMITTED, Reason.STALE, "ADR 0004 is superseded, not accepted"),
        ("adr/0005-e.md", OutcomeKind.QUARANTINED, Reason.INVALID, "adr/0005-e.md:3: `status` is 'agreed'"),
        ("c4/picture.png", OutcomeKind.OMITTED, Reason.UNREADABLE, "it is a binary file"),
    ],
)
@pytest.mark.parametrize("selection", [FULL, RELEVANT, SUMMARY])
def test_what_is_not_in_force_is_listed_with_its_reason(
    docs: PlanDocs, name: str, outcome: OutcomeKind, reason: Reason, detail: str, selection: LayerSelection
) -> None:
    (segment,) = by_uri(run_plan(docs, selection), f"project:{PLAN}/{name}")
    if selection is not FULL and name.startswith("c4"):
        assert segment.barred is not None
    assert segment.barred is not None
    assert (segment.barred.outcome, segment.barred.reason) == (outcome, reason)
    assert detail in segment.barred.detail


def test_the_records_carry_interfaces_status_and_title(docs: PlanDocs) -> None:
    by_id = {record.id: record for record in docs.adrs}
    assert by_id["0001"].interfaces == ("src/api/**",)
    assert by_id["0001"].title == "Choice 0001"
    assert by_id["0004"].status == "superseded"
    assert "0005" not in by_id
    assert [(fault.code, fault.line) for fault in docs.diagnostics] == [("adr.status", 3)]


def test_a_task_gets_the_decisions_that_it_names_whole_and_hears_of_those_that_are_not_in_force(docs: PlanDocs) -> None:
    task = TaskSpec(id=TaskId("T1"), title="t", adr=("0001", "0002"))
    named, missing = sorted(
        task_plan(docs, task, RELEVANT, intake=INTAKE), key=lambda segment: segment.barred is not None
    )
    assert (named.text, named.scope) == ("# Choice 0001\n\n## Decision\n\nDo 0001.", Scope.SESSION)
    assert missing.barred is not None
    assert missing.barred.detail == "task T1 names ADR 0002; accepted are: 0001, 0003"
    assert task_plan(docs, task, FULL, intake=INTAKE) == ()


def test_a_project_without_plan_documents_has_none(tmp_path: Path) -> None:
    docs = read_plan_docs(tmp_path, intake=INTAKE, trusted=True)
    assert (docs.docs, docs.adrs, docs.diagnostics) == ((), (), ())


def test_a_record_without_an_id_or_with_a_glob_that_cannot_be_read_is_quarantined(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        {
            f"{PLAN}/adr/a.md": "---\nstatus: accepted\n---\ntext\n",
            f"{PLAN}/adr/b.md": adr("0002", more="interfaces: ['[x']\n"),
            f"{PLAN}/adr/c.md": "no front matter\n",
        },
    )
    docs = read_plan_docs(tmp_path, intake=INTAKE, trusted=True)
    assert docs.adrs == ()
    assert [(fault.code, fault.line) for fault in docs.diagnostics] == [
        ("adr.id", 1),
        ("adr.interfaces", 4),
        ("adr.id", 1),
    ]
