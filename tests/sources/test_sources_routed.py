"""What a role is told of its run: conflicts, what was left out; never more trusted than an agent's words."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from support.projects import Desk, make_intake, make_project

from aircoding.context.assembler import assemble
from aircoding.records.conflicts import Conflict, ConflictKind, Route
from aircoding.records.layers import Layer, Scope, Trust
from aircoding.records.manifest import AssembledContext
from aircoding.records.runs import LeftOut
from aircoding.sources.gather import FileGatherer
from aircoding.sources.routed import Routed, routed_segments

CONFLICT = Conflict(
    conflict_id="c-architecture-1",
    kind=ConflictKind.ARCHITECTURE,
    parties=("air:task/T1", "project:adr/1.md"),
    subject="a.py",
    detail="task T1 may write a.py, an interface of ADR-1",
    ruling="nobody wins: the task waits",
    winner=None,
    route=Route.ARCHITECTURE_DESIGNER,
    blocking=True,
    state="open",
)


def test_a_conflict_says_what_holds_and_what_can_be_done() -> None:
    (told,) = routed_segments("r1", Routed(conflicts=(CONFLICT,)), intake=make_intake())

    assert told.text.splitlines() == [
        "architecture conflict (open): task T1 may write a.py, an interface of ADR-1",
        "What holds: nobody wins: the task waits",
        "It stops its task. A person can rule: aircoding conflicts show c-architecture-1",
    ]
    assert (told.layer, told.scope, told.trust) == (Layer.L7, Scope.TURN, Trust.AGENT)
    assert told.source.uri == "air:run/r1/conflict/c-architecture-1"


def test_quoted_text_is_masked_and_screened() -> None:
    key = "sk-ant-api03-" + "Ab1" * 31 + "AA"
    bad = replace(CONFLICT, detail=f"the rule says `{key}` \u202e and more")

    (told,) = routed_segments("r1", Routed(conflicts=(bad,)), intake=make_intake())

    assert key not in told.text
    assert [finding.blocks for finding in told.findings] == [True]


def test_what_was_left_out_is_one_segment_of_bounded_length() -> None:
    left_out = tuple(LeftOut(task_id=f"T{n}", role="executor", uri=f"project:{n}.py", tokens=n) for n in range(20))

    (told,) = routed_segments("r1", Routed(left_out=left_out, left_out_count=31), intake=make_intake())

    lines = told.text.splitlines()
    assert lines[1] == "- task T0, executor: project:0.py (0 tokens)"
    assert lines[-1] == "- and 19 more"
    assert len(lines) == 14


def test_roles_that_retrieve_no_conversation_are_told_nothing_and_the_coordinator_all(tmp_path: Path) -> None:
    asked: list[tuple[str, str]] = []

    def routed(run: str, role: str) -> Routed:
        asked.append((run, role))
        return Routed(conflicts=(CONFLICT,))

    desk = Desk(root=make_project(tmp_path / "p", {"a.py": "x = 1\n"}), home=tmp_path / "home")
    plain = desk.gatherer()
    gatherer = FileGatherer(
        project=plain._project,
        plan=None,
        open_worktree=plain._open_worktree,
        blobs=desk.blobs,
        screener=make_intake()._screener,
        clock=desk.clock,
        policy_for=plain._policy_for,
        limits_for=plain._limits_for,
        routed_to=routed,
    )
    contexts = {}
    for role in ("executor", "main", "architecture_designer"):
        context = assemble(gatherer.gather(desk.brief(role), turn=1, messages=(), frozen=None))
        assert isinstance(context, AssembledContext)
        contexts[role] = "".join(block["text"] for block in context.messages[0]["content"])

    assert asked == [("r1", "main"), ("r1", "architecture_designer")]
    assert "It stops its task" in contexts["main"]
    assert "It stops its task" in contexts["architecture_designer"]
    assert "It stops its task" not in contexts["executor"]
