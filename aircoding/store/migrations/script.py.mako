"""${message}.

Revision: ${up_revision}, after ${down_revision | comma,n}. Made ${create_date}.

A migration that changes a table drops the views that read it first and makes them again after.
"""

from __future__ import annotations

import sqlalchemy as sa
import sqlmodel
from alembic import op

from aircoding.store import columns
${imports if imports else ""}

revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}
branch_labels = ${repr(branch_labels)}
depends_on = ${repr(depends_on)}


def upgrade() -> None:
    """Bring the schema from ${down_revision | comma,n} to ${up_revision}."""
    ${upgrades if upgrades else "pass"}


def downgrade() -> None:
    """Bring the schema back; a SQLite file is restored from its backup instead."""
    ${downgrades if downgrades else "pass"}
