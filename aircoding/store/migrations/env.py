"""Run migrations on the connection that `store.schema` opened (its transaction is the migration's)."""

from __future__ import annotations

from alembic import context
from sqlmodel import SQLModel

from aircoding.store.schema import VERSION_TABLE
from aircoding.store.tables import every

assert every.__all__  # noqa: S101 - imported so that the metadata is full

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=SQLModel.metadata,
    version_table=VERSION_TABLE,
    render_as_batch=True,
    compare_type=True,
)
with context.begin_transaction():
    context.run_migrations()
