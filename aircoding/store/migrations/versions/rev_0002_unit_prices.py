"""Unit prices of each call, and what the calls of `v_costs` would have cost without a cache.

Revision: 0002_unit_prices. Rows from before have no unit prices; their cost stays what it was.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

from aircoding.store.migrations.views_0001 import VIEWS

revision = "0002_unit_prices"
down_revision = "0001"
branch_labels = None
depends_on = None

REAL_NUMBER: Any = sa.Double().with_variant(sa.REAL(), "sqlite")
COLUMNS = (
    "input_usd_per_mtok",
    "output_usd_per_mtok",
    "cache_read_usd_per_mtok",
    "cache_write_5m_usd_per_mtok",
    "cache_write_1h_usd_per_mtok",
)

_PAID = "input_tokens IS NOT NULL"
_PROMPT = "input_tokens + cache_read_tokens + cache_write_5m_tokens + cache_write_1h_tokens"
_UNCACHED = f"(({_PROMPT}) * input_usd_per_mtok + output_tokens * output_usd_per_mtok) / 1000000"

COSTS = VIEWS["v_costs"].replace(
    "FROM model_calls",
    f""", sum(CASE WHEN {_PAID} AND {_UNCACHED} IS NULL THEN 1 ELSE 0 END) AS without_unit_prices,
       coalesce(sum({_UNCACHED}), 0) AS cost_without_cache_usd
FROM model_calls""",
)
"""`cost_without_cache_usd`: all prompt tokens at the input price, of the calls that have unit prices."""


def upgrade() -> None:
    """Add the columns and make the view anew."""
    for name in COLUMNS:
        op.add_column("model_calls", sa.Column(name, REAL_NUMBER, nullable=True))
    op.execute("DROP VIEW v_costs")
    op.execute(f"CREATE VIEW v_costs AS {COSTS}")


def downgrade() -> None:
    """Prices that were paid are not forgotten."""
    raise NotImplementedError("restore the backup that was made before the upgrade")
