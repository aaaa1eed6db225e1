"""The record gives estimates beside the usage that came back, newest calls of one model only."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.contexts import LIMITS, segment, snapshot
from support.records import SESSION, call, run

from aircoding.context.assembler import assemble
from aircoding.records.calls import Reply
from aircoding.records.ids import call_key
from aircoding.records.manifest import AssembledContext
from aircoding.records.usage import Cost, Usage, UsageSample
from aircoding.store import Store

USAGE = Usage(
    input_tokens=10, output_tokens=500, cache_read_tokens=100, cache_write_5m_tokens=7, cache_write_1h_tokens=3
)


def _assemble(store: Store, turn: int, model: str) -> AssembledContext:
    frame = snapshot(segment(f"x = {turn}"), turn=turn, limits=replace(LIMITS, model=model))
    context = assemble(frame)
    assert isinstance(context, AssembledContext)
    store.assemblies.record(context, snapshot=frame)
    return context


def _called(store: Store, turn: int, *, model: str = "test-model", request_id: str | None = "req_1") -> UsageSample:
    context = _assemble(store, turn, model)
    key = call_key(SESSION, turn)
    intent = replace(call(turn), manifest_id=context.manifest_id, model=model)
    tries = store.calls.intend(intent)
    content = ({"type": "text", "text": "On."},)
    reply = Reply(
        content=content,
        stop_reason="end_turn",
        usage=replace(USAGE, input_tokens=10 + turn),
        model=model,
        request_id=request_id,
    )
    store.calls.commit(key, tries, reply, Cost(usd=None, price_source="none"))
    return UsageSample(
        estimator="byte-class-2", expected_tokens=context.token_estimate.expected, actual_tokens=120 + turn
    )


@pytest.mark.moves_cache_prefix("rows of made-up turns: each is a request of its own")
def test_samples_are_the_newest_of_the_model_the_oldest_of_them_first(store: Store) -> None:
    store.runs.create(run())
    samples = [_called(store, 1), _called(store, 2), _called(store, 3)]
    _called(store, 4, model="another-model")

    assert store.usage.newest("test-model", limit=2) == tuple(samples[1:])
    assert store.usage.newest("unknown-model", limit=2) == ()


@pytest.mark.moves_cache_prefix("rows of made-up turns: each is a request of its own")
def test_what_was_simulated_failed_or_never_came_back_is_no_sample(store: Store) -> None:
    store.runs.create(run())
    kept = _called(store, 1, request_id=None)
    _called(store, 2, request_id="req_emulator_7")
    _called(store, 3, request_id="scripted:r1:T1:1:executor:1:3:0")
    for turn in (4, 5):
        context = _assemble(store, turn, "test-model")
        store.calls.intend(replace(call(turn), manifest_id=context.manifest_id))
    store.calls.fail(call_key(SESSION, 5), 0, "broken", maybe_billed=True)

    assert store.usage.newest("test-model", limit=9) == (kept,)
