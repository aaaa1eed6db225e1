"""What each mode composes, and which mode a caller gets that names none."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.contexts import EXECUTOR, segment, snapshot

from aircoding.context.assembler import assemble
from aircoding.context.profiles import default_mode
from aircoding.records.layers import Form, Layer, Mode, OutcomeKind, Reason, Scope, SegmentKind, Trust
from aircoding.records.manifest import AssembledContext
from aircoding.records.segments import Segment


def _one(kind: SegmentKind, layer: Layer, scope: Scope = Scope.RUN, **more: object) -> Segment:
    return segment(f"The {kind.value}.", layer=layer, scope=scope, kind=kind, uri=f"user:{kind.value}.md", **more)


IDENTITY = _one(SegmentKind.IDENTITY, Layer.L1, Scope.FLEET, trust=Trust.USER)
CANDIDATES = (
    IDENTITY,
    _one(SegmentKind.MEMORY, Layer.L3, Scope.SESSION),
    _one(SegmentKind.SKILLS_INDEX, Layer.L3),
    _one(SegmentKind.RULE, Layer.L3),
    _one(SegmentKind.GUIDANCE, Layer.L1, Scope.FLEET, trust=Trust.BUILTIN),
    _one(SegmentKind.STEERING, Layer.L9, Scope.TURN, trust=Trust.BUILTIN),
    _one(SegmentKind.FILE, Layer.L6, Scope.SESSION),
)


def composed(mode: Mode, *candidates: Segment) -> tuple[set[str], dict[str, Reason | None]]:
    """Return the kinds of the candidates that are in, and why the others are not."""
    context = assemble(snapshot(*candidates, mode=mode))
    assert isinstance(context, AssembledContext)
    names = {one.segment_id: one.kind.value for one in candidates}
    shown = {names[one.segment_id] for one in context.manifest.segments if one.segment_id in names}
    return shown, {names[note.segment_id]: note.reason for note in context.omissions if note.segment_id in names}


def test_full_composes_everything() -> None:
    shown, left_out = composed(Mode.FULL, *CANDIDATES)
    assert shown == {one.kind.value for one in CANDIDATES}
    assert left_out == {}


def test_minimal_leaves_out_memory_the_skills_index_and_identity_beyond_a_line() -> None:
    shown, left_out = composed(Mode.MINIMAL, *CANDIDATES)
    assert shown == {"rule", "guidance", "steering", "file"}
    assert left_out == dict.fromkeys(("identity", "memory", "skills_index"), Reason.MODE)


@pytest.mark.parametrize("mode", list(Mode))
def test_of_an_identity_minimal_takes_exactly_one_line(mode: Mode) -> None:
    whole = replace(IDENTITY, text="One line.\nAnd another.", excerpt="One line.")
    context = assemble(snapshot(whole, mode=mode))
    assert isinstance(context, AssembledContext)
    (record,) = [one for one in context.manifest.segments if one.segment_id == whole.segment_id]
    left_out = [(one.outcome, one.reason) for one in context.omissions if one.segment_id == whole.segment_id]
    is_short = mode is Mode.MINIMAL
    assert record.form is (Form.EXCERPT if is_short else Form.WHOLE)
    assert left_out == ([(OutcomeKind.EXCERPTED, Reason.MODE)] if is_short else [])
    assert ("And another." in str(context.system)) is not is_short


def test_none_keeps_what_must_be_kept() -> None:
    required = replace(CANDIDATES[3], segment_id="L3:required@0", required=True)
    shown, left_out = composed(Mode.NONE, *CANDIDATES, required)
    assert shown == {"identity", "guidance", "steering", "rule"}
    assert left_out == dict.fromkeys(("memory", "skills_index", "rule", "file"), Reason.MODE)


@pytest.mark.parametrize(("user_facing", "mode"), [(True, Mode.FULL), (False, Mode.MINIMAL)])
def test_who_works_for_another_agent_gets_the_minimal_mode(user_facing: bool, mode: Mode) -> None:
    assert default_mode(replace(EXECUTOR, user_facing=user_facing)) is mode
