"""What hooks said, on both databases: as it was, in order, once, and only by the owner of the run."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import sqlalchemy as sa
from agents.conftest import RUN
from agents.doubles import SESSION, brief

from aircoding.errors import FencedError
from aircoding.records.hooks import HookEvent, HookResult
from aircoding.records.layers import Layer, Trust
from aircoding.records.policy import Effect
from aircoding.records.sessions import SteeringEntry
from aircoding.store import Store
from aircoding.store.database import connect_database
from aircoding.store.schema import VERSION_TABLE


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


def test_a_database_from_before_is_upgraded_with_what_it_holds(opened: Store, database_url: str) -> None:
    opened.sessions.steer(SESSION, SteeringEntry(turn=1, position=0, source_uri="resource:x", text="x"))
    opened.close()
    database = connect_database(database_url)

    def back(connection: sa.Connection) -> None:
        connection.execute(sa.text("DROP TABLE hook_results"))
        connection.execute(sa.text("DROP TABLE redactions"))
        for column in ("profile", "imported_at", "imported_from", "bodies", "texts_let_go_at"):
            connection.execute(sa.text(f"ALTER TABLE runs DROP COLUMN {column}"))
        connection.execute(sa.text("ALTER TABLE steering_entries DROP COLUMN trust"))
        connection.execute(sa.text(f"UPDATE {VERSION_TABLE} SET version_num = '0003_run_confinement'"))

    database.write(back)
    database.close()
    from aircoding.store import open_store

    with open_store(database_url, migrate="upgrade") as store:
        assert [one.trust for one in store.sessions.steering(SESSION, 1)] == [None]
        store.hooks.record(SESSION, RESULTS)
        assert store.hooks.results(SESSION) == RESULTS
