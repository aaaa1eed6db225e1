"""A record of before comes through the upgrade: every assembly, every snapshot, every row of the views."""

from __future__ import annotations

import gzip
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from store.test_store_assemblies import assert_same, session

from aircoding.records.digests import fingerprint
from aircoding.records.ids import ManifestId
from aircoding.records.jsonable import jsonable
from aircoding.records.snapshot import Snapshot
from aircoding.store import Store, migrations, open_store
from aircoding.store.database import Database, connect_database
from aircoding.store.schema import VERSION_TABLE, read_schema_state

DUMP = Path(__file__).parent / "data" / "at_0005.sql.gz"
"""A store that a program of schema 0005 wrote: a session of three turns and another worker's first."""
RECORDED = {
    "m-2198a6d3ac28a061493d": ("a82c3c20bb96573d", "57e0c6fe9fd70be1"),
    "m-6bc7a1a4aa340b33b48b": ("101a2bae6f4305e8", "235212e958f18821"),
    "m-9b904ab3d407a4fb3182": ("88acfd767aaba748", "ed54f5dfd330422e"),
    "m-238da251c20948c28dc0": ("9390211588b84224", "0f8007d3bdcc45ab"),
}
"""Of each assembly the beginnings of the fingerprints of its account and its snapshot, as that program gave them."""
VIEWS = ("v_segments", "v_omissions", "v_conflicts")


@pytest.fixture
def old(tmp_path: Path) -> Path:
    path = tmp_path / "air.db"
    with closing(sqlite3.connect(path)) as made:
        made.executescript(gzip.decompress(DUMP.read_bytes()).decode("utf-8"))
    return path


def test_a_store_of_before_is_upgraded_and_every_assembly_comes_back(old: Path) -> None:
    before = rows_of(old)
    with open_store(old, migrate="upgrade") as store:
        assert store.schema_state().status == "current"
        assert found_in(store) == RECORDED
    assert rows_of(old) == before
    with closing(sqlite3.connect(old)) as raw:
        assert raw.execute("PRAGMA foreign_key_check").fetchall() == []


def test_a_session_of_before_goes_on_after_the_upgrade(old: Path) -> None:
    with open_store(old, migrate="upgrade") as store:
        rows = store.index.row_counts()
        *_, (fourth, given), (fifth, later) = session(5)
        store.assemblies.record(fourth, snapshot=given)
        store.assemblies.record(fifth, snapshot=later)
        now = store.index.row_counts()
        assert now["assemblies"] - rows["assemblies"] == 2
        assert now["segments"] - rows["segments"] == 2 * 3, "what stood there before is not stored again"
        for context, snapshot in ((fourth, given), (fifth, later)):
            assert_same(store.assemblies.get(context.manifest_id), context)
            again = store.assemblies.snapshot(context.manifest_id)
            # What was sent before is as the old program told of it; its words may have been others.
            assert jsonable(replace(again, frozen=None)) == jsonable(replace(snapshot, frozen=None))
            assert again.frozen is not None
            assert again.frozen.context == store.assemblies.get(again.frozen.context.manifest_id)


def test_a_record_whose_run_is_not_there_is_kept_whole_by_every_sweep(old: Path) -> None:
    with open_store(old, migrate="upgrade") as store:
        assert store.runs.runs() == ()
        assert store.pruner.unneeded().texts == 0
        swept = store.pruner.sweep(ended_at="2099-01-01T00:00:00Z")
        assert (swept.texts, found_in(store)) == (0, RECORDED)


def test_upgrades_side_by_side_make_one_copy_and_the_next_one_none(old: Path) -> None:
    code = (
        "import sys; from aircoding.store import open_store\n"
        "with open_store(sys.argv[1], migrate='never') as store: print(store.upgrade()[1] or 'none')"
    )
    started = [
        subprocess.Popen([sys.executable, "-c", code, str(old)], stdout=subprocess.PIPE, text=True) for _ in range(3)
    ]
    said = sorted(process.communicate(timeout=120)[0].strip() for process in started)
    assert [process.returncode for process in started] == [0, 0, 0]
    (backup,) = old.parent.glob("*.backup*")
    assert said == sorted([str(backup), "none", "none"])
    with closing(connect_database(backup)) as copy:
        assert read_schema_state(copy).current == "0005_run_profile"
    with open_store(old) as store:
        assert store.upgrade()[1] is None
        assert found_in(store) == RECORDED
    assert list(old.parent.glob("*.backup*")) == [backup]


def test_the_upgrade_keeps_the_rows_on_both_databases(database_url: str, old: Path) -> None:
    database = connect_database(database_url)
    with closing(database):
        database.write(lambda connection: upgrade_to(connection, "0005_run_profile"))
        database.write(lambda connection: _copy(old, connection))
        before = list(_views(database))
        store = open_store(database_url, migrate="never")
        store.upgrade()
        assert list(_views(database)) == before
        segments = store.index.row_counts()["segments"]
        *_, (fourth, given) = session(4)
        store.assemblies.record(fourth, snapshot=given)
        assert store.index.row_counts()["segments"] - segments == 3
        assert_same(store.assemblies.get(fourth.manifest_id), fourth)
        assert found_in(store).items() >= RECORDED.items()
        store.close()


def _copy(old: Path, target: sa.Connection) -> None:
    """Copy all rows of an old store into empty tables of the same schema."""
    tables = sa.MetaData()
    tables.reflect(target)
    with closing(sqlite3.connect(old)) as raw:
        raw.row_factory = sqlite3.Row
        for table in tables.sorted_tables:
            rows = [dict(row) for row in raw.execute(f"SELECT * FROM {table.name}")]
            if not rows or table.name == VERSION_TABLE:
                continue
            target.execute(table.insert(), rows)
            key = next(iter(table.primary_key))
            if target.dialect.name == "postgresql" and isinstance(key.type, sa.Integer):
                sequence = sa.func.pg_get_serial_sequence(table.name, key.name)
                target.execute(sa.select(sa.func.setval(sequence, max(row[key.name] for row in rows))))


def found_in(store: Store) -> dict[str, tuple[str, str]]:
    """Return what `RECORDED` says, of a store."""
    return {
        head.manifest_id: (
            fingerprint(jsonable(store.assemblies.get(ManifestId(head.manifest_id))))[:16],
            fingerprint(_as_of_then(store.assemblies.snapshot(ManifestId(head.manifest_id))))[:16],
        )
        for head in store.index.heads()
    }


def _as_of_then(snapshot: Snapshot) -> Any:
    """Return a snapshot in JSON without what snapshots have had only since: it must be at its default."""
    value = jsonable(snapshot)
    assert value.pop("screened") == []
    assert value["policy"].pop("parent") is None
    assert {rule.pop("widens") for rule in value["policy"]["rules"]} <= {True}
    return value


def rows_of(path: Path) -> list[list[tuple[object, ...]]]:
    """Return all rows of the views."""
    database = connect_database(path)
    with closing(database):
        return list(_views(database))


def _views(database: Database) -> Iterator[list[tuple[object, ...]]]:
    with database.read() as connection:
        for view in VIEWS:
            yield sorted((tuple(row) for row in connection.execute(sa.text(f"SELECT * FROM {view}"))), key=repr)


def upgrade_to(connection: sa.Connection, revision: str) -> None:
    """Bring the schema to a revision, in the caller's transaction."""
    config = Config()
    config.set_main_option("script_location", str(Path(migrations.__file__).parent))
    config.attributes["connection"] = connection
    command.upgrade(config, revision)
