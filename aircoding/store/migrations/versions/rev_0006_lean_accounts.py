"""Less room for what every turn adds: uses without a second tree, short fingerprints, no index over conversations.

Revision: 0006_lean_accounts. A turn adds three segments of its conversation, which nobody looks up by source, rule or
id: a session leads to them. Nothing that was recorded changes.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from aircoding.store.migrations.views_0001 import VIEWS

revision = "0006_lean_accounts"
down_revision = "0005_run_profile"
branch_labels = None
depends_on = None

FINGERPRINT_CHARACTERS = 24
_VIEWS = ("v_omissions", "v_segments")
_SHARED = sa.text("selected_by <> 'conversation'")
_RULES = sa.text("rule_id IS NOT NULL")


def upgrade() -> None:
    """Make the tables of uses and the indexes anew; the views stay what they were."""
    for table in ("segments", "outcomes"):
        op.execute(f"UPDATE {table} SET fingerprint = substr(fingerprint, 1, {FINGERPRINT_CHARACTERS})")  # noqa: S608 - constants
    for column in ("segment_id", "text_digest", "uri"):
        op.drop_index(f"ix_segments_{column}", "segments")
        op.create_index(f"ix_segments_{column}", "segments", [column], sqlite_where=_SHARED, postgresql_where=_SHARED)
    for table in ("outcomes", "segments"):
        op.drop_index(f"ix_{table}_rule_id", table)
        op.create_index(f"ix_{table}_rule_id", table, ["rule_id"], sqlite_where=_RULES, postgresql_where=_RULES)
    if op.get_bind().dialect.name == "sqlite":
        _without_rowids()


def _without_rowids() -> None:
    for view in _VIEWS:
        op.execute(f"DROP VIEW {view}")
    _made_anew(
        "segment_uses",
        sa.Column("assembly", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("segment", sa.Integer(), nullable=False),
        sa.Column("spans", sa.Text(), nullable=False),
        sa.CheckConstraint("spans IS NULL OR json_valid(spans)", name="ck_segment_uses_spans_json"),
        sa.ForeignKeyConstraint(["assembly"], ["assemblies.assembly"]),
        sa.ForeignKeyConstraint(["segment"], ["segments.segment"]),
        sa.PrimaryKeyConstraint("assembly", "position"),
        indexed="segment",
    )
    _made_anew(
        "outcome_uses",
        sa.Column("assembly", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("outcome_row", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["assembly"], ["assemblies.assembly"]),
        sa.ForeignKeyConstraint(["outcome_row"], ["outcomes.outcome_row"]),
        sa.PrimaryKeyConstraint("assembly", "position"),
        indexed="outcome_row",
    )
    _made_anew(
        "segment_texts",
        sa.Column("segment", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("shown_digest", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["segment"], ["segments.segment"]),
        sa.ForeignKeyConstraint(["shown_digest"], ["texts.digest"]),
        sa.PrimaryKeyConstraint("segment", "position"),
        indexed="shown_digest",
    )
    _made_anew(
        "messages",
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("node_digest", sa.Text(), nullable=False),
        sa.Column("recorded_at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["node_digest"], ["texts.digest"]),
        sa.ForeignKeyConstraint(["session_id"], ["sessions.session_id"]),
        sa.PrimaryKeyConstraint("session_id", "position"),
    )
    for view in reversed(_VIEWS):
        op.execute(f"CREATE VIEW {view} AS {VIEWS[view]}")


def _made_anew(table: str, *parts: sa.Column[int] | sa.Column[str] | sa.Constraint, indexed: str | None = None) -> None:
    op.create_table(f"{table}_new", *parts, sqlite_strict=True, sqlite_with_rowid=False)
    op.execute(f"INSERT INTO {table}_new SELECT * FROM {table} ORDER BY 1, 2")  # noqa: S608 - constants
    op.drop_table(table)
    op.rename_table(f"{table}_new", table)
    if indexed is not None:
        op.create_index(f"ix_{table}_{indexed}", table, [indexed])


def downgrade() -> None:
    """What was recorded since has short fingerprints."""
    raise NotImplementedError("restore the backup that was made before the upgrade")
