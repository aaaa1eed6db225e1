"""The words of the text index once each (SQLite with FTS5 only): a part of a word is looked for among these.

Revision: 0011_text_words. The view of the index that listed them counted each use of each word to do so.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011_text_words"
down_revision = "0010_short_rows"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Put a table in the place of the view."""
    connection = op.get_bind()
    if connection.dialect.name != "sqlite":
        return
    if connection.execute(sa.text("SELECT 1 FROM sqlite_schema WHERE name = 'text_terms'")).first() is None:
        return
    op.execute("CREATE TABLE text_words (word TEXT NOT NULL PRIMARY KEY) WITHOUT ROWID")
    op.execute("INSERT INTO text_words SELECT term FROM text_terms ORDER BY term")
    op.execute("DROP TABLE text_terms")


def downgrade() -> None:
    """The view can be made again, but what needs the table is not older than this."""
    raise NotImplementedError("restore the backup that was made before the upgrade")
