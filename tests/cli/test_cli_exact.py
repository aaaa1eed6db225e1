"""`context build --exact` against a local server: the provider's own count beside the estimate."""

from __future__ import annotations

from pathlib import Path

import httpx2
import pytest
from support.demo_runs import air
from support.projects import make_commit, make_project
from support.provider_calls import MODEL, capabilities

from aircoding.emulator.runner import running
from aircoding.emulator.server import Emulator
from aircoding.providers.script import parse_script

BUILD = ["context", "build", "--role", "executor", "--path", "src/a.py", "--model", MODEL]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return make_commit(make_project(tmp_path / "project", {"AGENTS.md": "Use tabs.\n", "src/a.py": "x = 1\n"}))


def test_the_count_of_the_provider_stands_beside_the_estimate(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    emulator = Emulator(parse_script("scripts:\n- match: {}\n  turns: [{text: x}]\n", uri="x"), capabilities())
    with running(emulator.app) as base_url:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", base_url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
        as_json = air(project, *BUILD, "--exact", "--json")
        as_text = air(project, *BUILD, "--exact")
        first, second = emulator.recorder.requests
        headers = {"x-api-key": "k", "anthropic-version": first.headers["anthropic-version"]}
        again = httpx2.post(f"{base_url}{first.path}", json=first.json, headers=headers, trust_env=False).json()

    assert as_json.code == 0, as_json.output
    assert first.path == second.path == "/v1/messages/count_tokens"
    assert as_json.result["exact_tokens"] == again["input_tokens"]
    estimate = as_json.result["context"]["token_estimate"]  # type: ignore[index]
    words = f"{as_json.result['exact_tokens']} (estimated {estimate['expected']}, {estimate['low']} to"
    assert words in as_text.output
    assert "exact_tokens" not in air(project, *BUILD, "--json").result


def test_without_a_key_nothing_is_counted_and_the_way_out_is_named(project: Path) -> None:
    ended = air(project, *BUILD, "--exact", "--json")

    assert ended.code == 4
    assert ended.result["error"]["code"] == "credentials.missing"  # type: ignore[index]


def test_a_count_never_leaves_this_machine_while_paid_calls_are_off(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")

    ended = air(project, *BUILD, "--exact", "--json")

    assert ended.code != 0
    assert "AIR_NO_PAID_CALLS" in ended.output
