"""The index of words over texts (SQLite with FTS5 only), filled from what is on record.

Revision: 0007_text_index.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import sqlalchemy as sa
from alembic import op

from aircoding.store.dictionary import inflate

revision = "0007_text_index"
down_revision = "0006_lean_accounts"
branch_labels = None
depends_on = None

_OPTIONS = "body, content='', detail=none, columnsize=0, tokenize=\"ascii tokenchars '_'\""

_SHOWN = """
SELECT first.segment, t.codec, t.body
FROM (SELECT shown_digest, min(segment) AS segment FROM segment_texts GROUP BY shown_digest) first
JOIN texts t ON t.digest = first.shown_digest
WHERE t.body IS NOT NULL
ORDER BY first.segment
"""
_LEFT_OUT = """
SELECT o.outcome_row, t.codec, t.body
FROM (SELECT segment_id, min(outcome_row) AS outcome_row FROM outcomes WHERE outcome <> 'included'
      GROUP BY segment_id) o
JOIN texts t ON t.digest >= substr(o.segment_id, -8) AND t.digest < substr(o.segment_id, -8) || 'g'
WHERE t.body IS NOT NULL
ORDER BY o.outcome_row
"""


def upgrade() -> None:
    """Make the index and fill it."""
    connection = op.get_bind()
    if connection.dialect.name != "sqlite":
        return
    if connection.execute(sa.text("SELECT 1 FROM pragma_module_list WHERE name = 'fts5'")).first() is None:
        return
    for table in ("text_terms", "text_index"):
        op.execute(f"DROP TABLE IF EXISTS {table}")
    op.execute(f"CREATE VIRTUAL TABLE text_index USING fts5({_OPTIONS})")
    op.execute("CREATE VIRTUAL TABLE text_terms USING fts5vocab(text_index, row)")
    insert = sa.text("INSERT INTO text_index (rowid, body) VALUES (:number, :body)")
    for query, offset in ((_SHOWN, 0), (_LEFT_OUT, 1)):
        for number, body in _bodies(connection.execute(sa.text(query))):
            connection.execute(insert, {"number": 2 * number + offset, "body": body})
    op.execute("INSERT INTO text_index (text_index) VALUES ('optimize')")


def _bodies(found: Iterable[Any]) -> Iterator[tuple[int, str]]:
    """Yield each number once with its texts, one below the other."""
    last, parts = None, list[str]()
    for number, codec, body in found:
        if last is not None and number != last:
            yield last, "\n".join(parts)
            parts = []
        last = number
        parts.append((inflate(body) if codec == "zlib" else bytes(body)).decode("utf-8"))
    if last is not None:
        yield last, "\n".join(parts)


def downgrade() -> None:
    """An index can be dropped, but what needs it is not older than this."""
    raise NotImplementedError("restore the backup that was made before the upgrade")
