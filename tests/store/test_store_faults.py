"""What databases and disks do wrong is said in words, with a way out, and nothing that was committed is lost."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Barrier, BrokenBarrierError, Thread

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import OperationalError
from support.records import RUN, SESSION, brief, event, run

from aircoding.errors import StoreError
from aircoding.store import Store, open_store
from aircoding.store.database import Database, connect_database
from aircoding.store.faults import store_error

BWRAP = shutil.which("bwrap")


def in_bwrap(*options: str) -> list[str]:
    """A command line that runs in this file system with `options` laid over it; skips where that is not possible."""
    if BWRAP is None:
        pytest.skip("bubblewrap is not installed")
    if subprocess.run([BWRAP, "--dev-bind", "/", "/", "true"], capture_output=True).returncode != 0:
        pytest.skip("bubblewrap does not work on this machine")
    return [BWRAP, "--dev-bind", "/", "/", *options]


def run_in(prefix: list[str], code: str, *arguments: str) -> str:
    """Run Python code behind a prefix and return what it printed."""
    done = subprocess.run([*prefix, sys.executable, "-c", code, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


READ_ONLY = """
import sys
from aircoding.errors import StoreError
from aircoding.store import open_store
store = open_store(sys.argv[1], read_only=True)
print([event.type for event in store.events.read("r1")])
store.close()
try:
    open_store(sys.argv[1]).runs.finish("r1", "done")
except StoreError as error:
    print(error.code, "|", error.hint)
"""


@pytest.mark.sandbox
@pytest.mark.parametrize("while_open", [True, False])
def test_a_read_only_disk_can_be_read_and_says_that_it_cannot_be_written(tmp_path: Path, while_open: bool) -> None:
    store = open_store(tmp_path / "air.db")
    store.runs.create(run())
    store.events.append(event("run.started"))
    if not while_open:
        store.close()
    printed = run_in(in_bwrap("--ro-bind", str(tmp_path), str(tmp_path)), READ_ONLY, str(tmp_path / "air.db"))
    store.close()
    types, refused = printed.splitlines()
    assert types == "['run.started']"
    assert refused.startswith("store.read_only | Check the owner and the mode")


FULL = """
import sys
from aircoding.errors import StoreError
from aircoding.store import open_store
from support.records import event, run
store = open_store(sys.argv[1])
store.runs.create(run())
told = 0
try:
    while True:
        store.events.append(event("x", payload="word " * 4000))
        told += 1
except StoreError as error:
    print(error.code, "|", error.hint)
    print(told == len(open_store(sys.argv[1], read_only=True).events.read("r1")) and told > 10)
