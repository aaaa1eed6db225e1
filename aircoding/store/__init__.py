"""Edge: the database. Only this package knows SQLModel."""

from aircoding.store.opening import Store, open_store

__all__ = ["Store", "open_store"]
