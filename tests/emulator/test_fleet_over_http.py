"""A whole run over HTTP: every request of every session passes the rules, and thinking stays bound to its prefix."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from support.demo_runs import air, demo_project, rows
from support.provider_calls import capabilities

from aircoding.emulator.runner import running
from aircoding.emulator.server import Emulator
from aircoding.providers.script import parse_script

MODEL = "claude-opus-5-5"
DEMO = Path(__file__).parents[2] / "resources" / "demo" / "script.yaml"


def thinking_script() -> str:
    """The demo's script with thinking before every answer."""
    file = yaml.safe_load(DEMO.read_text("utf-8"))
    for script in file["scripts"]:
        for number, turn in enumerate(script["turns"]):
            turn["thinking"] = f"Thought {number}."
    return yaml.safe_dump(file)


# Slow (a fleet of 12 tasks): nothing smaller has resumes, retries, debuggers and tools that fail.
def test_the_demo_s_fleet_keeps_its_bound_thinking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    emulator = Emulator(parse_script(thinking_script(), uri="demo"), capabilities())
    root = demo_project(tmp_path / "demo")
    with running(emulator.app) as base_url:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", base_url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "emulator")
        ended = air(root, "run", "--provider", f"anthropic:{MODEL}", "--concurrency", "4", "--json")
    states = rows(root, "SELECT state, count(*) FROM v_tasks GROUP BY state ORDER BY state")
    assert states == [("done", 11), ("failed", 1)], ended.output
    assert rows(root, "SELECT error FROM model_calls WHERE state != 'committed'") == []
    requests = emulator.recorder.requests
    assert rows(root, "SELECT count(*) FROM model_calls") == [(len(requests),)]
    grown = [one for one in requests if _thoughts(one.json) > 1]
    assert len(grown) > 20, "sessions of several turns sent their thinking back"


def _thoughts(body: dict[str, Any]) -> int:
    return sum(block["type"] == "thinking" for message in body["messages"] for block in message["content"])
