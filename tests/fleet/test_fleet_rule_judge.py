"""The conflict judge in a run: held once, whatever dies, and never in the way of the run."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fleet.worlds import RUN, Fleet, done, script, use, write
from support.warm import run_warm

from aircoding.fleet.drive import drive, workflows
from aircoding.fleet.engine import DirectEngine
from aircoding.fleet.rule_judge import judge_rules
from aircoding.records.digests import canonical_json, sha256_bytes
from aircoding.records.ids import session_id

Make = Callable[..., Fleet]

TASKS = [{"id": "A", "title": "First", "write_area": ["a.txt"]}]
WORKER = script("executor", "A", write("a.txt", "x\n"), done())
SESSION = session_id(RUN, "@run", 1, "conflict_judge", 1)  # type: ignore[arg-type]
ON = "[conflicts]\njudge = true\n"


def judge(*turns: dict[str, Any]) -> dict[str, Any]:
    return {"match": {"role": "conflict_judge"}, "turns": list(turns)}


NOTHING = use("finish", contradictions=[])


def live(run: Fleet, *, stop: asyncio.Event | None = None) -> str:
    """Judge and drive, as `run` does, in a process that does not die."""

    async def all_of_it() -> str:
        engine, asked = DirectEngine(), stop or asyncio.Event()
        deps = run.deps()
        deps = replace(deps, engine=engine, session=replace(deps.session, engine=engine))
        engine.use(workflows(deps))
        await judge_rules(deps, stop=asked)
        return await drive(deps, stop=asked)

    return asyncio.run(all_of_it())


def calls(run: Fleet) -> list[str]:
    """The states of the judge's calls, a row for each try."""
    return [one.state for one in run.store.queries.calls(session_id=SESSION)]


def drive_in_a_process(root: Path, deadly: str | None) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    arguments = [str(root), *([deadly] if deadly else [])]
    return run_warm("fleet.driven", arguments, cwd=root, env=environment, timeout_seconds=120)


@pytest.mark.parametrize("deadly", ["session.started", "session.finished", "conflict.judged"])
def test_killed_at_any_moment_it_is_paid_for_once(fleet: Make, deadly: str) -> None:
    run = fleet(TASKS, [judge(NOTHING), WORKER], config=ON)

    assert drive_in_a_process(run.root, deadly).returncode == -signal.SIGKILL
    again = drive_in_a_process(run.root, None)

    assert again.stdout.strip() == "done", again.stderr
    assert calls(run) == ["committed"]
    assert len(run.events("conflict.judged")) == 1
    assert run.events("conflict.judged")[0].seq < run.events("task.dispatched")[0].seq


def test_a_run_that_goes_on_is_not_judged_again(fleet: Make) -> None:
    run = fleet(TASKS, [judge(NOTHING), WORKER])
    assert live(run) == "done"
    assert live(run.resumed()) == "done"

    assert calls(run) == ["committed"]
    assert len(run.events("conflict.judged")) == 1


def test_without_money_for_its_repair_it_waits_for_the_next_resume(fleet: Make) -> None:
    run = fleet(TASKS, [judge({"text": "All good."}, NOTHING), WORKER], max_cost_usd=0.000_001)

    assert live(run) == "budget"
    assert not run.events("conflict.judged")
    assert not run.events("task.dispatched")
    assert live(run.resumed(max_cost_usd=5.0)) == "done"
    assert calls(run) == ["committed", "committed"]
    assert [one.payload["status"] for one in run.events("conflict.judged")] == ["done"]


def test_a_stop_ends_the_waiting_and_the_next_life_goes_on(fleet: Make) -> None:
    run = fleet(TASKS, [judge({**NOTHING, "delay_seconds": 30}), WORKER])
    stop = asyncio.Event()
    stop.set()

    assert live(run, stop=stop) == "interrupted"
    assert not run.events("conflict.judged")


def test_a_run_that_began_without_the_role_goes_on_without_it(fleet: Make) -> None:
    run = fleet(TASKS, [judge(NOTHING), WORKER])
    revision = json.loads(run.store.texts.get(run.run.run_revision) or "")  # type: ignore[arg-type]
    del revision["roles"]["conflict_judge"]
    run.run = replace(run.run, run_revision=run.store.texts.put(json.dumps(revision)))

    assert live(run) == "done"
    (event,) = run.events("conflict.judged")
    assert event.payload["status"] == "failed"
    assert "there is no role `conflict_judge`" in event.payload["reason"]


def test_all_rules_reach_it_as_they_are_and_its_assembly_is_rebuilt_equal(fleet: Make) -> None:
    scoped = "---\nkind: project\npaths: ['web/**']\ntags: [ui]\n---\nShow no raw numbers.\n"
    files = {
        "AGENTS.md": "Round every number.\n",
        "src/AGENTS.md": "Log at the edge.\n",
        ".air/shared/rules/w.md": scoped,
    }
    run = fleet(TASKS, [judge(NOTHING), WORKER], files=files)
    assert live(run) == "done"

    sent = run.store.assemblies.find(SESSION, 1)
    assert sent is not None
    assert sent.manifest_id == run.events("conflict.judged")[0].payload["manifest_id"]
    assert sha256_bytes(canonical_json(sent.request)) == sent.manifest.digest
    prompt = json.dumps([sent.request["system"], sent.request["messages"]])
    for text in ("Round every number.", "Log at the edge.", "Show no raw numbers."):
        assert text in prompt
    (listed,) = run.brief_texts(SESSION).values()
    assert "src/AGENTS.md (for src/), lines 1-1; only for src/**; begins: Log at the edge." in listed
    assert "; only for web/**; only for tasks tagged ui; begins: Show no raw" in listed
    assert [one.task_id for one in run.store.runs.task_states(RUN)] == ["A"]
    assert [tool["name"] for tool in sent.request["tools"]] == ["finish"]
