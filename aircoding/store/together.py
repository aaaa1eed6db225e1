"""Several writes as one transaction: all of them are on record, or none."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from sqlalchemy import Connection

from aircoding.store.database import Database

__all__ = ["OneTransaction"]

Value = TypeVar("Value")


class OneTransaction(Database):
    """A database within one of its write transactions: reads and writes take the connection that is open.

    A log that is made over it writes as always; what it wrote is committed or undone with the rest.
    """

    def __init__(self, connection: Connection, *, where: str, path: Path | None) -> None:
        super().__init__(where=where, path=path, read_only=False)
        self._connection = connection

    @property
    def dialect(self) -> str:
        """`sqlite` or `postgresql`."""
        return self._connection.dialect.name

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Read what was written so far."""
        yield self._connection

    def write(self, body: Callable[[Connection], Value], *, durable: bool = False) -> Value:
        """Write within the transaction; whoever began it commits it."""
        del durable
        return body(self._connection)

    def close(self) -> None:
        """Leave the connection to whoever opened it."""
