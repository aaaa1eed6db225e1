"""Shorter rows: numbers of texts where segments and messages name them, times and words as numbers, short pointers.

Revision: 0010_short_rows. What an account can hold (the digests of run revision and policy, which stay the same all
through a session) stands there. Texts stay packed as they were; the view shows what it showed.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import sqlalchemy as sa
from alembic import op

from aircoding.store.deltas import pack, unpack
from aircoding.store.migrations.views_0001 import VIEWS

revision = "0010_short_rows"
down_revision = "0009_digest_bytes"
branch_labels = None
depends_on = None

_VIEW = "v_segments"
_WORDS = {
    "scope": "turn session run fleet",
    "trust": "agent external project user builtin",
    "kind": "tool_call message tool_result invariant role identity guidance policy rule skills_index skill memory"
    " context plan adr graph task dependency file artifact diagnostic finding summary decision conflict tool failure"
    " instruction output_format omission_note notice steering time",
    "form": "whole excerpt reference none",
}
_CODECS = "raw zlib"
_MARKS = (("/messages/", "<"), ("/system/", "|"), ("/content/", ">"), ("/text", "^"), ('",null,null]', '~"]'))
_RESERVED = "<|>^~"
_SHARED = sa.text("selected_by IS NOT NULL")
_SHARED_COLUMNS = ("segment_id", "text_digest", "uri")
_TIMES = ("messages", "assemblies")
"""Tables whose `recorded_at` becomes a number."""
_NUMBERED = (("segment_texts", "shown_digest", "text_row"), ("messages", "node_digest", "node_row"))
"""Tables in which a number takes the place of a digest."""
_TO_TEXTS = re.compile(r",\s*FOREIGN KEY\s*\(\w+\) REFERENCES texts \(digest\)")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_IN_ACCOUNT = ("run_revision", "policy_digest")


def upgrade() -> None:
    """Change the columns, and the view that shows some of them."""
    connection = op.get_bind()
    is_sqlite = connection.dialect.name == "sqlite"
    op.execute(f"DROP VIEW {_VIEW}")
    for column in _SHARED_COLUMNS:
        op.drop_index(f"ix_segments_{column}", "segments")
    _fill_accounts(connection)
    if is_sqlite:
        _on_sqlite(connection)
    else:
        _on_postgresql(connection)
    op.execute(f"UPDATE segment_uses SET spans = {_with_marks('spans')}")  # noqa: S608 - constants
    for column in _IN_ACCOUNT:
        op.drop_column("assemblies", column)
    for column in _SHARED_COLUMNS:
        op.create_index(f"ix_segments_{column}", "segments", [column], sqlite_where=_SHARED, postgresql_where=_SHARED)
    op.execute(f"CREATE VIEW {_VIEW} AS {_view(is_sqlite)}")


def _fill_accounts(connection: sa.Connection) -> None:
    """Put two columns into the accounts; each is packed like that of the turn from which its nodes count."""
    columns = f"assembly, session_id, turn, nodes_since, account, {', '.join(_IN_ACCOUNT)}"
    found = connection.execute(sa.text(f"SELECT {columns} FROM assemblies ORDER BY session_id, turn"))  # noqa: S608 - constants
    change = sa.text("UPDATE assemblies SET account = :account WHERE assembly = :assembly")
    like: dict[tuple[str, int], tuple[bytes, bytes]] = {}
    for some in found.partitions(500):
        changed = []
        for assembly, session, turn, since, kept, *digests in some:
            before, now = (None, None) if turn == since else like[session, since]
            account = unpack(bytes(kept), before)
            account |= {name: _digits(bytes(digest)) for name, digest in zip(_IN_ACCOUNT, digests, strict=True)}
            packed = pack(account, now)
            if turn == since:
                like[session, turn] = (bytes(kept), packed)
            changed.append({"assembly": assembly, "account": packed})
        connection.execute(change, changed)


def _digits(kept: bytes) -> str:
    return kept.hex() if len(kept) in {32, 12} else kept.lstrip(b"\xff").decode("utf-8")


def _with_marks(column: str) -> str:
    for character in _RESERVED:
        column = f"replace({column}, '{character}', '\\u{ord(character):04x}')"
    for part, mark in _MARKS:
        column = f"replace({column}, '{part}', '{mark}')"
    return column


def _place(column: str, words: str) -> str:
    """Return SQL for the place of a word in its list."""
    cases = " ".join(f"WHEN '{word}' THEN {number}" for number, word in enumerate(words.split()))
    return f"CASE {column} {cases} END"


def _view(is_sqlite: bool) -> str:
    text_digits = _shown_digits("s.text_digest", is_sqlite)
    shown = {
        "segment_id": f"coalesce(s.segment_id, s.layer || ':' || s.uri || '@' || substr({text_digits}, 1, 8))",
        "source_digest": _shown_digits("coalesce(s.source_digest, s.text_digest)", is_sqlite),
        "text_digest": text_digits,
        "selected_by": "coalesce(s.selected_by, 'conversation')",
    }
    for name, words in _WORDS.items():
        cases = " ".join(f"WHEN {number} THEN '{word}'" for number, word in enumerate(words.split()))
        shown[name] = f"CASE s.{name} {cases} END"
    spans = "u.spans"
    for part, mark in _MARKS:
        spans = f"replace({spans}, '{mark}', '{part}')"
    names = re.compile(rf"\bs\.({'|'.join(shown)})\b")
    query = names.sub(lambda found: f"{shown[found[1]]} AS {found[1]}", VIEWS[_VIEW])
    return query.replace("u.spans", f"{spans} AS spans")


def _shown_digits(column: str, is_sqlite: bool) -> str:
    return f"lower(hex({column}))" if is_sqlite else f"encode({column}, 'hex')"


def _on_sqlite(connection: sa.Connection) -> None:
    """Write the new types into the schema, then the values; the keys to texts are away meanwhile."""
    raw: Any = connection.connection.driver_connection
    raw.create_function("moment", 1, _moment, deterministic=True)
    tables = connection.execute(sa.text("SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND sql IS NOT NULL"))
    there: dict[str, str] = {str(each.name): str(each.sql) for each in tables}
    last = {name: sql for name, sql in there.items() if _TO_TEXTS.search(sql) or name == "segments"}
    last["assemblies"] = _retyped(last["assemblies"], "recorded_at")
    for column in _WORDS:
        last["segments"] = _retyped(last["segments"], column)
    last["segments"], found = re.subn(r"(?m)^(\s*selected_by TEXT) NOT NULL", r"\1", last["segments"])
    assert found == 1  # noqa: S101 - or the schema is not the one before
    _write_schema(connection, {name: _TO_TEXTS.sub("", sql) for name, sql in last.items()})
    op.execute("UPDATE assemblies SET recorded_at = moment(recorded_at)")
    words = ", ".join(f"{column} = {_place(column, words)}" for column, words in _WORDS.items())
    op.execute(f"UPDATE segments SET {words}, selected_by = nullif(selected_by, 'conversation')")  # noqa: S608 - constants
    _make_texts()
    _make_segment_texts()
    _make_messages()
    del last["segment_texts"], last["messages"]
    _write_schema(connection, last)


def _retyped(sql: str, column: str) -> str:
    sql, found = re.subn(rf"(?m)^(\s*{column}) TEXT\b", r"\1 INTEGER", sql)
    assert found == 1, f"{column} stands once in: {sql}"  # noqa: S101 - or the schema is not the one before
    return sql


def _write_schema(connection: sa.Connection, tables: dict[str, str]) -> None:
    op.execute("PRAGMA writable_schema=ON")
    change = sa.text("UPDATE sqlite_schema SET sql = :sql WHERE type = 'table' AND name = :name")
    for name, sql in tables.items():
        connection.execute(change, {"name": name, "sql": sql})
    version = connection.execute(sa.text("PRAGMA schema_version")).scalar_one()
    op.execute(f"PRAGMA schema_version={version + 1}")
    op.execute("PRAGMA writable_schema=RESET")


def _make_texts() -> None:
    op.create_table(
        "texts_new",
        sa.Column("text_row", sa.Integer(), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("codec", sa.Integer(), nullable=False),
        sa.Column("size_bytes", sa.Integer(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=True),
        sa.Column("stored_at", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("text_row"),
        sa.UniqueConstraint("digest"),
        sqlite_strict=True,
    )
    values = f"digest, {_place('codec', _CODECS)}, size_bytes, body, moment(stored_at)"
    op.execute(f"INSERT INTO texts_new SELECT rowid, {values} FROM texts ORDER BY rowid")  # noqa: S608 - constants
    op.drop_table("texts")
    op.rename_table("texts_new", "texts")


def _make_segment_texts() -> None:
    op.create_table(
        "segment_texts_new",
        sa.Column("segment", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("text_row", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["segment"], ["segments.segment"]),
        sa.ForeignKeyConstraint(["text_row"], ["texts.text_row"]),
        sa.PrimaryKeyConstraint("segment", "position"),
        sqlite_strict=True,
        sqlite_with_rowid=False,
    )
    op.execute(
        "INSERT INTO segment_texts_new SELECT s.segment, s.position, t.text_row FROM segment_texts s"
        " JOIN texts t ON t.digest = s.shown_digest ORDER BY s.segment, s.position"
    )
    op.drop_table("segment_texts")
    op.rename_table("segment_texts_new", "segment_texts")
    op.create_index("ix_segment_texts_text_row", "segment_texts", ["text_row"])


def _make_messages() -> None:
    op.create_table(
        "messages_new",
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("node_row", sa.Integer(), nullable=False),
        sa.Column("recorded_at", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["node_row"], ["texts.text_row"]),
        sa.ForeignKeyConstraint(["session_id"], ["sessions.session_id"]),
        sa.PrimaryKeyConstraint("session_id", "position"),
        sqlite_strict=True,
        sqlite_with_rowid=False,
    )
    op.execute(
        "INSERT INTO messages_new SELECT m.session_id, m.position, m.role, t.text_row, moment(m.recorded_at)"
        " FROM messages m JOIN texts t ON t.digest = m.node_digest ORDER BY m.session_id, m.position"
    )
    op.drop_table("messages")
    op.rename_table("messages_new", "messages")


def _moment(value: str) -> int:
    at = datetime.fromisoformat(value)
    return ((at if at.tzinfo is not None else at.replace(tzinfo=UTC)) - _EPOCH) // timedelta(microseconds=1)


def _on_postgresql(connection: sa.Connection) -> None:
    inspector = sa.inspect(connection)
    keys = [
        (table, str(key["name"]), key["constrained_columns"][0])
        for table in inspector.get_table_names()
        for key in inspector.get_foreign_keys(table)
        if key["referred_table"] == "texts"
    ]
    for table, name, _ in keys:
        op.drop_constraint(name, table, type_="foreignkey")
    op.execute("ALTER TABLE texts DROP CONSTRAINT texts_pkey")
    op.execute("ALTER TABLE texts ADD COLUMN text_row SERIAL PRIMARY KEY")
    op.create_unique_constraint("texts_digest_key", "texts", ["digest"])
    for table, column in (("texts", "stored_at"), *((table, "recorded_at") for table in _TIMES)):
        micros = f"(extract(epoch FROM {column}::timestamptz) * 1000000)::bigint"
        op.execute(f"ALTER TABLE {table} ALTER COLUMN {column} TYPE BIGINT USING {micros}")
    for table, column, words in (("texts", "codec", _CODECS), *(("segments", *each) for each in _WORDS.items())):
        op.execute(f"ALTER TABLE {table} ALTER COLUMN {column} TYPE INTEGER USING {_place(column, words)}")
    op.alter_column("segments", "selected_by", nullable=True)
    op.execute("UPDATE segments SET selected_by = NULL WHERE selected_by = 'conversation'")
    for table, digest, number in _NUMBERED:
        op.add_column(table, sa.Column(number, sa.Integer(), nullable=True))
        op.execute(f"UPDATE {table} n SET {number} = t.text_row FROM texts t WHERE t.digest = n.{digest}")  # noqa: S608 - constants
        op.alter_column(table, number, nullable=False)
        op.drop_column(table, digest)  # its index goes with it
        op.create_foreign_key(None, table, "texts", [number], ["text_row"])
    op.create_index("ix_segment_texts_text_row", "segment_texts", ["text_row"])
    numbered = {table for table, _, _ in _NUMBERED}
    for table, name, column in keys:
        if table not in numbered:
            op.create_foreign_key(name, table, "texts", [column], ["digest"])


def downgrade() -> None:
    """What was recorded since has other rows."""
    raise NotImplementedError("restore the backup that was made before the upgrade")
