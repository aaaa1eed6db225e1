"""The schema: the migrations make what the models say, on both databases, and opening says what is wrong."""

from __future__ import annotations

import os
import re
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlmodel import SQLModel
from support.texts import assert_file_equals

from aircoding.errors import InternalError, StoreError
from aircoding.store import Store, migrations, open_store
from aircoding.store.columns import json_is_valid, row
from aircoding.store.database import connect_database
from aircoding.store.migrations.views_0001 import VIEWS as VIEW_QUERIES
from aircoding.store.schema import HEAD, KNOWN, VERSION_TABLE, head_statements, read_schema_state, run_migrations
from aircoding.store.tables import every
from aircoding.store.tables.calls import ModelCallRow
from aircoding.store.tables.runs import EventRow

assert every.__all__, "imported so that the metadata is full"

VIEWS = ["v_conflicts", "v_costs", "v_omissions", "v_runs", "v_segments", "v_tasks"]


def _is_of_index(name: str | None) -> bool:
    """Whether a table is of the text index, which is no model but a virtual table of SQLite."""
    return name is not None and name.startswith(("text_index", "text_words"))


def test_the_migrations_make_what_the_models_say(store: Store, database_url: str) -> None:
    database = connect_database(database_url)
    with database.read() as connection:
        context = MigrationContext.configure(
            connection,
            opts={
                "compare_type": True,
                "version_table": VERSION_TABLE,
                "include_schemas": False,
                "include_name": lambda name, kind, _: kind != "table" or not _is_of_index(name),
            },
        )
        assert compare_metadata(context, SQLModel.metadata) == []
        assert sorted(sa.inspect(connection).get_view_names()) == VIEWS
    database.close()


def test_the_newest_revision_is_the_one_that_opening_compares_with() -> None:
    config = Config()
    config.set_main_option("script_location", str(Path(migrations.__file__).parent))
    scripts = ScriptDirectory.from_config(config)
    assert scripts.get_current_head() == HEAD
    assert {script.revision for script in scripts.walk_revisions()} == set(KNOWN)


def test_an_empty_file_becomes_at_once_what_the_migrations_make(tmp_path: Path) -> None:
    """With AIR_UPDATE=1 the file of the newest schema is written anew from the migrations."""
    database = connect_database(tmp_path / "migrated.db")
    database.write(run_migrations)
    database.close()
    migrated = _schema_of(tmp_path / "migrated.db")
    head = Path(migrations.__file__).with_name("head.sqlite.sql")
    version = f"INSERT INTO {VERSION_TABLE} VALUES ('{HEAD}')"
    assert_file_equals(head, "".join(f"{one};\n\n" for one in [*migrated, version]).removesuffix("\n"))

    open_store(tmp_path / "air.db").close()
    assert _schema_of(tmp_path / "air.db") == migrated


def _schema_of(path: Path) -> list[str]:
    """What SQLite wrote down of a schema, but for what a virtual table and a key make of themselves."""
    made = re.compile(r"'?text_(index|terms)_(data|idx|content|docsize|config)'?")
    with closing(sqlite3.connect(path)) as raw:
        assert raw.execute(f"SELECT version_num FROM {VERSION_TABLE}").fetchall() == [(HEAD,)]
        for (name,) in raw.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE '% STRICT%'"):
            assert raw.execute(f"SELECT count(*) FROM {name}").fetchone() == (0,), "only the version is data"
        found = raw.execute("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid").fetchall()
    return [sql for name, sql in found if not made.fullmatch(name)]


