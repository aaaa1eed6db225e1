"""Alembic migrations of the store, shipped with the package; run through `store.schema` only."""
