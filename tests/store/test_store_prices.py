"""Unit prices on the ledger, and the sums that rest on them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from support.records import RUN, call, run

from aircoding.records.calls import Reply
from aircoding.records.ids import SessionId
from aircoding.records.usage import Cost, UnitPrices, Usage
from aircoding.store import Store, migrations, open_store
from aircoding.store.database import connect_database
from aircoding.store.schema import HEAD

PRICES = UnitPrices(input=5, output=25, cache_read=0.5, cache_write_5m=6.25, cache_write_1h=10)
USAGE = Usage(
    input_tokens=100, output_tokens=10, cache_read_tokens=1_000, cache_write_5m_tokens=50, cache_write_1h_tokens=20
)


def pay(store: Store, turn: int, cost: Cost, *, session: str = "r1:T1:1:executor:1", request_id: str = "req_1") -> None:
    made = call(turn, SessionId(session))
    tries = store.calls.intend(made)
    reply = Reply(content=(), stop_reason="end_turn", usage=USAGE, model="m", request_id=request_id)
    store.calls.commit(made.key, tries, reply, cost)


def priced(prices: UnitPrices | None = PRICES) -> Cost:
    return Cost(usd=None if prices is None else prices.usd(USAGE), price_source="table", unit_prices=prices)


def test_unit_prices_come_back_with_the_call(store: Store) -> None:
    store.runs.create(run())
    pay(store, 1, priced())
    pay(store, 2, priced(None))
    pay(store, 3, Cost(usd=1.0, price_source="table", unit_prices=UnitPrices(input=1.0)))

    costs = [each.cost for each in store.queries.calls(run_id=RUN)]

    assert costs == [
        priced(),
        priced(None),
        Cost(usd=1.0, price_source="table", unit_prices=UnitPrices(input=1.0)),
    ]


def test_spending_compares_with_what_it_would_have_been_without_the_cache(store: Store) -> None:
    store.runs.create(run())
    pay(store, 1, priced())
    pay(store, 1, priced(), session="r1:T2:1:executor:1", request_id="req_emulator_4")

    whole, own = store.calls.spending(RUN), store.calls.spending(RUN, task_id="T1")

    assert own.cost_usd == pytest.approx((100 * 5 + 1_000 * 0.5 + 50 * 6.25 + 20 * 10 + 10 * 25) / 1e6)
    assert own.cost_without_cache_usd == pytest.approx((1_170 * 5 + 10 * 25) / 1e6)
    assert whole.cost_usd == pytest.approx(2 * own.cost_usd)
    assert (whole.calls, own.calls, own.cached_share) == (2, 1, pytest.approx(1_000 / 1_170))
    assert (whole.simulated_calls, own.simulated_calls) == (1, 0)
    first, second = store.queries.costs(RUN)
    assert first.cost_without_cache_usd == second.cost_without_cache_usd == pytest.approx(own.cost_without_cache_usd)
    assert first.without_unit_prices == 0


def test_what_nobody_knows_is_counted_and_is_not_nothing(store: Store) -> None:
    store.runs.create(run())
    assert store.calls.spending(RUN).cost_usd == 0.0
    pay(store, 1, priced(None))
    nothing_known = store.calls.spending(RUN)
    assert (nothing_known.cost_usd, nothing_known.unpriced_calls) == (None, 1)
    pay(store, 2, priced())
    partly = store.calls.spending(RUN)
    assert partly.cost_usd == pytest.approx(PRICES.usd(USAGE))
    assert (partly.unpriced_calls, partly.unpriced_models) == (1, (call().model,))
    assert partly.cost_without_cache_usd is None
    assert store.queries.costs(RUN)[0].without_unit_prices == 1


def test_a_try_that_was_paid_for_and_not_used_counts_as_spent(store: Store) -> None:
    store.runs.create(run())
    made = call(1)
    first, second = store.calls.intend(made), store.calls.intend(made)
    reply = Reply(content=(), stop_reason="end_turn", usage=USAGE, model="m")
    for tries in (second, first):
        store.calls.commit(made.key, tries, reply, priced())

    spending = store.calls.spending(RUN)

    assert (spending.calls, spending.abandoned_calls) == (1, 1)
    assert spending.cost_usd == pytest.approx(store.calls.spent_usd(RUN))
    assert spending.prompt_tokens == 2 * USAGE.prompt_tokens


def test_a_database_of_the_first_schema_is_upgraded_and_its_costs_stay(
    database_url: str, opener: Callable[[], Store]
) -> None:
    _first_schema(database_url)
    store = open_store(database_url, migrate="upgrade")
    try:
        assert store.schema_state().current == HEAD
        spending = store.calls.spending("old")
        assert (spending.calls, spending.cost_usd, spending.cost_without_cache_usd) == (1, 0.5, None)
        (cost,) = (each.cost for each in store.queries.calls(run_id="old"))
        assert cost == Cost(usd=0.5, price_source="then")
    finally:
        store.close()


def _first_schema(database_url: str) -> None:
    """Make the schema of revision 0001, with one paid call."""
    config = Config()
    config.set_main_option("script_location", migrations.__path__[0])

    def make(connection: sa.Connection) -> None:
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")
        values = {
            "call_key": "old:T1:1:executor:1#1",
            "tries": 0,
            "run_id": "old",
            "role": "executor",
            "session_id": "old:T1:1:executor:1",
            "manifest_id": "m",
            "model": "m",
            "state": "committed",
            "fence": 1,
            "started_at": "2026-11-30T12:00:00Z",
            "maybe_billed": 0,
            "input_tokens": 1,
            "output_tokens": 1,
            "cache_read_tokens": 0,
            "cache_write_5m_tokens": 0,
            "cache_write_1h_tokens": 0,
            "cost_usd": 0.5,
            "price_source": "then",
        }
        columns = ", ".join(values)
        marks = ", ".join(f":{name}" for name in values)
        connection.execute(sa.text(f"INSERT INTO model_calls ({columns}) VALUES ({marks})"), values)

    database = connect_database(database_url)
    database.write(make, durable=True)
    database.close()