"""


@pytest.mark.sandbox
def test_a_full_disk_is_named_and_what_was_committed_is_there(tmp_path: Path) -> None:
    place = tmp_path / "small"
    place.mkdir()
    small = in_bwrap("--size", "3000000", "--tmpfs", str(place), "--setenv", "PYTHONPATH", _path())
    refused, kept = run_in(small, FULL, str(place / "air.db")).splitlines()
    assert refused.startswith("store.full | Free disk space and type it again; a run goes on with `aircoding resume`")
    assert kept == "True"


def _path() -> str:
    return ":".join([str(Path(__file__).parents[1]), *sys.path])


def test_a_store_for_reading_refuses_to_write(store: Store, database_url: str) -> None:
    store.runs.create(run())
    reading = open_store(database_url, read_only=True)
    assert reading.runs.get(RUN) == run()
    with pytest.raises(StoreError, match="opened for reading only") as caught:
        reading.events.append(event("x"))
    assert caught.value.code == "store.read_only"
    with pytest.raises(StoreError, match="opened for reading only"):
        reading.claim(RUN)
    reading.close()


def test_reads_cannot_write(store: Store, database_url: str) -> None:
    database = connect_database(database_url)
    with pytest.raises(StoreError) as caught, database.read() as connection:
        connection.execute(sa.text("DELETE FROM runs"))
    assert caught.value.code == "store.read_only"
    database.close()


def test_a_database_that_stays_locked_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    open_store(tmp_path / "air.db").close()
    monkeypatch.setattr("aircoding.store.database.BUSY_TIMEOUT_SECONDS", 0.05)
    store = open_store(tmp_path / "air.db")
    with sqlite3.connect(tmp_path / "air.db", isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="is held by another process") as caught:
            store.runs.create(run())
        assert store.runs.runs() == (), "reading goes on while another writes"
        other.execute("ROLLBACK")
    other.close()
    assert caught.value.code == "store.locked"
    store.runs.create(run())
    store.close()


def test_a_directory_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreError, match="directory of the database cannot be made") as caught:
        open_store(tmp_path / "file" / "air.db")
    assert caught.value.code == "store.unreachable"


def test_a_damaged_row_is_named(store: Store, database_url: str) -> None:
    store.sessions.open(brief())
    database = connect_database(database_url)
    told = b'{"session_id":"s","evidence":[]}'
    change = "UPDATE texts SET codec = 0, body = :body WHERE digest = (SELECT brief_digest FROM sessions)"
    database.write(lambda connection: connection.execute(sa.text(change), {"body": told}))
    database.close()
    with pytest.raises(StoreError, match=r"The brief of .* cannot be read: role") as caught:
        store.sessions.brief(SESSION)
    assert caught.value.code == "store.damaged"


def test_an_unknown_fault_is_shown_as_it_is() -> None:
    error = store_error(OperationalError("SELECT 1", None, sqlite3.OperationalError("something new")), "air.db")
    assert (error.code, str(error)) == ("store.failed", "The database air.db failed: something new")


def test_paid_results_are_synced_and_the_rest_is_not(database_url: str, opener: Callable[[], Store]) -> None:
    opener()
    database = connect_database(database_url)
    ask = "PRAGMA synchronous" if database.dialect == "sqlite" else "SHOW synchronous_commit"

    def setting(*, durable: bool) -> str:
        return str(database.write(lambda connection: connection.exec_driver_sql(ask).scalar(), durable=durable))

    assert (setting(durable=True), setting(durable=False)) == (
        ("2", "1") if database.dialect == "sqlite" else ("on", "off")
    )
    if database.dialect == "sqlite":
        assert database.write(lambda connection: connection.exec_driver_sql("PRAGMA journal_mode").scalar()) == "wal"
        assert database.write(lambda connection: connection.exec_driver_sql("PRAGMA foreign_keys").scalar()) == 1
    database.close()


def test_a_transaction_that_fails_leaves_nothing(store: Store, database_url: str) -> None:
    store.runs.create(run())
    database = connect_database(database_url)

    def body(connection: sa.Connection) -> None:
        connection.execute(sa.text("UPDATE runs SET goal = 'changed'"))
        raise KeyError("in the middle")

    with pytest.raises(KeyError):
        database.write(body)
    database.close()
    assert store.runs.get(RUN).goal == "Items"


def test_a_deadlock_is_run_again(store: Store, database_url: str) -> None:
    if "://" not in database_url:
        pytest.skip("SQLite has one writer at a time: nothing can wait crosswise")
    store.runs.create(run("a"))
    store.runs.create(run("b"))
    assert _cross(database_url) == [2, 2]


def _cross(database_url: str) -> list[int]:
    """Two transactions that lock two rows in opposite order; return how often each row was changed."""
    database = connect_database(database_url)
    both_hold_one = Barrier(2)

    def change(first: str, second: str) -> None:
        def body(connection: sa.Connection) -> None:
            grow = sa.text("UPDATE runs SET last_seq = last_seq + 1 WHERE run_id = :run")
            connection.execute(grow, {"run": first})
            with suppress(BrokenBarrierError):  # broken on the second try: the other one is through
                both_hold_one.wait(timeout=10)
            both_hold_one.abort()
            connection.execute(grow, {"run": second})

        database.write(body)

    threads = [Thread(target=change, args=pair) for pair in (("a", "b"), ("b", "a"))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    counts = _counts(database)
    database.close()
    return counts


def _counts(database: Database) -> list[int]:
    with database.read() as connection:
        return [
            int(each) for each in connection.execute(sa.text("SELECT last_seq FROM runs ORDER BY run_id")).scalars()
        ]
