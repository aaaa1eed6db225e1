"""The text index is made anew in steps: what is recorded meanwhile, and wherever they stop, is found."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.recorded_runs import record_run
from support.stores import empty_store

from aircoding.store import Store, open_store
from aircoding.store.database import connect_database
from aircoding.store.text_refilling import needs_refill, owe_refill, refill_step

LATER = "2099-01-01T00:00:00Z"
WORDS = ("harbour", "lantern", "north", "kettle")


def indexed(path: Path) -> list[tuple[str, int]]:
    """Every word of the index with each row that has it, as often as it stands there."""
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("CREATE VIRTUAL TABLE temp.words USING fts5vocab(main, text_index, instance)")
        return sorted(raw.execute("SELECT term, doc FROM temp.words"))


def found(store: Store) -> list[object]:
    """What a search finds of each word, without what it says of texts that it did not read."""
    return [store.search.find(word) for word in WORDS]


steps = st.lists(st.one_of(st.just("step"), st.sampled_from(WORDS)), max_size=9)


@given(before=st.lists(st.sampled_from(WORDS), min_size=1, max_size=3), acts=steps)
@settings(deadline=None, max_examples=6)
def test_what_is_recorded_between_steps_is_found_at_once_and_stands_once_in_the_index(
    before: list[str], acts: list[str]
) -> None:
    with empty_store() as store, pytest.MonkeyPatch.context() as patch:
        patch.setattr("aircoding.store.text_refilling._NUMBERS_AT_ONCE", 2)
        database = store._database
        for number, word in enumerate(before):
            record_run(store, f"before{number}", [f"{word} one\n", f"{number} {word}\n"], turns=1)
        database.write(owe_refill)
        for number, act in enumerate(acts):
            if act == "step":
                database.write(refill_step)
            else:
                record_run(store, f"r{number}", [f"{act} one\n", f"{act} of {number}\n"], turns=1)
            seen = found(store)
            patch.setattr("aircoding.store.text_search.is_whole", lambda _: False)
            assert seen == found(store), "with the index and without it"
            patch.undo()
            patch.setattr("aircoding.store.text_refilling._NUMBERS_AT_ONCE", 2)
        store.pruner.refill()
        assert database.path is not None
        interrupted = indexed(database.path)
        database.write(owe_refill)
        store.pruner.refill()
        assert interrupted == indexed(database.path)


def test_a_sweep_that_stops_before_the_index_is_whole_is_gone_on_with_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "air.db"
    with open_store(path) as store:
        record_run(store, "old", ["The marmalade ledger.\n"])
        record_run(store, "new", ["The kettle sings.\n"])
        store.pruner.remove("old")

        def stopped(_: object) -> bool:
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr("aircoding.store.pruning.refill_step", stopped)
            with pytest.raises(KeyboardInterrupt):
                store.pruner.sweep(ended_at=LATER)
        assert store.search.find("kettle").segments, "what is kept is found meanwhile"
        store.pruner.sweep(ended_at=LATER)
        assert store.search.find("kettle").segments
    assert not [term for term, _ in indexed(path) if term in {"marmalade", "ledger"}]


def test_a_sweep_that_finds_nothing_leaves_the_index_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "air.db"
    with open_store(path) as store:
        record_run(store, "new", ["The kettle sings.\n"])
        monkeypatch.setattr("aircoding.store.pruning.refill_step", None)
        store.pruner.sweep(ended_at=LATER)
    with closing(connect_database(path)) as database, database.read() as connection:
        assert not needs_refill(connection)
