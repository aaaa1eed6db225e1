"""How much of a fleet's prompts is read from the cache, beside the best that the rules allow; all of it SIMULATED."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.cache_fleets import Measured, built_fleet, emulated, measured, naive, run_fleet, send_all

LEAST_OF_BOUND = 0.97
MOST_COST_OF_BOUND = 1.05


async def compare(root: Path, *, workers: int, turns: int) -> tuple[Measured, Measured]:
    """Run a fleet of the product, then send the same contents in a naive layout without a leader."""
    with built_fleet(root, workers=workers, turns=turns) as fleet:
        sent, usage = await run_fleet(fleet)
        assert len(sent) == workers * turns
        misses = [event.payload for event in fleet.events("cache.missed")]
        assert misses == []
        ours = measured(f"{workers} workers of {turns} turns", usage, sent)
        _, provider = emulated((fleet.root / "script.yaml").read_text("utf-8"))
        other = await send_all(provider, naive(sent))
        await provider.aclose()
        return ours, measured("the same in a naive layout, no leader", other, sent)


@pytest.mark.bench
async def test_sixteen_workers_of_twelve_turns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ours, theirs = await compare(tmp_path / "project", workers=16, turns=12)
    with capsys.disabled():
        print(f"\n{ours.line()}\n{theirs.line()}")
    assert ours.reads_of_bound >= LEAST_OF_BOUND
    assert ours.cost_of_bound <= MOST_COST_OF_BOUND
    assert theirs.reads_of_bound < ours.reads_of_bound


async def test_a_small_fleet_reads_nearly_all_that_can_be_read(tmp_path: Path) -> None:
    ours, theirs = await compare(tmp_path / "project", workers=3, turns=5)
    assert ours.reads_of_bound >= LEAST_OF_BOUND, ours.line()
    assert theirs.cost_usd > ours.cost_usd
