"""All tables. Importing this module fills the metadata that migrations are checked against and rows are counted by."""

from __future__ import annotations

from aircoding.store.tables import assemblies, calls, rulings, runs, sessions, texts

__all__ = ["assemblies", "calls", "rulings", "runs", "sessions", "texts"]
