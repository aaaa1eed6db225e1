"""The user's profile that the agents of a run speak and remember as: the same for every resume.

Revision: 0005_run_profile. Runs from before have none on record: a resume takes the one of the settings, as it did.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005_run_profile"
down_revision = "0004_hook_results"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column."""
    op.add_column("runs", sa.Column("profile", sa.Text(), nullable=True))


def downgrade() -> None:
    """Whose memory a run had is not forgotten."""
    raise NotImplementedError("restore the backup that was made before the upgrade")
