"""What confines the commands of a run: chosen when it starts, and the same for every resume.

Revision: 0003_run_confinement. Runs from before have none on record: a resume chooses it as it did.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003_run_confinement"
down_revision = "0002_unit_prices"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns."""
    op.add_column("runs", sa.Column("sandbox", sa.Text(), nullable=True))
    op.add_column("runs", sa.Column("confined", sa.Integer(), nullable=True))


def downgrade() -> None:
    """What confined a run is not forgotten."""
    raise NotImplementedError("restore the backup that was made before the upgrade")
