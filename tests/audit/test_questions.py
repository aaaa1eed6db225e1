"""Why, why not, who saw, and what differs, over real assemblies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.contexts import message, segment, snapshot

from aircoding.app.questions.why import WhoSaw
from aircoding.audit.blame import blame
from aircoding.audit.considerations import Consideration
from aircoding.audit.considerations import why_not as why_not_of
from aircoding.audit.differences import compare
from aircoding.audit.places import why
from aircoding.audit.remedies import remedy
from aircoding.audit.sightings import sightings
from aircoding.audit.witnesses import Witness, summary
from aircoding.audit.witnesses import who_saw as who_saw_of
from aircoding.cli.context.diff_answers import diff_text
from aircoding.cli.context.why_answers import who_saw_text as text_of
from aircoding.context.assembler import assemble
from aircoding.context.freezing import frozen_from
from aircoding.records.ids import SegmentId, TaskId
from aircoding.records.layers import Layer, OutcomeKind, Reason, SegmentKind
from aircoding.records.manifest import AssembledContext, Manifest
from aircoding.records.segments import Barred, Segment
from aircoding.records.snapshot import Snapshot
from aircoding.records.tasks import TaskSpec


def _assemble(frame: Snapshot) -> AssembledContext:
    context = assemble(frame)
    assert isinstance(context, AssembledContext)
    return context


def why_not(manifests: Sequence[Manifest], subject: str) -> tuple[Consideration, ...]:
    return why_not_of(sightings(manifests).outcomes, subject)


def who_saw(manifests: Sequence[Manifest], subject: str, *, digest: str | None = None) -> tuple[Witness, ...]:
    seen = sightings(manifests)
    return who_saw_of(seen.workers, seen.segments, seen.outcomes, subject, digest=digest)


def who_saw_text(subject: str, witnesses: Sequence[Witness]) -> str:
    count = summary(witnesses)
    return text_of(subject, WhoSaw(run_id="r1", summary=count, witnesses=tuple(witnesses), total=count.workers))


def _worker(task_id: str, area: str, *extra: object) -> AssembledContext:
    rule = segment(
        "Begin with a licence line.",
        layer=Layer.L3,
        kind=SegmentKind.RULE,
        uri="project:.air/shared/rules/licence.md",
        rule_id="licence",
        paths=("stock/**",),
        paths_line=4,
    )
    task = TaskSpec(id=TaskId(task_id), title="t", write_area=(area,))
    frame = snapshot(rule, *extra, task=task)  # type: ignore[arg-type]
    request = replace(frame.request, task_id=task_id, session_id=f"r1:{task_id}:1:executor:1")
    return _assemble(replace(frame, request=request))


def test_who_saw_names_each_worker_and_why_one_did_not() -> None:
    contexts = [_worker("T1", "stock/a.py"), _worker("T2", "tools/b.py"), _worker("T3", "stock/**")]

    witnesses = who_saw([context.manifest for context in contexts], "licence.md")

    assert [(one.task_id, one.saw is not None) for one in witnesses] == [("T1", True), ("T2", False), ("T3", True)]
    missed = witnesses[1].missed
    assert missed is not None
    assert missed.outcome.by == "project:.air/shared/rules/licence.md:4"
    assert missed.remedy.endswith("area at .air/shared/rules/licence.md:4")


def test_who_saw_a_version_counts_only_that_version() -> None:
    context = _worker("T1", "stock/a.py")
    digest = next(r.source.digest for r in context.manifest.segments if r.rule_id == "licence")

    assert who_saw([context.manifest], "licence", digest=digest[:12])[0].saw is not None
    assert who_saw([context.manifest], "licence", digest="0" * 12)[0].saw is None


def test_why_not_answers_for_what_is_in_and_is_silent_for_what_was_never_considered() -> None:
    manifest = _worker("T1", "stock/a.py").manifest

    (found,) = why_not([manifest], ".air/shared/rules/licence.md")

    assert found.outcome.outcome is OutcomeKind.INCLUDED
    assert why_not([manifest], "docs/other.md") == ()


@given(st.text(min_size=1, max_size=20).filter(lambda text: text.strip() == text and text.isprintable()))
@settings(deadline=None, max_examples=60)
def test_why_finds_any_text_with_its_owner(text: str) -> None:
    context = _assemble(snapshot(segment(f"before\n{text}\nafter", uri="project:src/x.py")))

    places = why([context], text)

    owners = {place.segment.source.uri for place in places if place.segment}
    assert "project:src/x.py" in owners
    for place in places:
        assert text in place.line


def test_why_names_the_tool_call_around_a_text() -> None:
    first = _assemble(snapshot())
    recorded = (
        message(0, "assistant", {"type": "tool_use", "id": "t", "name": "fs_read", "input": {"path": "needle.py"}}),
        message(1, "user", {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "ok"}]}),
    )
    second = _assemble(snapshot(turn=2, messages=recorded, frozen=frozen_from(first)))

    (place,) = why([second], "needle.py")

    assert place.segment is not None
    assert place.segment.kind is SegmentKind.TOOL_CALL


@given(st.text(alphabet='ab\n"é', min_size=1, max_size=4))
@settings(deadline=None, max_examples=40)
def test_a_place_is_one_that_blame_knows_with_the_same_owner(needle: str) -> None:
    first = _assemble(snapshot(segment('a "b"\né ab', uri="project:src/x.py")))
    call = {"type": "tool_use", "id": "t", "name": "fs_write", "input": {"path": "é", "content": 'a "b"\nb'}}
    result = {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "ab\nab"}]}
    recorded = (message(0, "assistant", call), message(1, "user", result))
    context = _assemble(snapshot(turn=2, messages=recorded, frozen=frozen_from(first)))

    for place in why([context], needle):
        owners = [
            owner.segment
            for line in blame(context, block=place.block)
            for owner in line.owners
            if line.block == place.block and owner.start <= place.start < owner.end
        ]
        assert owners == [place.segment]


def test_names_and_types_of_the_format_are_no_places() -> None:
    context = _assemble(snapshot())

    assert not [place.block for place in why([context], "cache_control")]
    assert not [place.block for place in why([context], "user") if place.block.endswith(("/role", "/type"))]


def test_a_difference_is_told_by_segment() -> None:
    old = _worker("T1", "stock/a.py", segment("x = 1", uri="project:src/x.py"))
    new = _worker("T1", "tools/a.py", segment("x = 2", uri="project:src/x.py"), segment("y", uri="project:src/y.py"))

    difference = compare(old.manifest, new.manifest)

    assert [record.source.uri for record in difference.added] == ["project:src/y.py"]
    assert [record.source.uri for record in difference.removed] == ["project:.air/shared/rules/licence.md"]
    assert [change.after.source.uri for change in difference.changed] == ["project:src/x.py"]
    assert any(
        old_note and new_note and (old_note.outcome, new_note.outcome) == (OutcomeKind.INCLUDED, OutcomeKind.OMITTED)
        for old_note, new_note in difference.outcomes
    )
    assert difference.shared_marks == ("/system/2",)
    assert compare(old.manifest, old.manifest).empty


def test_a_rule_is_found_by_its_id_where_it_stayed_out_too() -> None:
    manifest = _worker("T2", "tools/b.py").manifest

    (found,) = why_not([manifest], "licence")

    assert found.outcome.by == "project:.air/shared/rules/licence.md:4"
    assert who_saw([manifest], "licence")[0].missed is not None


def _section(name: str) -> Segment:
    """Return one section of a rule file."""
    rule = segment(
        f"About {name}.",
        layer=Layer.L3,
        kind=SegmentKind.RULE,
        uri="project:rules.md",
        rule_id=f"rules.md#{name}",
    )
    return replace(rule, segment_id=SegmentId(f"L3:project:rules.md#{name}@1"))


def test_who_saw_a_file_counts_its_sections_and_says_which_were_left_out() -> None:
    scoped = replace(_section("tabs"), paths=("web/**",), paths_line=9)
    context = _worker("T1", "stock/a.py", _section("size"), scoped)

    (witness,) = who_saw([context.manifest], "rules.md")
    (section,) = who_saw([context.manifest], "rules.md#tabs")

    assert (witness.saw is not None, witness.sections_seen) == (True, 1)
    assert [one.outcome.rule_id for one in witness.left_out] == ["rules.md#tabs"]
    assert "1 of 2 parts; not " in who_saw_text("rules.md", [witness])
    assert "in part" in who_saw_text("rules.md", [witness])
    assert section.saw is None


def test_a_ruling_is_changed_by_ruling_again() -> None:
    (found,) = why_not([_worker("T1", "stock/a.py").manifest], "licence")
    lost = replace(found.outcome, outcome=OutcomeKind.OVERRIDDEN, reason=Reason.OVERRIDDEN, by="ruling:c-1")

    assert remedy(lost) == 'a person ruled so: rule again with `aircoding conflicts rule c-1 --winner ... "why"`'
    assert "rename one" in remedy(replace(lost, by="project:a.md:3"))


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        (Reason.PERMISSION, "aircoding permissions trust"),
        (Reason.DISABLED, "[skills]"),
        (Reason.OVERRIDDEN, "rename one of the two skills"),
        (Reason.BUDGET, "index_chars"),
        (Reason.TRIGGER_NOT_MATCHED, "skill_read"),
    ],
)
def test_a_skill_that_stays_out_has_a_remedy_of_its_own(reason: Reason, said: str) -> None:
    why = Barred(outcome=OutcomeKind.OMITTED, reason=reason, detail="")
    skill = segment(
        "Cook.", layer=Layer.L3, kind=SegmentKind.SKILL, uri="project:.claude/skills/x/SKILL.md", barred=why
    )
    (found,) = why_not([_assemble(snapshot(skill)).manifest], ".claude/skills/x/SKILL.md")
    assert said in found.remedy


def test_a_difference_names_the_section_of_a_file_that_is_in_both() -> None:
    both = ((_section("size"),), (_section("size"), _section("tabs")))
    before, after = (_worker("T1", "stock/a.py", *sections).manifest for sections in both)

    assert "! L3 rules.md#tabs: not considered -> included" in diff_text(compare(before, after)).splitlines()
