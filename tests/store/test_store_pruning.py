"""Letting go: what a kept run needs stays, whatever else goes, and nothing else stays."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.recorded_runs import answers, record_run

from aircoding.errors import NotFoundError
from aircoding.records.ids import ManifestId
from aircoding.store import Store, open_store
from aircoding.store.database import connect_database
from aircoding.store.dictionary import deflate
from aircoding.store.texts import TEXTS, unpacked

OLD = "2026-01-02T00:00:00Z"
LATER = "2099-01-01T00:00:00Z"
"""When what is stored in a test counts as long stored."""
SHARED = "def shared():\n    return 'every run reads me'\n"


def stored(url: str) -> dict[str, str | None]:
    """Every text that is on record, by digest."""
    database = connect_database(url)
    with database.read() as connection:
        found = connection.execute(sa.select(TEXTS.c.digest, TEXTS.c.codec, TEXTS.c.body)).all()
    database.close()
    return {digest: body and unpacked(digest, codec, body) for digest, codec, body in found}


def test_a_removed_run_is_gone_and_what_others_share_with_it_stays(store: Store, database_url: str) -> None:
    record_run(store, "old", [SHARED, "only the old run reads me"])
    record_run(store, "new", [SHARED, "only the new run reads me"])
    before = answers(store, "new")
    store.pruner.remove("old")
    swept = store.pruner.sweep(ended_at=LATER)
    assert swept.texts > 0
    assert swept.stored_bytes > 0
    assert answers(store, "new") == before
    texts = [text for text in stored(database_url).values() if text]
    assert any(SHARED in text for text in texts)
    assert not any("only the old run" in text or "output of old" in text or "plan of old" in text for text in texts)
    with pytest.raises(NotFoundError):
        store.runs.get("old")
    rows = store.index.row_counts()
    assert (rows["runs"], rows["sessions"], rows["assemblies"], rows["model_calls"]) == (1, 1, 2, 2)
    assert store.pruner.sweep(ended_at=LATER).texts == 0, "a second sweep finds nothing"


def test_what_is_left_is_what_a_store_without_the_run_would_hold(store: Store, tmp_path: Path) -> None:
    record_run(store, "new", [SHARED, "new"])
    record_run(store, "old", [SHARED, "old"])
    store.pruner.remove("old")
    store.pruner.sweep(ended_at=LATER)
    with open_store(tmp_path / "only.db") as only:
        record_run(only, "new", [SHARED, "new"])
        assert store.index.row_counts() == only.index.row_counts()


def test_texts_that_went_leave_an_account(store: Store, database_url: str) -> None:
    session = record_run(store, "old", [SHARED, "only the old run reads me"])
    record_run(store, "new", [SHARED])
    heads = store.index.heads(run_id="old")
    account = store.assemblies.get(ManifestId(heads[0].manifest_id)).manifest
    kept = answers(store, "new")
    store.pruner.let_go(["old"])
    foreseen = store.pruner.unneeded()
    swept = store.pruner.sweep(ended_at=LATER)
    assert (swept.texts, swept.stored_bytes) == (foreseen.texts, foreseen.stored_bytes)
    assert store.assemblies.account(ManifestId(heads[0].manifest_id)).manifest == account
    assert store.queries.costs("old")[0].cost_usd == 0.5
    assert store.index.tools(session)
    assert not any("only the old run" in text for text in stored(database_url).values() if text)
    with pytest.raises(NotFoundError, match="texts are not kept"):
        store.assemblies.get(ManifestId(heads[0].manifest_id))
    assert answers(store, "new") == kept


def test_a_text_that_was_just_stored_waits_for_who_is_about_to_name_it(store: Store) -> None:
    digest = store.texts.put("named in a moment")
    assert store.pruner.sweep().texts == 0
    assert store.texts.get(digest) is not None
    assert store.pruner.sweep(ended_at=LATER).texts == 1
    assert store.texts.get(digest) is None


def test_what_the_engine_holds_stays(store: Store) -> None:
    digest = store.texts.put("a step's result")
    inner = store.texts.put(f"see {digest}")
    store.pruner.sweep(held=[inner], ended_at=LATER)
    assert (store.texts.get(digest), store.texts.get(inner)) == ("a step's result", f"see {digest}")


def test_what_is_recorded_between_the_look_and_the_sweep_stays(
    opener: Callable[[], Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, other = opener(), opener()
    record_run(first, "old", [SHARED, "old words"])
    first.pruner.remove("old")
    from aircoding.store import pruning

    step, done = pruning._sweep_texts, []

    def late(connection: sa.Connection, **given: object) -> tuple[int, int]:
        return step(connection, **given)  # type: ignore[arg-type]

    look = pruning._kept

    def looked(*given: object) -> set[str]:
        kept = look(*given)  # type: ignore[arg-type]
        record_run(other, "new", [SHARED, "old words"])
        done.append(answers(other, "new"))
        return kept

    monkeypatch.setattr(pruning, "_kept", looked)
    monkeypatch.setattr(pruning, "_sweep_texts", late)
    first.pruner.sweep(ended_at=LATER)
    assert answers(other, "new") == done[0]


words = st.lists(st.sampled_from(["a = 1\n", "b = 2\n", SHARED, "ccc\n" * 60, "é" * 50]), min_size=1, max_size=3)
plans = st.lists(st.tuples(words, st.integers(1, 2), st.sampled_from(["keep", "remove", "let go"])), max_size=3)


@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(runs=plans)
def test_whatever_goes_every_kept_run_answers_as_before(
    tmp_path_factory: pytest.TempPathFactory, runs: list[tuple[list[str], int, str]]
) -> None:
    with open_store(tmp_path_factory.mktemp("store") / "air.db") as store:
        for number, (texts, turns, _) in enumerate(runs):
            record_run(store, f"r{number}", texts, turns=turns, output="".join(texts))
        kept = [f"r{number}" for number, (_, _, fate) in enumerate(runs) if fate == "keep"]
        before = {run: answers(store, run) for run in kept}
        for number, (_, _, fate) in enumerate(runs):
            if fate == "remove":
                store.pruner.remove(f"r{number}")
            elif fate == "let go":
                store.pruner.let_go([f"r{number}"])
        store.pruner.sweep(ended_at=LATER)
        store.pruner.shrink()
        assert {run: answers(store, run) for run in kept} == before
        for number, (_, _, fate) in enumerate(runs):
            if fate == "let go":
                heads = store.index.heads(run_id=f"r{number}")
                assert [store.assemblies.account(ManifestId(head.manifest_id)).digest for head in heads]


_KILLED = """
import os, signal, sys
from aircoding.store import open_store, pruning
step, left = pruning._sweep_texts, [int(sys.argv[2])]
pruning._AT_ONCE = 3
def dies(connection, **given):
    done = step(connection, **given)
    left[0] -= 1
    if left[0] == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return done
