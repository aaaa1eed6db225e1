"""How much room a fleet's history takes, and that the generated one is a real one: it replays, and repeats."""

from __future__ import annotations

import random
import sqlite3
import statistics
import time
from contextlib import closing
from pathlib import Path

import pytest
from bench.fleet_store import FleetStore, make_fleet_store

from aircoding.context.assembler import assemble
from aircoding.records.ids import ManifestId
from aircoding.records.manifest import AssembledContext
from aircoding.store import open_store

SMALL_RUNS = 1
LEAST_RATIO = 15.0
"""Bytes of the raw prompts for each byte of the database; docs/reference/measurements.md says how far it is."""
MOST_GET_MS = 20.0


def test_the_generated_store_repeats_and_every_assembly_of_it_does(tmp_path: Path) -> None:
    first = make_fleet_store(tmp_path / "a" / "project", tmp_path / "a" / "home", runs=SMALL_RUNS)
    again = make_fleet_store(tmp_path / "b" / "project", tmp_path / "b" / "home", runs=SMALL_RUNS)
    assert 70 <= first.assemblies <= 140
    assert digests(first) == digests(again)
    assert (first.prompt_tokens, first.raw_bytes) == (again.prompt_tokens, again.raw_bytes)
    with open_store(first.database, read_only=True) as store:
        for head in store.index.heads()[::7]:
            snapshot = store.assemblies.snapshot(ManifestId(head.manifest_id))
            made = assemble(snapshot)
            assert isinstance(made, AssembledContext)
            assert made == store.assemblies.get(ManifestId(head.manifest_id))


def digests(fleet: FleetStore) -> list[tuple[str, bytes]]:
    """Return the ids and digests of all assemblies, in order."""
    with closing(sqlite3.connect(fleet.database)) as raw:
        return raw.execute("SELECT manifest_id, digest FROM assemblies ORDER BY assembly").fetchall()


@pytest.mark.bench
def test_the_room_of_a_tenth(fleet_store: FleetStore, capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        assert measured(fleet_store) >= LEAST_RATIO


@pytest.mark.bench
def test_the_room_of_a_thousand_runs(full_fleet_store: FleetStore, capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        assert measured(full_fleet_store) >= LEAST_RATIO


def measured(fleet: FleetStore) -> float:
    """Print what a store takes and where, and return how many times more its prompts are."""
    size_bytes = fleet.database.stat().st_size
    print(
        f"\n{fleet.runs} runs, {fleet.assemblies} assemblies, {fleet.prompt_tokens} tokens, {fleet.raw_bytes} bytes of"
        f" prompts; database {size_bytes} bytes, {size_bytes / fleet.assemblies:.0f} for an assembly,"
        f" 1/{fleet.raw_bytes / size_bytes:.1f}; made in {fleet.generated_seconds:.0f} s"
    )
    for name, each_bytes in table_bytes(fleet.database)[:16]:
        print(f"  {name:36} {each_bytes / fleet.assemblies:8.0f} bytes for an assembly")
    return fleet.raw_bytes / size_bytes


def table_bytes(database: Path) -> list[tuple[str, int]]:
    """Return what each table and index takes, the largest first; nothing where SQLite was built without `dbstat`."""
    with closing(sqlite3.connect(database)) as raw:
        try:
            return raw.execute("SELECT name, sum(pgsize) FROM dbstat GROUP BY name ORDER BY 2 DESC").fetchall()
        except sqlite3.OperationalError:
            return []


@pytest.mark.bench
def test_two_hundred_assemblies_are_what_they_were(fleet_store: FleetStore) -> None:
    with open_store(fleet_store.database, read_only=True) as store:
        for head in random.Random(2).sample(store.index.heads(), 200):
            manifest_id = ManifestId(head.manifest_id)
            assert assemble(store.assemblies.snapshot(manifest_id)) == store.assemblies.get(manifest_id)


@pytest.mark.bench
def test_one_assembly_comes_back_at_once(fleet_store: FleetStore, capsys: pytest.CaptureFixture[str]) -> None:
    spent_ms: list[float] = []
    with open_store(fleet_store.database, read_only=True) as store:
        heads = store.index.heads()
        for head in random.Random(1).sample(heads, 200):
            start = time.process_time()
            store.assemblies.get(ManifestId(head.manifest_id))
            spent_ms.append(1_000 * (time.process_time() - start))
    with capsys.disabled():
        print(f"\none assembly of {len(heads)}: {statistics.median(spent_ms):.1f} ms of CPU at the median")
    assert statistics.median(spent_ms) <= MOST_GET_MS
