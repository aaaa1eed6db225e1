"""Many writes in one transaction: all of them, or none."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from support.records import RUN, event, run

from aircoding.errors import NotFoundError, StoreError
from aircoding.store import Store


def test_writes_of_a_block_stand_together(store: Store, opener: Callable[[], Store]) -> None:
    with store.together():
        store.runs.create(run())
        store.events.append(event("run.started"), event("task.done", "T1"))
        assert opener().runs.runs() == (), "nobody sees it before the end"
    assert [one.run_id for one in opener().runs.runs()] == [RUN]
    assert [one.type for one in opener().events.read(RUN)] == ["run.started", "task.done"]


def test_of_a_block_that_raises_nothing_stands(store: Store, opener: Callable[[], Store]) -> None:
    def block() -> None:
        with store.together():
            store.runs.create(run())
            raise RuntimeError

    with pytest.raises(RuntimeError):
        block()
    assert opener().runs.runs() == ()
    store.runs.create(run())
    assert len(opener().runs.runs()) == 1, "the next write is one of its own"


def test_a_write_that_failed_fails_its_block_though_its_error_was_caught(
    store: Store, opener: Callable[[], Store]
) -> None:
    def block() -> None:
        with store.together():
            store.runs.create(run())
            with pytest.raises(NotFoundError, match="no run"):
                store.runs.finish("nobody", "done")

    with pytest.raises(StoreError, match="is undone") as caught:
        block()
    assert caught.value.code == "store.together"
    assert opener().runs.runs() == ()


def test_a_block_within_a_block_belongs_to_it(store: Store, opener: Callable[[], Store]) -> None:
    def block() -> None:
        with store.together():
            with store.together():
                store.runs.create(run())
            raise RuntimeError

    with pytest.raises(RuntimeError):
        block()
    assert opener().runs.runs() == ()
