"""Leader first over a whole fleet: who pays for writing the prefix that all workers share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from fleet.worlds import Fleet, done, script, write

from aircoding.agents.prefix_gate import shared_prefix
from aircoding.records.usage import Usage

WORKERS = 8


def first_turns(run: Fleet) -> list[tuple[Usage, int]]:
    """Return the SIMULATED usage of each session's first call, and the tokens of its shared prefix, by start."""
    found = []
    for call in run.store.queries.calls(run_id="r1"):
        if call.key.endswith("#1"):
            context = run.store.assemblies.get(call.manifest_id)
            assert shared_prefix(context) is not None
            marks = [mark for mark in context.manifest.cache if mark.mark.startswith("/system/")]
            assert call.usage is not None
            found.append((call.usage, marks[-1].prefix_tokens))
    return found


def fleet_of_eight(fleet: Callable[..., Fleet], root: str) -> Fleet:
    names = [f"W{number}" for number in range(WORKERS)]
    tasks: list[dict[str, Any]] = [{"id": name, "title": name, "write_area": [f"{name}.txt"]} for name in names]
    # The first answer takes long enough for all eight to have asked before it begins.
    scripts = [
        script("executor", name, {**write(f"{name}.txt", "x\n"), "delay_seconds": 1.5}, done()) for name in names
    ]
    return fleet(tasks, scripts, concurrency=WORKERS, root=root)


def test_of_eight_workers_that_start_together_one_writes_the_shared_prefix(fleet: Callable[..., Fleet]) -> None:
    run = fleet_of_eight(fleet, "gated")

    assert run.drive() == "done"

    usages = [usage for usage, _ in first_turns(run)]
    assert len(usages) == WORKERS
    assert sum(1 for usage in usages if usage.cache_read_tokens == 0) == 1
    readers = [usage for usage in usages if usage.cache_read_tokens]
    assert len(readers) == WORKERS - 1
    (writer,) = (usage for usage in usages if not usage.cache_read_tokens)
    for usage in readers:
        assert usage.cache_read_tokens > usage.cache_write_5m_tokens, "what is shared is most of the prompt"
        assert usage.cache_read_tokens + usage.cache_write_5m_tokens == writer.cache_write_5m_tokens
    assert len({usage.cache_read_tokens for usage in readers}) == 1


def test_without_the_gate_several_write_it(fleet: Callable[..., Fleet]) -> None:
    run = fleet_of_eight(fleet, "open")
    run.changes["session"] = replace(run.deps().session, gate=None)

    assert run.drive() == "done"

    writers = [usage for usage, _ in first_turns(run) if usage.cache_read_tokens == 0]
    assert len(writers) > 1
