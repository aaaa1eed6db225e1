"""Sums over the generated record of a fleet: omissions, conflicts and costs of one run and of all."""

from __future__ import annotations

import shutil
import sqlite3
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from aircoding.audit.cost_shares import layer_costs
from aircoding.store import Store, open_store
from aircoding.store.within import Within

RUN_SECONDS, ALL_SECONDS_PER_100_000 = 0.3, 8.0
_PAID = """
INSERT INTO model_calls (call_key, tries, run_id, task_id, role, session_id, manifest_id, model, state, fence,
  started_at, input_tokens, output_tokens, cache_read_tokens, cache_write_5m_tokens, cache_write_1h_tokens,
  cost_usd, price_source,
  input_usd_per_mtok, output_usd_per_mtok, cache_read_usd_per_mtok, cache_write_5m_usd_per_mtok,
  cache_write_1h_usd_per_mtok, maybe_billed, request_id)
SELECT session_id || '/' || turn, 0, run_id, task_id, role, session_id, manifest_id, model, 'committed', 1, created_at,
  tokens_expected / 10, 400, tokens_expected * 7 / 10, tokens_expected / 5, 0,
  (tokens_expected / 10 * 3.0 + 400 * 15.0 + (tokens_expected * 7 / 10) * 0.3 + (tokens_expected / 5) * 3.75) / 1e6,
  'bench', 3.0, 15.0, 0.3, 3.75, 6.0, 0, 'msg_bench' FROM assemblies
WHERE manifest_id NOT IN (SELECT manifest_id FROM model_calls)
"""


@pytest.fixture(scope="module")
def record(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the generated record in which each request has an answer that was paid for."""
    pytest.importorskip("bench.fleet_store", reason="the generator of the record is not there")
    database = request.getfixturevalue("fleet_store").database
    copy = tmp_path_factory.mktemp("accounting") / "air.db"
    shutil.copy2(database, copy)
    with sqlite3.connect(copy) as connection:
        connection.execute(_PAID)
    connection.close()
    return copy


def median_seconds(ask: Callable[[], Any]) -> float:
    seconds = []
    for _ in range(3):
        started = time.perf_counter()
        ask()
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds)


@pytest.mark.bench
def test_sums_of_a_run_and_of_all_runs(record: Path) -> None:
    with open_store(record, read_only=True) as store:
        assemblies = store.index.count()
        newest = store.index.heads(limit=1, newest_first=True)[0].run_id
        for name, ask in questions(store).items():
            of_run, of_all = median_seconds(lambda: ask(newest)), median_seconds(lambda: ask(None))  # noqa: B023
            print(f"{name}: a run {of_run * 1000:.0f} ms, {assemblies} assemblies {of_all:.2f} s")
            assert of_run < RUN_SECONDS
            assert of_all < ALL_SECONDS_PER_100_000 * max(0.1, assemblies / 100_000)


def questions(store: Store) -> dict[str, Callable[[str | None], Any]]:
    accounting = store.accounting
    return {
        "omissions": lambda run: accounting.left_out(Within(run_id=run)),
        "conflicts": lambda run: accounting.met_conflicts(Within(run_id=run)),
        "costs by task": lambda run: accounting.spent(("run_id", "task_id"), run_id=run),
        "costs by layer": lambda run: layer_costs(accounting.paid_calls(run_id=run)),
    }
