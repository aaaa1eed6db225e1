"""Edge: the database. Only this package knows SQLModel."""
