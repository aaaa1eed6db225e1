"""Money on the command line: estimates, prices of one's own, what a run says that it spent."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.demo_runs import air, demo_project


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return demo_project(tmp_path / "demo")


def configure(root: Path, text: str) -> None:
    (root / ".air" / "config.toml").write_text(text)


def test_an_estimate_gives_a_range_with_its_assumptions_and_calls_no_model(project: Path) -> None:
    ended = air(project, "plan", "estimate", "--provider", "anthropic:claude-sonnet-5-5", "--json")

    assert ended.code == 0, ended.output
    found = ended.result["estimate"]
    assert (found["task_count"], found["sampled_tasks"]) == (12, 12)
    assert 0 < found["low"]["cost_usd"] < found["expected"]["cost_usd"] < found["high"]["cost_usd"]
    assert found["expected"]["cost_usd"] < found["expected"]["cost_without_cache_usd"]
    assert found["unit_prices"]["claude-sonnet-5-5"]["cache_read"] == 0.1
    assert {shape["role"] for shape in found["shapes"]} == {"executor", "debugger", "reviewer"}
    assert all(assumption["basis"] for assumption in found["assumptions"])
    text = air(project, "plan", "estimate").output
    assert "guess" in text
    assert "money without the cache" in text


def test_an_estimate_with_an_unknown_price_says_so_and_a_price_of_ones_own_mends_it(project: Path) -> None:
    unknown = air(project, "plan", "estimate", "--provider", "anthropic:house-1").output
    assert "unknown" in unknown
    assert 'the price of house-1 is not known: add [prices."house-1"]' in unknown

    configure(project, '[prices."house-1"]\ninput = 1.0\noutput = 2.0\n')
    found = air(project, "plan", "estimate", "--provider", "anthropic:house-1", "--json").result["estimate"]

    assert found["unit_prices"]["house-1"] == {
        "input": 1.0,
        "output": 2.0,
        "cache_read": 1.0,
        "cache_write_5m": 1.0,
        "cache_write_1h": 1.0,
    }
    assert found["low"]["cost_usd"] == pytest.approx(found["low"]["cost_without_cache_usd"])


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('[prices."m"]\ninput = -1\noutput = 1', '.air/config.toml: [prices."m"] input: '),
        ('[prices."m"]\ninput = 1', '.air/config.toml: [prices."m"] output: Field required'),
        ('[prices."m"]\ninput = 1\noutput = inf', '.air/config.toml: [prices."m"] output: '),
        ('[prices."m"]\ninput = 1\noutput = 1e308', '.air/config.toml: [prices."m"] output: '),
        ('[prices."m"]\ninput = 1\noutput = 1\ncached = 1', '.air/config.toml: [prices."m"] cached: '),
        ("[prices]\nm = 3", '.air/config.toml: [prices."m"]: '),
        ("[run]\nmax_idle_turns = 1", ".air/config.toml: [run] max_idle_turns: "),
    ],
)
def test_a_wrong_price_is_named_with_its_file_and_key(project: Path, text: str, says: str) -> None:
    configure(project, text)
    ended = air(project, "plan", "estimate")
    assert ended.code == 2
    assert f"error: {says}" in ended.output
    assert "Traceback" not in ended.output


def test_a_long_plan_is_sampled_and_says_so(project: Path) -> None:
    tasks = [{"id": f"T{number}", "title": "t", "write_area": [f"a{number}.txt"]} for number in range(300)]
    (project / ".air/shared/plan/tasks.yaml").write_text(json.dumps({"version": 1, "goal": "g", "tasks": tasks}))

    ended = air(project, "plan", "estimate")

    assert ended.code == 0, ended.output
    assert "300 tasks" in ended.output
    assert "24 of them were assembled and stand for all" in ended.output


def test_a_run_says_what_it_spent_what_the_cache_saved_and_that_it_is_simulated(project: Path) -> None:
    tasks = [{"id": "A", "title": "a", "write_area": ["a.txt"]}]
    write = {"name": "fs_write", "input": {"path": "a.txt", "content": "a\n"}}
    result = {"status": "done", "summary": "Written.", "changed_files": ["a.txt"], "verification": []}
    turns = [{"tools": [write]}, {"tools": [{"name": "finish", "input": result}]}]
    (project / "p.json").write_text(json.dumps({"version": 1, "goal": "g", "tasks": tasks}))
    (project / "s.json").write_text(json.dumps({"scripts": [{"match": {"task": "A"}, "turns": turns}]}))
    asked = ("--plan", "p.json", "--provider", "scripted:s.json", "--allow-dirty")

    ended = air(project, "run", *asked, "--json")

    assert ended.code == 0, ended.output
    found = ended.result
    assert found["simulated"] is True
    assert 0 < found["cost_usd"] < found["cost_without_cache_usd"]
    assert found["cached_share"] == pytest.approx(found["cached_tokens"] / found["prompt_tokens"])
    assert found["unpriced_calls"] == 0
    events = [json.loads(line) for line in ended.output.splitlines() if '"attempt.finished"' in line]
    assert events[0]["event"]["payload"]["run_cost_usd"] == pytest.approx(found["cost_usd"])
    said = air(project, "run", *asked).output
    assert "A: done; run so far: $0." in said
    assert said.count("A: done") == 1
    assert "of the prompt tokens from the cache (simulated)" in said
    status = air(project, "status", str(found["run_id"])).output
    assert "without the cache $" in status
    assert "(simulated)" in status
    assert status.count(f"run {found['run_id']}") == 1
    listed = air(project, "status")
    assert "cost" in listed.output.splitlines()[0]
    assert "(simulated)" in listed.output
