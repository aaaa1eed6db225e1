"""Snapshots: complete, deterministic, and the same for every worker where they must be."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.projects import Desk, by_uri, make_project, write_tree
from support.spans import assert_covered, texts
from support.texts import REPOSITORY

from aircoding.context.assembler import assemble
from aircoding.context.calibration import Calibration, calibrated
from aircoding.errors import ConfigError, NotFoundError, StoreError
from aircoding.records.digests import canonical_json
from aircoding.records.ids import TaskId
from aircoding.records.jsonable import jsonable
from aircoding.records.layers import Layer, Mode, OutcomeKind, Reason, Scope, SegmentKind, Trust
from aircoding.records.manifest import AssembledContext
from aircoding.records.segments import Claim
from aircoding.records.sessions import DependencyResult, Evidence, SessionBrief
from aircoding.records.tasks import Plan, TaskSpec
from aircoding.rules.rule_names import classify

SHARED = REPOSITORY.parent / "shared" / "data" / "rule-trees"
FILES = {
    "AGENTS.md": "# House\n\nAnswer in short sentences.\n\n## Tests\n\nRun `make test`.\n",
    "src/AGENTS.md": "Use tabs.\n",
    "docs/AGENTS.md": "One sentence a line.\n",
    "src/a.py": "x = 1\n" * 30,
    ".air/shared/rules/project-rules.md": "---\nkind: project\n---\n## Style\n\nAs around.\n",
    ".air/shared/rules/api.md": "---\ntags: [api]\n---\nVersion every route.\n",
    ".air/shared/plan/plan.md": "# Plan\n\nBuild it.\n",
    ".air/shared/plan/adr/0001-x.md": "---\nid: '0001'\nstatus: accepted\ninterfaces: ['src/api/**']\n---\n# Use X\n",
}
TASK = TaskSpec(
    id=TaskId("T1"),
    title="Add a parser",
    description="Write it.",
    write_area=("src/**",),
    denied_paths=("src/old/**",),
    reads=("src/a.py:2-5",),
    acceptance=("It parses.",),
    verify=("make test",),
    adr=("0001",),
)
PLAN = Plan(goal="A parser", tasks=(TASK,))


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(root=make_project(tmp_path / "project", FILES), home=tmp_path / "home", plan=PLAN)


def assembled(desk: Desk, brief: SessionBrief) -> AssembledContext:
    context = assemble(desk.snapshot(brief))
    assert isinstance(context, AssembledContext)
    assert_covered(context)
    return context


def whole_text(context: AssembledContext) -> str:
    return "\n".join(text for _, text in texts(context.request))


def shared_bytes(context: AssembledContext) -> bytes:
    """Tools and system: what every worker of a role has in common."""
    return canonical_json([list(context.tools), list(context.system)])


ROLES = ["main", "architecture_designer", "scheduler", "executor", "reviewer", "debugger", "compactor"]


@pytest.mark.parametrize("role", [*ROLES, "experience_miner"])
def test_every_role_gets_a_request_in_which_every_byte_is_accounted_for(desk: Desk, role: str) -> None:
    context = assembled(desk, desk.brief(role, task=TASK))
    layers = {record.layer for record in context.manifest.segments}
    assert {Layer.L0, Layer.L1, Layer.L2, Layer.L9} <= layers
    profile = desk.gatherer()._revision(desk.brief(role, task=TASK).run_revision).roles[role].profile
    assert layers <= {Layer.L0, Layer.L1, Layer.L2, Layer.L9, *profile.layers}


def test_two_processes_give_the_same_bytes(desk: Desk) -> None:
    brief = desk.brief(task=TASK)
    assert desk.brief(task=TASK).run_revision == brief.run_revision
    first, second = desk.snapshot(brief), desk.snapshot(brief)
    assert canonical_json(jsonable(first)) == canonical_json(jsonable(second))


def test_workers_of_a_role_share_tools_and_system_byte_for_byte(desk: Desk, tmp_path: Path) -> None:
    brief = desk.brief(task=TASK)
    other = replace(TASK, id=TaskId("T2"), title="Other", write_area=("docs/**",), tags=("api",), verify=())
    elsewhere = make_project(tmp_path / "worktree-7", FILES)
    second = replace(desk.brief(task=other, run_revision=brief.run_revision), worktree=str(elsewhere))
    desk.clock.at = "2027-01-01T00:00:00Z"
    contexts = [assembled(desk, brief), assembled(desk, second)]
    assert shared_bytes(contexts[0]) == shared_bytes(contexts[1])
    assert contexts[0].messages != contexts[1].messages


@pytest.mark.parametrize("role", ["executor", "reviewer", "main"])
def test_no_path_of_the_machine_stands_in_a_request_or_its_manifest(desk: Desk, tmp_path: Path, role: str) -> None:
    context = assembled(desk, desk.brief(role, task=replace(TASK, reads=("none.py", "src/*.py"))))
    assert str(tmp_path) not in canonical_json(jsonable(context)).decode()


def test_the_time_stands_only_in_its_own_line(desk: Desk) -> None:
    context = assembled(desk, desk.brief(task=TASK))
    lines = [line for _, text in texts(context.request) for line in text.split("\n") if "2026-11-30" in line]
    assert lines == ["Current time: 2026-11-30T12:00:00Z"]


def test_rules_reach_a_task_by_the_paths_it_plans_to_write_reads_or_has_touched(desk: Desk) -> None:
    brief = desk.brief(task=replace(TASK, reads=()))
    context = assembled(desk, brief)
    assert "Use tabs." in whole_text(context)
    (left_out,) = (note for note in context.omissions if note.uri == "project:docs/AGENTS.md")
    assert (left_out.outcome, left_out.reason) == (OutcomeKind.OMITTED, Reason.PATH_NOT_MATCHED)
    touched = assemble(desk.snapshot(brief, touched_paths=["docs/guide.md"]))
    assert isinstance(touched, AssembledContext)
    assert "One sentence a line." in whole_text(touched)


def test_a_tagged_rule_comes_with_its_tag(desk: Desk) -> None:
    assert "Version every route." not in whole_text(assembled(desk, desk.brief(task=TASK)))
    assert "Version every route." in whole_text(assembled(desk, desk.brief(task=replace(TASK, tags=("api",)))))


def test_guidance_is_given_for_the_tools_that_a_role_has(desk: Desk) -> None:
    def guidance(role: str) -> list[str]:
        records = assembled(desk, desk.brief(role, task=TASK)).manifest.segments
        return sorted(record.source.uri.rsplit("/", 1)[1] for record in records if record.kind is SegmentKind.GUIDANCE)

    assert guidance("executor") == ["edit.md", "execute.md", "read.md"]
    assert guidance("reviewer") == ["read.md"]
    assert guidance("main") == ["memory.md", "read.md"]
    assert guidance("scheduler") == []


def test_the_frozen_text_stays_when_files_change_and_new_sessions_hear_of_it(desk: Desk) -> None:
    brief = desk.brief(task=TASK)
    before = shared_bytes(assembled(desk, brief))
    write_tree(desk.root, {"AGENTS.md": "# House\n\nAnswer at length.\n"})
    after = assembled(desk, brief)
    assert shared_bytes(after) == before
    text = canonical_json(list(after.messages)).decode()
    assert "Answer at length." in text
    assert "AGENTS.md (changed after this run began; this text holds)" in text
    assert "project:AGENTS.md, lines 5-7 was removed after this run began" in text
    assert shared_bytes(assembled(desk, desk.brief(task=TASK))) != before


def test_before_a_project_is_trusted_none_of_its_text_stands_in_system(desk: Desk) -> None:
    desk.trusted = False
    context = assembled(desk, desk.brief(task=TASK))
    system = canonical_json(list(context.system)).decode()
    for text in ("Answer in short sentences.", "Build it.", "Use X"):
        assert text not in system
    own = [record for record in context.manifest.segments if record.source.uri.startswith("project:")]
    assert {record.trust for record in own} == {Trust.EXTERNAL}
    assert "Answer in short sentences." in whole_text(context)


def test_the_task_is_whole_and_required_and_results_of_others_are_an_agents_words(desk: Desk) -> None:
    done = DependencyResult(task_id="T0", title="Lexer", summary="Tokens come out.", changed_files=("src/lex.py",))
    snapshot = desk.snapshot(desk.brief(task=TASK, dependencies=(done,)))
    (task,) = by_uri(snapshot.segments, "air:task/T1")
    (result,) = by_uri(snapshot.segments, "air:task/T0/result")
    assert (task.required, task.excerpt, task.scope, task.trust) == (True, None, Scope.SESSION, Trust.USER)
    assert task.text.startswith("Task T1: Add a parser\n\nWrite it.\n\nWrite area (nothing outside it is changed):\n")
    assert (result.trust, result.layer) == (Trust.AGENT, Layer.L5)


def test_evidence_keeps_its_layer_and_a_claim_on_another_version_is_stale(desk: Desk) -> None:
    old = Evidence(
        uri="air:run/r1/finding/1",
        layer=Layer.L6,
        kind=SegmentKind.FINDING,
        title="A finding",
        text="x is 2",
        claims=(Claim(uri="project:src/a.py", digest="0" * 64),),
    )
    failure = Evidence(
        uri="air:artifact/" + "ab" * 32, layer=Layer.L8, kind=SegmentKind.FAILURE, title="Failed", text="E\n" * 9_000
    )
    brief = desk.brief(task=TASK, evidence=(old, failure))
    snapshot = desk.snapshot(brief)
    (segment,) = by_uri(snapshot.segments, failure.uri)
    assert (segment.layer, segment.recency, segment.excerpt is not None) == (Layer.L8, 2, True)
    assert segment.reference == f"[not shown here; the text stands in {failure.uri}]"
    context = assemble(snapshot)
    assert isinstance(context, AssembledContext)
    (stale,) = (note for note in context.omissions if note.uri == old.uri)
    assert stale.reason is Reason.STALE


def test_a_secret_reaches_neither_request_nor_snapshot(desk: Desk) -> None:
    secret = "ghp_" + "a1B2c3D4e5" * 3 + "abcdef"
    write_tree(desk.root, {"src/a.py": f"KEY = '{secret}'\n", "AGENTS.md": f"Use {secret}\n", "CLAUDE.md": secret})
    task = replace(TASK, description=f"with {secret}", reads=("src/a.py",))
    snapshot = desk.snapshot(desk.brief(task=task, instruction=f"Mind {secret}"))
    stored = canonical_json(jsonable(snapshot.segments)).decode()
    assert secret not in stored
    assert stored.count("[REDACTED:") >= 5


def test_a_lone_surrogate_from_a_model_breaks_nothing(desk: Desk) -> None:
    piece = Evidence(uri="air:run/x", layer=Layer.L8, kind=SegmentKind.FAILURE, title="t", text="a\ud800b")
    assert "a\ufffdb" in whole_text(assembled(desk, desk.brief(task=TASK, evidence=(piece,))))


def test_a_missing_or_damaged_revision_and_an_unknown_role_are_said(desk: Desk) -> None:
    brief = desk.brief(task=TASK)
    with pytest.raises(NotFoundError, match="is not kept"):
        desk.snapshot(replace(brief, run_revision="0" * 64))
    with pytest.raises(StoreError, match="cannot be read"):
        desk.snapshot(replace(brief, run_revision=desk.blobs.put('{"version": 1}')))
    with pytest.raises(ConfigError, match="there is no role `wizard`"):
        desk.snapshot(replace(brief, role="wizard"))


def test_a_later_turn_knows_what_was_sent(desk: Desk) -> None:
    brief = desk.brief(task=TASK)
    first = assembled(desk, brief)
    snapshot = desk.gatherer().gather(brief, turn=2, messages=(), frozen=first)
    assert snapshot.frozen is not None
    assert snapshot.frozen.context is first
    assert snapshot.request.turn == 2


def test_an_epoch_keeps_its_estimator_and_the_next_one_gets_what_was_learned_by_then(desk: Desk) -> None:
    learned = [calibrated(Calibration(samples=count, mean=1.5, recent=(1.5,) * count)) for count in (1, 2)]
    later = iter(learned)
    gatherer = desk.gatherer(estimator_for=lambda _model: next(later))
    brief = desk.brief(task=TASK)

    first = gatherer.gather(brief, turn=1, messages=(), frozen=None)
    context = assemble(first)
    assert isinstance(context, AssembledContext)
    second = desk.gatherer(estimator_for=lambda _model: next(later)).gather(brief, turn=2, messages=(), frozen=context)
    third = gatherer.gather(brief, turn=3, messages=(), frozen=None)

    assert first.estimator == second.estimator == learned[0]
    assert context.manifest.estimator == learned[0].name
    assert third.estimator == learned[1]


def test_mode_none_keeps_only_what_must_be_kept(desk: Desk) -> None:
    context = assembled(desk, desk.brief(task=TASK, mode=Mode.NONE))
    assert {record.layer for record in context.manifest.segments} == {Layer.L0, Layer.L1, Layer.L2, Layer.L5, Layer.L9}


@given(
    st.dictionaries(
        st.sampled_from(["AGENTS.md", "src/AGENTS.md", "CLAUDE.md", "src/a.py", ".air/shared/rules/x.md"]),
        st.text(max_size=200),
    )
)
@settings(deadline=None, max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_the_files_hold_the_request_is_covered(desk: Desk, files: dict[str, str]) -> None:
    content = {name: text.encode("utf-8", "surrogatepass") for name, text in files.items()}
    write_tree(desk.root, content)
    assembled(desk, desk.brief(task=TASK))


@pytest.mark.shared
@pytest.mark.parametrize(
    ("tree", "deep"),
    [
        ("koku", "koku/masu/processor/ocp/ocp_report_parquet_processor.py"),
        ("pydantic-ai", "pydantic_ai_slim/pydantic_ai/models/anthropic.py"),
        ("task-master", "assets/rules/dev_workflow.mdc"),
    ],
)
def test_on_a_real_tree_every_rule_file_is_in_the_manifest_or_the_omissions(
    tmp_path: Path, tree: str, deep: str
) -> None:
    if not (SHARED / tree).is_dir():
        pytest.skip(f"the rule trees are not at {SHARED}")
    root = make_project(tmp_path / tree, {})
    shutil.copytree(SHARED / tree, root, symlinks=True, dirs_exist_ok=True)
    desk = Desk(root=root, home=tmp_path / "home")
    context = assembled(desk, desk.brief(task=replace(TASK, write_area=(deep,), reads=(), adr=())))
    accounted = {record.source.uri for record in context.manifest.segments}
    accounted |= {note.uri for note in context.omissions}
    files = [path.relative_to(root).as_posix() for path in root.rglob("*") if not path.is_dir()]
    assert {f"project:{path}" for path in files if classify(path) is not None} <= accounted
    folders = [deep.rsplit("/", depth)[0] for depth in range(1, deep.count("/") + 1)]
    chain = [f"project:{folder}/AGENTS.md" for folder in folders if f"{folder}/AGENTS.md" in files]
    included = {record.source.uri for record in context.manifest.segments}
    assert set(chain) <= included