pruning._sweep_texts = dies
with open_store(sys.argv[1]) as store:
    store.pruner.remove("old")
    store.pruner.sweep(ended_at="2099-01-01T00:00:00Z")
"""


def test_a_kill_in_the_middle_of_a_sweep_loses_nothing_that_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "air.db"
    with open_store(path) as store:
        record_run(store, "old", [SHARED, "old", "older"])
        record_run(store, "new", [SHARED, "new"])
        before = answers(store, "new")
    killed = subprocess.run([sys.executable, "-c", _KILLED, str(path), "3"], env=dict(os.environ), timeout=60)
    assert killed.returncode == -signal.SIGKILL
    with open_store(path) as store:
        assert answers(store, "new") == before
        assert store.pruner.sweep(ended_at=LATER).texts > 0, "the next one goes on"
        assert answers(store, "new") == before
    assert not any("older" in text for text in stored(str(path)).values() if text)


def test_nothing_of_a_text_is_left_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "air.db"
    sentence = "The quick marmalade crosses nine silent harbours.\n" * 3
    with open_store(path) as store:
        record_run(store, "old", [sentence], output=f"I read: {sentence}")
        store.pruner.let_go(["old"])
        store.pruner.sweep(ended_at=LATER)
        assert store.pruner.shrink()
    raw = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert b"marmalade" not in raw
    assert deflate(sentence.encode()) not in raw