def test_json_checks_stand_in_the_sqlite_schema(tmp_path: Path) -> None:
    open_store(tmp_path / "air.db").close()
    with sqlite3.connect(tmp_path / "air.db") as raw:
        made = dict(raw.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'table'").fetchall())
        with pytest.raises(sqlite3.IntegrityError, match="ck_events_payload_json"):
            raw.execute("INSERT INTO events (run_id, seq, type, at, payload) VALUES ('r', 1, 't', 'now', 'no json')")
        with pytest.raises(sqlite3.IntegrityError, match="cannot store TEXT value in INTEGER column"):
            raw.execute("INSERT INTO events (run_id, seq, type, at, payload) VALUES ('r', 'x', 't', 'now', '{}')")
    raw.close()
    assert all("STRICT" in ddl for name, ddl in made.items() if name != VERSION_TABLE and not _is_of_index(name))
    for table in SQLModel.metadata.tables.values():
        checks = [each.name for each in table.constraints if isinstance(each, type(json_is_valid("t", "c")))]
        assert all(str(name) in made[table.name] for name in checks)


def test_views_run_on_an_empty_database(store: Store, database_url: str) -> None:
    database = connect_database(database_url)
    with database.read() as connection:
        for view in VIEWS:
            assert connection.execute(sa.text(f"SELECT * FROM {view}")).all() == []
    database.close()


def test_opening_again_changes_nothing(store: Store, opener: Callable[[], Store]) -> None:
    assert store.schema_state().status == "current"
    state, backup = opener().upgrade()
    assert (state.status, backup) == ("current", None)


def test_a_newer_schema_is_refused_with_the_way_out(store: Store, database_url: str) -> None:
    _set_version(database_url, "9999")
    with pytest.raises(StoreError, match=r"has schema 9999; this program knows up to") as caught:
        open_store(database_url)
    assert caught.value.code == "store.newer"
    assert "Upgrade aircoding" in caught.value.hint
    never = open_store(database_url, migrate="never")
    assert never.schema_state().status == "newer"
    with pytest.raises(StoreError, match="9999"):
        never.upgrade()
    never.close()


def _set_version(database_url: str, version: str) -> None:
    database = connect_database(database_url)
    database.write(
        lambda connection: connection.execute(sa.text(f"UPDATE {VERSION_TABLE} SET version_num = '{version}'"))
    )
    database.close()


def test_an_old_schema_is_upgraded_only_when_asked_and_the_file_is_copied_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "air.db"
    open_store(path).close()
    _set_version(str(path), "0000")
    monkeypatch.setattr("aircoding.store.schema.KNOWN", ("0000", HEAD))
    with pytest.raises(StoreError, match="has schema 0000, this program needs") as caught:
        open_store(path)
    assert "aircoding db upgrade" in caught.value.hint
    monkeypatch.setattr("aircoding.store.schema._migrate", _pretend)
    store = open_store(path, migrate="never")
    state, backup = store.upgrade()
    store.close()
    assert state.status == "current"
    assert backup is not None
    assert backup.name.startswith("air.db.backup-0000-")
    copy = connect_database(backup)
    assert read_schema_state(copy).current == "0000"
    copy.close()


def _pretend(connection: sa.Connection) -> None:
    """A migration from a revision that never was; the backup before it is what is tested."""
    connection.execute(sa.text(f"UPDATE {VERSION_TABLE} SET version_num = '{HEAD}'"))


def test_a_failed_upgrade_leaves_nothing_behind(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = "CREATE VIEW v_broken AS SELECT nothing FROM nowhere"
    monkeypatch.setitem(VIEW_QUERIES, "v_broken", "SELECT nothing FROM nowhere")
    monkeypatch.setattr("aircoding.store.schema.head_statements", lambda: [*head_statements(), broken, broken])
    with pytest.raises(StoreError):
        open_store(database_url)
    database = connect_database(database_url)
    assert read_schema_state(database).status == "empty"
    database.close()
    monkeypatch.undo()
    open_store(database_url).close()


def test_tables_of_another_program_are_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as raw:
        raw.execute("CREATE TABLE bookmarks (url TEXT)")
    raw.close()
    with pytest.raises(StoreError, match="holds tables of another program") as caught:
        open_store(path)
    assert caught.value.code == "store.foreign"


def test_a_file_that_is_no_database_is_named(tmp_path: Path) -> None:
    path = tmp_path / "air.db"
    path.write_text("This is a plain text file, long enough to be looked at as a header.\n" * 20)
    with pytest.raises(StoreError, match=r"air\.db is not a SQLite database") as caught:
        open_store(path)
    assert caught.value.code == "store.not_a_database"
    assert path.read_text().startswith("This is a plain")


def test_a_url_of_another_kind_is_refused_without_its_password() -> None:
    with pytest.raises(StoreError, match="not known: mysql") as caught:
        open_store("mysql://root:secret@db/air")
    assert "secret" not in str(caught.value) + caught.value.hint


def test_a_server_that_is_not_there_is_named_without_its_password() -> None:
    with pytest.raises(StoreError) as caught:
        open_store("postgresql://air:secret@127.0.0.1:9/air")
    assert caught.value.code == "store.unreachable"
    assert "secret" not in str(caught.value) + caught.value.hint


def test_a_database_that_does_not_exist_is_named(database_url: str) -> None:
    if "://" not in database_url:
        with pytest.raises(StoreError, match="There is no database at"):
            open_store(database_url, read_only=True)
        return
    with pytest.raises(StoreError, match="does not exist") as caught:
        open_store("postgresql://postgres@127.0.0.1:5432/no_such_database_of_air")
    assert caught.value.code == "store.schema"


def test_rows_are_validated(store: Store) -> None:
    with pytest.raises(InternalError, match="model_calls"):
        row(ModelCallRow, call_key="k", tries=-1)
    with pytest.raises(InternalError, match="events"):
        row(EventRow, run_id="r", seq="many", type="t", at="now", payload="{}")


def test_two_processes_that_make_one_database_do_not_disturb_each_other(database_url: str) -> None:
    code = "import sys; from aircoding.store import open_store; open_store(sys.argv[1]).close()"
    started = [subprocess.Popen([sys.executable, "-c", code, database_url], env=os.environ.copy()) for _ in range(3)]
    assert [process.wait(timeout=120) for process in started] == [0, 0, 0]
    store = open_store(database_url)
    assert store.schema_state().status == "current"
    store.close()


def test_a_sqlite_url_names_its_file(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "air.db"
    store = open_store(f"sqlite:///{path}")
    assert (store.where, path.exists()) == (str(path), True)
    store.close()
    with pytest.raises(StoreError, match="not known: sqlite"):
        open_store("sqlite://")
    with pytest.raises(StoreError, match="not known: what even"):
        open_store("what even://is this")


def test_a_database_without_a_schema_is_refused_for_reading(tmp_path: Path) -> None:
    sqlite3.connect(tmp_path / "air.db").close()
    with pytest.raises(StoreError, match="is empty") as caught:
        open_store(tmp_path / "air.db", read_only=True)
    assert caught.value.code == "store.absent"


def test_no_upgrade_without_its_backup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "air.db"
    open_store(path).close()
    _set_version(str(path), "0000")
    monkeypatch.setattr("aircoding.store.schema.KNOWN", ("0000", HEAD))
    (tmp_path / "air.db.backup-0000-20261130T120000Z").mkdir()
    store = open_store(path, migrate="never", now=lambda: "2026-11-30T12:00:00Z")
    with pytest.raises(StoreError, match="could not be backed up") as caught:
        store.upgrade()
    assert caught.value.code == "store.backup"
    assert store.schema_state().current == "0000"
    store.close()
