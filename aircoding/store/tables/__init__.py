"""The tables, by family. Importing this package fills the metadata that migrations are checked against."""

from __future__ import annotations

from aircoding.store.tables import assemblies, calls, rulings, runs, sessions, texts

__all__ = ["assemblies", "calls", "rulings", "runs", "sessions", "texts"]
