"""What hooks said in a session, and whose words a steering entry is.

Revision: 0004_hook_results. Entries from before have no trust of their own: what is packaged is ours.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0004_hook_results"
down_revision = "0003_run_confinement"
branch_labels = None
depends_on = None

REAL_NUMBER: Any = sa.Double().with_variant(sa.REAL(), "sqlite")


def upgrade() -> None:
    """Add the table and the column."""
    op.add_column("steering_entries", sa.Column("trust", sa.Text(), nullable=True))
    op.create_table(
        "hook_results",
        sa.Column("hook_result", sa.Integer(), primary_key=True),
        sa.Column("session_id", sa.Text(), sa.ForeignKey("sessions.session_id"), nullable=False),
        sa.Column("occasion", sa.Text(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("turn", sa.Integer(), nullable=False),
        sa.Column("hook", sa.Text(), nullable=False),
        sa.Column("event", sa.Text(), nullable=False),
        sa.Column("source_uri", sa.Text(), nullable=False),
        sa.Column("trust", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("layer", sa.Text(), nullable=True),
        sa.Column("text_digest", sa.Text(), sa.ForeignKey("texts.digest"), nullable=True),
        sa.Column("decision", sa.Text(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("cut_chars", sa.Integer(), nullable=False),
        sa.Column("duration_seconds", REAL_NUMBER, nullable=False),
        sa.Column("recorded_at", sa.Text(), nullable=False),
        sqlite_strict=True,
    )
    op.create_index("ux_hook_results_occasion", "hook_results", ["session_id", "occasion", "position"], unique=True)


def downgrade() -> None:
    """What hooks said is not forgotten."""
    raise NotImplementedError("restore the backup that was made before the upgrade")
