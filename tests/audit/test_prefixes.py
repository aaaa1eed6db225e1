"""How far two requests begin with the same bytes, for any two assemblies on record."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from support.contexts import message, segment, snapshot
from support.random_prompts import prompts

from aircoding.audit.prefixes import compare_prefixes
from aircoding.context.assembler import assemble
from aircoding.context.freezing import frozen_from
from aircoding.records.layers import Layer, Scope, SegmentKind
from aircoding.records.manifest import AssembledContext
from aircoding.records.segments import Segment
from aircoding.records.snapshot import Snapshot

RULE = {"layer": Layer.L3, "scope": Scope.RUN, "kind": SegmentKind.RULE, "uri": "project:a.md"}


def _assembled(frame: Snapshot) -> AssembledContext:
    context = assemble(frame)
    assert isinstance(context, AssembledContext)
    return context


def _worker(task: str, *own: Segment) -> AssembledContext:
    frame = snapshot(segment(f"About {task}.", uri=f"project:{task}.py"), *own)
    request = replace(frame.request, session_id=f"r1:{task}:1:executor:1", task_id=task)
    return _assembled(replace(frame, request=request))


@given(prompts())
@settings(deadline=None, max_examples=15)
def test_a_request_shares_all_of_itself(context: AssembledContext) -> None:
    found = compare_prefixes(context, context)

    assert (found.complete, found.block, found.same_blocks) == (True, None, found.earlier_blocks)
    assert found.readable == (context.manifest.cache[-1] if context.manifest.cache else None)


@given(prompts(), prompts())
@settings(deadline=None, max_examples=25)
def test_a_mark_is_readable_exactly_when_its_prefix_has_the_same_digest(
    earlier: AssembledContext, later: AssembledContext
) -> None:
    found = compare_prefixes(earlier, later)

    same = {mark.prefix_digest for mark in later.manifest.cache}
    equal = [mark for mark in earlier.manifest.cache if mark.prefix_digest in same]
    if equal:
        assert found.readable is not None
        assert found.readable.prefix_tokens >= equal[-1].prefix_tokens


def test_the_next_turn_of_a_session_begins_as_the_last_one() -> None:
    first = _assembled(snapshot())
    said = (
        message(0, "assistant", {"type": "text", "text": "One."}),
        message(1, "user", {"type": "text", "text": "2"}),
    )
    second = _assembled(snapshot(turn=2, messages=said, frozen=frozen_from(first)))

    found = compare_prefixes(first, second)

    assert found.same_session
    assert found.complete
    assert found.expected == first.manifest.cache[-1]
    assert found.block is None


def test_two_workers_share_tools_and_system_and_differ_in_their_task() -> None:
    rule = segment("Keep it small.", **RULE)  # type: ignore[arg-type]

    found = compare_prefixes(_worker("T1", rule), _worker("T2", rule))

    assert found.complete
    assert found.expected is not None
    assert found.expected.mark == "/system/3"
    assert found.block is not None
    assert found.block.startswith("/messages/0/")
    assert (found.before, found.after) == tuple(
        next(one.segment_id for one in worker.manifest.segments if one.source.uri == f"project:{task}.py")
        for task, worker in (("T1", _worker("T1")), ("T2", _worker("T2")))
    )


def test_a_changed_rule_is_the_first_segment_that_differs() -> None:
    old, new = (segment(text, **RULE) for text in ("Keep it small.", "Keep it tiny."))  # type: ignore[arg-type]

    found = compare_prefixes(_worker("T1", old), _worker("T2", new))

    assert not found.complete
    assert found.readable is not None
    assert found.readable.mark == "/system/2"
    assert (found.block, found.before, found.after) == ("/system/3", old.segment_id, new.segment_id)
    assert found.offset_bytes == len(b"# Rules and preferences\n\nKeep it ")


def test_another_model_shares_nothing() -> None:
    first, second = _worker("T1"), _worker("T2")
    other = replace(second, manifest=replace(second.manifest, model="other"))

    found = compare_prefixes(first, other)

    assert (found.same_model, found.readable, found.complete) == (False, None, False)
