"""Leader first: one call warms a prefix, the others follow; nobody waits for ever."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from support.contexts import snapshot

from aircoding.agents.prefix_gate import LIFE_SECONDS, Passage, PrefixGate, PrefixKey, shared_prefix
from aircoding.context.assembler import assemble
from aircoding.records.manifest import AssembledContext

KEY: PrefixKey = ("model", "digest")


class Clock:
    """Seconds that a test moves."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


class Caller:
    """One call through the gate: waits until it is told how its response goes."""

    def __init__(self, gate: PrefixGate, key: PrefixKey | None = KEY) -> None:
        self.passage: Passage | None = None
        self._ending: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.task = asyncio.create_task(self._call(gate, key))

    async def _call(self, gate: PrefixGate, key: PrefixKey | None) -> None:
        async with gate.passing(key) as self.passage:
            await self._ending

    @property
    def calls(self) -> bool:
        return self.passage is not None

    def begin(self) -> None:
        assert self.passage is not None
        self.passage.began()

    def fail(self) -> None:
        self._ending.set_exception(OSError("no"))

    def end(self) -> None:
        self._ending.set_result(None)


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


def calling(callers: list[Caller]) -> list[int]:
    return [number for number, caller in enumerate(callers) if caller.calls]


async def start(gate: PrefixGate, count: int = 4) -> list[Caller]:
    callers = [Caller(gate) for _ in range(count)]
    await settle()
    return callers


async def test_one_goes_ahead_and_the_others_start_when_its_response_begins() -> None:
    callers = await start(PrefixGate(Clock()))
    assert calling(callers) == [0]

    callers[0].begin()
    await settle()

    assert calling(callers) == [0, 1, 2, 3], "its answer has not ended yet"


async def test_a_leader_that_fails_makes_way_for_one_other() -> None:
    callers = await start(PrefixGate(Clock()))
    callers[0].fail()
    await settle()
    assert calling(callers) == [0, 1]
    with pytest.raises(OSError, match="no"):
        await callers[0].task

    callers[1].begin()
    await settle()
    assert calling(callers) == [0, 1, 2, 3]


async def test_a_leader_that_is_cancelled_makes_way_and_so_does_a_waiting_one() -> None:
    callers = await start(PrefixGate(Clock()))
    callers[1].task.cancel()
    callers[0].task.cancel()
    await settle()
    assert calling(callers) == [0, 2]


async def test_a_warm_prefix_lets_all_pass_until_its_life_is_over() -> None:
    clock = Clock()
    gate = PrefixGate(clock)
    (first,) = await start(gate, 1)
    first.begin()
    first.end()
    clock.now += LIFE_SECONDS - 1
    warm = await start(gate, 2)
    assert calling(warm) == [0, 1]
    warm[0].begin()

    clock.now += LIFE_SECONDS - 1
    assert calling(await start(gate, 2)) == [0, 1], "a use makes it live on"
    clock.now += 2
    assert calling(await start(gate, 2)) == [0]


async def test_prefixes_do_not_wait_for_each_other_and_what_shares_none_waits_for_nobody() -> None:
    gate = PrefixGate(Clock())
    callers = [Caller(gate, key) for key in (KEY, KEY, ("model", "other"), None, None)]
    await settle()
    assert calling(callers) == [0, 2, 3, 4]


async def test_a_leader_that_hangs_is_waited_for_a_bounded_time_and_the_passage_says_so() -> None:
    gate = PrefixGate(Clock(), patience_seconds=0.05)
    callers = await start(gate)
    await asyncio.sleep(0.1)
    assert calling(callers) == [0, 1, 2, 3]
    assert [caller.passage.overdue_seconds for caller in callers if caller.passage] == [None, 0.05, 0.05, 0.05]

    late = Caller(gate)
    await settle()
    assert not late.calls
    callers[1].begin()
    await settle()
    assert late.calls, "any response that begins warms the prefix"


async def test_what_is_shared_ends_at_the_last_mark_in_system() -> None:
    given = snapshot()
    marked, plain = (
        assemble(replace(given, limits=replace(given.limits, cache_marks=marks, min_cache_prefix_tokens=0)))
        for marks in (True, False)
    )
    assert isinstance(marked, AssembledContext)
    assert isinstance(plain, AssembledContext)
    last = [mark for mark in marked.manifest.cache if mark.mark.startswith("/system/")][-1]
    assert last.mark == f"/system/{len(marked.system) - 1}"
    assert shared_prefix(marked) == (given.request.model, last.prefix_digest)
    assert shared_prefix(plain) is None
