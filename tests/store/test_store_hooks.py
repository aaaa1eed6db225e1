"""What hooks said, on both databases: as it was, in order, once, and only by the owner of the run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import sqlalchemy as sa
from agents.conftest import RUN
from agents.doubles import SESSION, brief
from store.test_store_upgrade import upgrade_to

from aircoding.errors import FencedError
from aircoding.records.digests import sha256_text
from aircoding.records.hooks import HookEvent, HookResult
from aircoding.records.layers import Layer, Trust
from aircoding.records.policy import Effect
from aircoding.records.sessions import SteeringEntry
from aircoding.store import Store, open_store
from aircoding.store.database import connect_database


def result(occasion: str, position: int, **more: object) -> HookResult:
    values: dict[str, object] = {
        "occasion": occasion,
        "position": position,
        "turn": 1,
        "hook": "p/x",
        "event": HookEvent.CONTEXT,
        "source_uri": "plugin:p/x",
        "trust": Trust.USER,
        "state": "returned",
        **more,
    }
    return HookResult(**values)  # type: ignore[arg-type]


RESULTS = (
    result("context", 0, layer=Layer.L4, text="The gate is blue.", cut_chars=3, duration_seconds=0.25),
    result("context", 1, state="failed", reason="away"),
    result("pre_tool_use/1/0", 0, event=HookEvent.PRE_TOOL_USE, decision=Effect.DENY, reason="no"),
)


@pytest.fixture
def opened(store: Store) -> Store:
    store.runs.create(RUN)
    store.claim(RUN.run_id)
    store.sessions.open(brief())
    return store


def test_results_come_back_as_they_were_and_the_same_again_changes_nothing(
    opened: Store, opener: Callable[[], Store]
) -> None:
    opened.hooks.record(SESSION, RESULTS[:2])
    opened.hooks.record(SESSION, RESULTS[2:])
    opened.hooks.record(SESSION, [result("context", 0, text="The gate is red.")])
    assert opened.hooks.results(SESSION) == RESULTS
    assert opener().hooks.results(SESSION) == RESULTS


def test_who_lost_the_run_records_nothing(opened: Store, opener: Callable[[], Store]) -> None:
    opener().claim(RUN.run_id)
    with pytest.raises(FencedError):
        opened.hooks.record(SESSION, RESULTS)
    assert opened.hooks.results(SESSION) == ()


def test_a_steering_entry_keeps_its_trust(opened: Store) -> None:
    entries = tuple(
        SteeringEntry(turn=1, position=position, source_uri="plugin:p/x", text="x", trust=trust)
        for position, trust in enumerate((None, Trust.EXTERNAL))
    )
    for entry in entries:
        opened.sessions.steer(SESSION, entry)
    assert opened.sessions.steering(SESSION, 1) == entries


def test_a_database_from_before_is_upgraded_with_what_it_holds(database_url: str) -> None:
    database = connect_database(database_url)
    database.write(_as_of_before)
    database.close()
    with open_store(database_url, migrate="upgrade") as store:
        (entry,) = store.sessions.steering(SESSION, 1)
        assert (entry.text, entry.trust) == ("x", None)
        store.hooks.record(SESSION, RESULTS)
        assert store.hooks.results(SESSION) == RESULTS


def _anything(column: sa.Column[Any]) -> Any:
    if isinstance(column.type, sa.Integer):
        return 0
    return "2026-01-05T08:00:00Z" if column.name.endswith("_at") else "x"


def _as_of_before(connection: sa.Connection) -> None:
    """Make the schema that had no results of hooks, with one steering entry in it."""
    upgrade_to(connection, "0003_run_confinement")
    tables = sa.MetaData()
    tables.reflect(connection)
    digest = sha256_text("x")
    text = {"digest": digest, "codec": "raw", "size_bytes": 1, "body": b"x"}
    session = {"session_id": SESSION, "run_id": RUN.run_id, "brief_digest": digest}
    entry = {"session_id": SESSION, "turn": 1, "position": 0, "text_digest": digest}
    rows = {"texts": text, "runs": {"run_id": RUN.run_id}, "sessions": session, "steering_entries": entry}
    for name, row in rows.items():
        table = tables.tables[name]
        needed = {each.name: _anything(each) for each in table.c if not each.nullable}
        connection.execute(table.insert().values(**(needed | row)))
