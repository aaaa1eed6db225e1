"""The durable engine on SQLite: steps once, workflows by id, suspended and cancelled, silent."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from aircoding.errors import InternalError, StoreError
from aircoding.fleet.engine import DirectEngine, DurableEngine, Workflow


@asynccontextmanager
async def launched(database: Path, bodies: Mapping[str, Callable[..., Awaitable[Any]]]) -> AsyncIterator[DurableEngine]:
    """An engine whose workflows get it as their first argument."""
    holder: list[DurableEngine] = []

    def late(body: Callable[..., Awaitable[Any]]) -> Workflow:
        async def workflow(*arguments: str) -> Any:
            return await body(holder[0], *arguments)

        return workflow

    engine = DurableEngine(
        str(database), executor_id="r1", workflows={name: late(body) for name, body in bodies.items()}
    )
    holder.append(engine)
    engine.launch()
    try:
        yield engine
    finally:
        await engine.suspend()
        engine.close()


def test_a_step_that_is_recorded_is_not_run_again(tmp_path: Path) -> None:
    ran: list[str] = []
    between = asyncio.Event()

    async def noted(name: str) -> str:
        ran.append(name)
        return name

    async def first_life(engine: DurableEngine, _: str) -> str:
        await engine.step("one", lambda: noted("one"))
        between.set()
        await asyncio.Event().wait()
        return "never"

    async def second_life(engine: DurableEngine, argument: str) -> str:
        one = await engine.step("one", lambda: noted("one"))
        two = await engine.step("two", lambda: noted("two"))
        return f"{argument}: {one}, {two}"

    async def live() -> str:
        async with launched(tmp_path / "engine.db", {"work": first_life}) as engine:
            await engine.start("work", "w1", "x")
            await asyncio.wait_for(between.wait(), 10)
        async with launched(tmp_path / "engine.db", {"work": second_life}) as engine:
            await engine.start("work", "w1", "x")
            return str(await engine.result("w1"))

    assert asyncio.run(live()) == "x: one, two"
    assert ran == ["one", "two"]


def test_a_workflow_is_started_once_under_its_id(tmp_path: Path) -> None:
    runs: list[str] = []

    async def work(_: DurableEngine, argument: str) -> str:
        runs.append(argument)
        return argument

    async def live() -> list[Any]:
        async with launched(tmp_path / "engine.db", {"work": work}) as engine:
            results = []
            for argument in ("a", "b"):
                await engine.start("work", "w1", argument)
                results.append(await engine.result("w1"))
            return [*results, await engine.ended("w1"), await engine.ended("w2")]

    assert asyncio.run(live()) == ["a", "a", True, False]
    assert runs == ["a"]


def test_the_first_of_several_to_end_is_named_also_when_it_broke(tmp_path: Path) -> None:
    async def work(_: DurableEngine, seconds: str) -> str:
        if seconds == "0":
            raise ValueError("broken")
        await asyncio.sleep(float(seconds))
        return seconds

    async def live() -> tuple[str, str]:
        async with launched(tmp_path / "engine.db", {"work": work}) as engine:
            await engine.start("work", "slow", "0.5")
            await engine.start("work", "broken", "0")
            first = await engine.first(["slow", "broken"])
            with pytest.raises(ValueError, match="broken"):
                await engine.result("broken")
            assert await engine.ended("broken")
            return first, await engine.first(["slow"])

    assert asyncio.run(live()) == ("broken", "slow")


def test_a_fault_of_the_engines_database_is_known_as_such_also_by_a_later_process(tmp_path: Path) -> None:
    async def work(_: DurableEngine, folder: str) -> None:
        sa.create_engine(f"sqlite:///{folder}/none/engine.db").connect()

    async def live() -> list[str]:
        said = []
        for _ in range(2):
            async with launched(tmp_path / "engine.db", {"work": work}) as engine:
                await engine.start("work", "w1", str(tmp_path))
                with pytest.raises(StoreError, match="unable to open database file") as caught:
                    await engine.result("w1")
                assert await engine.ended("w1")
                said.append(caught.value.code)
        return said

    assert asyncio.run(live()) == ["store.engine", "store.engine"]


def test_a_workflow_joins_its_child_and_a_cancel_reaches_it(tmp_path: Path) -> None:
    ended: list[str] = []

    async def child(engine: DurableEngine, name: str) -> str:
        async def wait() -> str:
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                ended.append(name)
                raise
            return "late"

        return str(await engine.step("wait", wait))

    async def parent(engine: DurableEngine, name: str) -> str:
        await engine.start("child", f"{name}:child", name)
        return str(await engine.result(f"{name}:child"))

    async def live() -> None:
        async with launched(tmp_path / "engine.db", {"parent": parent, "child": child}) as engine:
            await engine.start("parent", "p", "p")
            await asyncio.sleep(0.5)
            await asyncio.wait_for(engine.cancel("p"), 5)
            assert ended == ["p"]
            assert await engine.ended("p")
            assert await engine.ended("p:child")
            with pytest.raises(InternalError, match="cancelled"):
                await engine.result("p")

    asyncio.run(live())


def test_what_is_suspended_goes_on_at_the_next_launch_by_itself(tmp_path: Path) -> None:
    """Each life has an event loop of its own, as each process has: the engine leaves its threads to the loop."""
    lives: list[int] = []
    reached: asyncio.Event

    async def work(engine: DurableEngine, _: str) -> str:
        async def body() -> str:
            lives.append(len(lives))
            reached.set()
            if len(lives) == 1:
                await asyncio.sleep(60)
            return "done"

        return str(await engine.step("body", body))

    async def first_life() -> None:
        nonlocal reached
        reached = asyncio.Event()
        async with launched(tmp_path / "engine.db", {"work": work}) as engine:
            await engine.start("work", "w1", "x")
            await asyncio.wait_for(reached.wait(), 10)
            assert not await engine.ended("w1")

    async def second_life() -> str:
        nonlocal reached
        reached = asyncio.Event()
        async with launched(tmp_path / "engine.db", {"work": work}) as engine:
            await asyncio.wait_for(reached.wait(), 10)
            await engine.start("work", "w1", "x")
            return str(await engine.result("w1"))

    asyncio.run(first_life())
    assert asyncio.run(second_life()) == "done"
    assert lives == [0, 1]


def test_nothing_of_the_engine_reaches_the_person(tmp_path: Path) -> None:
    """A workflow that breaks, one that is cut off, and a recovery: stdout and stderr stay empty."""
    script = f"""
