"""The generated store of a fleet, made once for all tests that ask it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from bench.fleet_store import FleetStore, made_before, make_fleet_store

SAMPLE_RUNS, CI_RUNS, FULL_RUNS = 3, 100, 1_000


@pytest.fixture(scope="session")
def fleet_sample(tmp_path_factory: pytest.TempPathFactory) -> FleetStore:
    """Three runs, made in seconds: what is asked of it shows that a question is answered, not how it scales."""
    return _made(tmp_path_factory.mktemp("fleet"), SAMPLE_RUNS)


@pytest.fixture(scope="session")
def fleet_store(tmp_path_factory: pytest.TempPathFactory) -> FleetStore:
    """A tenth of the full store: 100 runs, 10,000 assemblies. Whoever asks it only reads."""
    return _made(tmp_path_factory.mktemp("fleet"), CI_RUNS)


@pytest.fixture(scope="session")
def full_fleet_store(tmp_path_factory: pytest.TempPathFactory) -> FleetStore:
    """The full store of `make bench`: 1,000 runs, 100,000 assemblies, 2 billion tokens; or one made before."""
    before = os.environ.get("AIR_FLEET_STORE")
    if before:
        return made_before(Path(before))
    return _made(tmp_path_factory.mktemp("fleet"), FULL_RUNS)


def _made(folder: Path, runs: int) -> FleetStore:
    return make_fleet_store(folder / "project", folder / "home", runs=runs)
