"""What the durable engine keeps of runs: ids and digests in the results of steps, never bodies."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from aircoding.errors import StoreError

__all__ = ["held_digests"]

_DIGEST = re.compile(r"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])")


def held_digests(database: str, runs: Sequence[str]) -> frozenset[str]:
    """Return the digests that results and arguments of some runs' workflows hold.

    Args:
        database: of the engine: a SQLite path, or a URL.
        runs: their ids, with which the ids of their workflows begin.

    Raises:
        StoreError: the engine's database is there and cannot be read.
    """
    if not runs or ("://" not in database and not Path(database).exists()):
        return frozenset()
    return frozenset(digest for value in _values(database, runs) for digest in _DIGEST.findall(value))


def _values(database: str, runs: Sequence[str]) -> Iterator[str]:
    import sqlalchemy as sa

    url = database if "://" in database else f"sqlite:///{database}"
    engine = sa.create_engine(url.replace("postgresql://", "postgresql+psycopg://", 1))
    try:
        with engine.connect() as connection:
            schema = "dbos" if connection.dialect.name == "postgresql" else None
            there = set(sa.inspect(connection).get_table_names(schema=schema))
            for name in sorted(there & {"operation_outputs", "workflow_output", "workflow_input", "workflow_status"}):
                table = sa.Table(name, sa.MetaData(), schema=schema, autoload_with=connection)
                for run in runs:
                    which = table.c.workflow_uuid.startswith(f"{run}:", autoescape=True)
                    for row in connection.execute(sa.select(table).where(which)):
                        yield from (value for value in row if isinstance(value, str))
    except sa.exc.SQLAlchemyError as error:
        raise StoreError(
            f"the engine's database cannot be read: {(str(error).splitlines() or [''])[0]}",
            hint="what unfinished runs need cannot be told without it; nothing was changed",
            code="store.engine",
        ) from error
    finally:
        engine.dispose()
