"""Many writes in one transaction: all of them, or none."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from support.records import AT, RUN, event, run

from aircoding.store import Store


def test_writes_of_a_block_stand_together(store: Store, opener: Callable[[], Store]) -> None:
    def block(inside: Store) -> None:
        inside.runs.create(run())
        inside.events.append(event("run.started"), event("task.done", "T1"))
        assert [one.run_id for one in inside.runs.runs()] == [RUN], "the block sees what it wrote"
        assert opener().runs.runs() == (), "nobody else sees it before the end"

    store.together(block, now=lambda: AT)
    assert [one.run_id for one in opener().runs.runs()] == [RUN]
    assert [one.type for one in opener().events.read(RUN)] == ["run.started", "task.done"]


def test_of_a_block_that_raises_nothing_stands(store: Store, opener: Callable[[], Store]) -> None:
    def block(inside: Store) -> None:
        inside.runs.create(run())
        raise RuntimeError

    with pytest.raises(RuntimeError):
        store.together(block, now=lambda: AT)
    assert opener().runs.runs() == ()
    store.runs.create(run())
    assert len(opener().runs.runs()) == 1, "the next write is one of its own"
