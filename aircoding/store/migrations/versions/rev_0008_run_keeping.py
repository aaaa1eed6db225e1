"""Where a run came from, whether its texts are kept, and which of its requests were masked on their way here.

Revision: 0008_run_keeping. Runs from before were made here, and their texts are kept.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008_run_keeping"
down_revision = "0007_text_index"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns and the table."""
    for name in ("imported_at", "imported_from", "bodies", "texts_let_go_at"):
        op.add_column("runs", sa.Column(name, sa.Text(), nullable=True))
    op.create_table(
        "redactions",
        sa.Column("manifest_id", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("manifest_id"),
        sqlite_strict=True,
    )


def downgrade() -> None:
    """What is known of a run is not forgotten."""
    raise NotImplementedError("restore the backup that was made before the upgrade")
