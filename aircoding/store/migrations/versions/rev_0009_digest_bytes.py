"""Digests as their bytes, half as long as their hexadecimal digits: keys, what refers to them, fingerprints.

Revision: 0009_digest_bytes. The views show digits as before. What other columns of a segment give is null: the id of
what a session brought, the source's digest where the text is the source. What is no digest stands as UTF-8 after a byte
that UTF-8 does not know (twice, where it would be as long as a digest).
"""

from __future__ import annotations

import re
from typing import Any

import sqlalchemy as sa
from alembic import op

from aircoding.store.migrations.views_0001 import VIEWS

revision = "0009_digest_bytes"
down_revision = "0008_run_keeping"
branch_labels = None
depends_on = None

_COLUMNS = {
    "texts": ("digest",),
    "sessions": ("brief_digest",),
    "messages": ("node_digest",),
    "steering_entries": ("text_digest",),
    "summaries": ("text_digest",),
    "hook_results": ("text_digest",),
    "evidence_refs": ("text_digest",),
    "model_calls": ("reply_digest",),
    "tool_runs": ("input_digest", "text_digest"),
    "assemblies": ("digest", "run_revision", "policy_digest", "snapshot_digest"),
    "segments": ("fingerprint", "source_digest", "text_digest"),
    "segment_texts": ("shown_digest",),
    "outcomes": ("fingerprint",),
}
_VIEW = "v_segments"
_IMPLIED = ("segment_id", "source_digest")
"""Columns of segments that are null where others give them."""
_HEX = re.compile(r"[0-9a-f]{64}|[0-9a-f]{24}")
_TO_TEXTS = re.compile(r",\s*FOREIGN KEY\s*\(\w+\) REFERENCES texts \(digest\)")


def upgrade() -> None:
    """Change the columns, and the view that shows some of them."""
    op.execute(f"DROP VIEW {_VIEW}")
    connection = op.get_bind()
    is_sqlite = connection.dialect.name == "sqlite"
    if is_sqlite:
        _on_sqlite(connection)
    else:
        _on_postgresql(connection)
    op.execute("UPDATE segments SET source_digest = NULL WHERE source_digest = text_digest")
    text_digits = _digits("s.text_digest", is_sqlite)
    own = f"s.layer || ':' || s.uri || '@' || substr({text_digits}, 1, 8)"
    implied = f"selected_by = 'conversation' AND segment_id = {own.replace('s.', '')}"
    op.execute(f"UPDATE segments SET segment_id = NULL WHERE {implied}")  # noqa: S608 - constants
    shown = {
        "segment_id": f"coalesce(s.segment_id, {own})",
        "source_digest": _digits("coalesce(s.source_digest, s.text_digest)", is_sqlite),
        "text_digest": text_digits,
    }
    names = re.compile(rf"\bs\.({'|'.join(shown)})\b")
    query = names.sub(lambda found: f"{shown[found[1]]} AS {found[1]}", VIEWS[_VIEW])
    op.execute(f"CREATE VIEW {_VIEW} AS {query}")


def _digits(column: str, is_sqlite: bool) -> str:
    return f"lower(hex({column}))" if is_sqlite else f"encode({column}, 'hex')"


def _on_sqlite(connection: sa.Connection) -> None:
    """Write the new types into the schema, then the values; the keys between them are away meanwhile.

    To make the tables anew would need foreign keys switched off, which SQLite does not do within a transaction.
    """
    raw: Any = connection.connection.driver_connection
    raw.create_function("digest_bytes", 1, _bytes, deterministic=True)
    tables = connection.execute(sa.text("SELECT name, sql FROM sqlite_schema WHERE type = 'table'"))
    there: dict[str, str] = {str(each.name): str(each.sql) for each in tables}
    last = {name: _with_bytes(there[name], columns) for name, columns in _COLUMNS.items()}
    for column in _IMPLIED:
        last["segments"] = re.sub(rf"(?m)^(\s*{column} (?:TEXT|BLOB)) NOT NULL", r"\1", last["segments"])
    _write_schema(connection, {name: _TO_TEXTS.sub("", sql) for name, sql in last.items()})
    for name, columns in _COLUMNS.items():
        values = ", ".join(f"{column} = digest_bytes({column})" for column in columns)
        op.execute(f"UPDATE {name} SET {values}")  # noqa: S608 - constants
    _write_schema(connection, last)


def _with_bytes(sql: str, columns: tuple[str, ...]) -> str:
    for column in columns:
        sql, found = re.subn(rf"(?m)^(\s*{column}) TEXT\b", r"\1 BLOB", sql)
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


def _bytes(value: str | None) -> bytes | None:
    if value is None or _HEX.fullmatch(value):
        return None if value is None else bytes.fromhex(value)
    other = b"\xff" + value.encode("utf-8")
    return b"\xff" + other if len(other) in {12, 32} else other


def _on_postgresql(connection: sa.Connection) -> None:
    inspector = sa.inspect(connection)
    keys = [
        (table, str(key["name"]), key["constrained_columns"][0])
        for table in _COLUMNS
        for key in inspector.get_foreign_keys(table)
        if key["referred_table"] == "texts"
    ]
    for table, name, _ in keys:
        op.drop_constraint(name, table, type_="foreignkey")
    for table, columns in _COLUMNS.items():
        for column in columns:
            op.execute(
                f"ALTER TABLE {table} ALTER COLUMN {column} TYPE BYTEA USING CASE"
                f" WHEN {column} ~ '^([0-9a-f]{{64}}|[0-9a-f]{{24}})$' THEN decode({column}, 'hex')"
                f" WHEN octet_length({column}) IN (11, 31) THEN '\\xffff'::bytea || convert_to({column}, 'UTF8')"
                f" ELSE '\\xff'::bytea || convert_to({column}, 'UTF8') END"
            )
    for column in _IMPLIED:
        op.alter_column("segments", column, nullable=True)
    for table, name, column in keys:
        op.create_foreign_key(name, table, "texts", [column], ["digest"])


def downgrade() -> None:
    """What was recorded since has digests as bytes."""
    raise NotImplementedError("restore the backup that was made before the upgrade")
