"""Both databases, fresh for each test."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from aircoding.store import Store, open_store

SERVER = "postgresql://postgres@127.0.0.1:5432/test"


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of an empty database: a file, or a PostgreSQL schema of its own."""
    if request.param == "sqlite":
        yield str(tmp_path / "store" / "air.db")
        return
    schema = f"air_{uuid.uuid4().hex}"
    try:
        with psycopg.connect(SERVER, autocommit=True, connect_timeout=5) as server:
            server.execute(f'CREATE SCHEMA "{schema}"')
    except psycopg.OperationalError as error:
        pytest.skip(f"no PostgreSQL server at {SERVER}: {error}")
    yield f"{SERVER}?options=-csearch_path%3D{schema}"
    with psycopg.connect(SERVER, autocommit=True) as server:
        server.execute(f'DROP SCHEMA "{schema}" CASCADE')


@pytest.fixture
def opener(database_url: str) -> Iterator[Callable[[], Store]]:
    """Opens the test's database, as another process would; all are closed at the end."""
    opened: list[Store] = []

    def open_another() -> Store:
        opened.append(open_store(database_url))
        return opened[-1]

    yield open_another
    for store in opened:
        store.close()


@pytest.fixture
def store(opener: Callable[[], Store]) -> Store:
    """The test's database, open."""
    return opener()