import asyncio
from aircoding.fleet.engine import DurableEngine

async def broken(*_): raise ValueError("broken")
async def endless(*_): await asyncio.sleep(600)

async def life():
    engine = DurableEngine({str(tmp_path / "engine.db")!r}, executor_id="r1", workflows={{"b": broken, "e": endless}})
    engine.launch()
    await engine.start("b", "b1")
    await engine.start("e", "e1")
    assert await engine.first(["b1", "e1"]) == "b1"
    await engine.suspend()
    engine.close()

asyncio.run(life())
asyncio.run(life())
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_engine_launches_again_after_the_error_stream_was_closed(tmp_path: Path) -> None:
    script = f"""
import asyncio, io, sys
from aircoding.fleet.engine import DurableEngine

async def life():
    engine = DurableEngine({str(tmp_path / "engine.db")!r}, executor_id="r1", workflows={{}})
    engine.launch()
    await engine.suspend()
    engine.close()

true_stream, sys.stderr = sys.stderr, io.TextIOWrapper(io.BytesIO())
asyncio.run(life())
sys.stderr.close()
sys.stderr = true_stream
asyncio.run(life())
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_database_is_in_wal_mode_and_for_the_owner_alone(tmp_path: Path) -> None:
    async def live() -> None:
        async with launched(tmp_path / "deep" / "engine.db", {}):
            assert (tmp_path / "deep" / "engine.db-wal").exists()

    asyncio.run(live())
    assert (tmp_path / "deep").stat().st_mode & 0o777 == 0o700


def test_the_direct_engine_keeps_the_same_promises_within_one_process() -> None:
    runs: list[str] = []

    async def work(argument: str) -> str:
        runs.append(argument)
        await asyncio.sleep(float(argument))
        return argument

    async def live() -> None:
        engine = DirectEngine({"work": work})
        await engine.start("work", "slow", "60")
        await engine.start("work", "fast", "0")
        await engine.start("work", "fast", "1")
        assert await engine.first(["slow", "fast"]) == "fast"
        assert await engine.result("fast") == "0"
        assert await engine.ended("fast")
        assert not await engine.ended("slow")
        await engine.cancel("slow")
        assert await engine.ended("slow")
        await engine.start("work", "another", "60")
        await engine.suspend()
        assert await engine.ended("another")

    asyncio.run(live())
    assert runs == ["60", "0", "60"] or runs == ["60", "0"]
