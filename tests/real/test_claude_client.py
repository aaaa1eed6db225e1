"""The Claude command-line client against the emulator: what it really sends passes our rules, and its tools really run.

The client is taken from AIR_CLAUDE_CLIENT, else from PATH, else from an installed claude-agent-sdk (the extra
`[workers]`), which brings it along.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.provider_calls import capabilities

from aircoding.emulator.recorder import Recorded
from aircoding.emulator.runner import running
from aircoding.emulator.server import Emulator
from aircoding.providers.script import parse_script
from aircoding.providers.thinking import check_thinking
from aircoding.providers.validation import validate_request

SCRIPT = """
scripts:
- match: {}
  turns:
  - thinking: I run a command and look at a file.
    text: I write the file.
    tools:
    - {name: Bash, input: {command: "echo made-by-bash > made.txt && cat made.txt", description: Write a file}}
    - {name: Bash, input: {command: "false", description: Fail}}
  - {thinking: One failed, text: "It says made-by-bash.", error: {status: 529, times: 1, retry_after_seconds: 0}}
  - text: The second answer.
"""


def _client() -> str | None:
    """The path of the client, or None."""
    given = os.environ.get("AIR_CLAUDE_CLIENT")
    if given:
        return given
    found = shutil.which("claude")
    spec = importlib.util.find_spec("claude_agent_sdk")
    if found is None and spec is not None and spec.origin is not None:
        bundled = Path(spec.origin).parent / "_bundled" / "claude"
        found = str(bundled) if bundled.is_file() else None
    return found


CLIENT = _client()
pytestmark = pytest.mark.skipif(
    CLIENT is None, reason="no Claude command-line client: set AIR_CLAUDE_CLIENT, or install the extra [workers]"
)


class Session:
    """A folder in which the client works, and the emulator that it calls."""

    def __init__(self, emulator: Emulator, base_url: str, root: Path) -> None:
        self.emulator, self.folder = emulator, root / "work"
        self.folder.mkdir()
        (root / "home").mkdir()
        self._environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(root / "home"),
            "ANTHROPIC_BASE_URL": base_url,
            "ANTHROPIC_API_KEY": "emulator",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "IS_SANDBOX": "1",  # lets it work without questions where the tests run as root
        }

    def ask(self, prompt: str, *more: str) -> dict[str, Any]:
        """Give the client a prompt and return its report."""
        done = subprocess.run(
            [str(CLIENT), *more, "-p", prompt, "--output-format", "json", "--permission-mode", "bypassPermissions"],
            env=self._environment,
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        report: dict[str, Any] = json.loads(done.stdout)
        return report

    @property
    def sent(self) -> list[Recorded]:
        """The requests for an answer, as they came."""
        return [one for one in self.emulator.recorder.requests if one.path == "/v1/messages"]


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    emulator = Emulator(parse_script(SCRIPT, uri="script"), capabilities())
    with running(emulator.app) as base_url:
        yield Session(emulator, base_url, tmp_path)


@pytest.mark.parametrize("model", ["claude-opus-5-5", "claude-sonnet-4-5"])
def test_a_conversation_with_real_tool_calls_passes_every_rule(session: Session, model: str) -> None:
    report = session.ask("Write the file.", "--model", model)
    assert (report["result"], report["num_turns"]) == ("It says made-by-bash.", 3)
    assert (session.folder / "made.txt").read_text() == "made-by-bash\n"
    assert len(session.sent) == 3, "two answers, one of them at the second try"
    results = [block for block in session.sent[-1].json["messages"][-1]["content"] if block["type"] == "tool_result"]
    assert [(block["content"].split("\n")[0], block.get("is_error", False)) for block in results] == [
        ("made-by-bash", False),
        ("Exit code 1", True),
    ]
    for one in session.sent:
        betas = frozenset(one.headers["anthropic-beta"].split(","))
        version = one.headers["anthropic-version"]
        row = capabilities().row(model)
        assert validate_request(one.json, row=row, api_version=version, betas=betas, own_signatures=True) == ()


def test_a_session_that_is_taken_up_again_keeps_its_bound_thinking(session: Session) -> None:
    session.ask("Write the file.", "--model", "claude-sonnet-5-5")
    assert session.ask("And now?", "--continue", "--model", "claude-sonnet-5-5")["result"] == "The second answer."
    thinking = list(check_thinking(session.sent[-1].json))
    assert [block.fault for block in thinking] == ["", ""]


def test_a_client_that_is_refused_a_system_turn_goes_on_without_one(session: Session) -> None:
    assert session.ask("Write the file.", "--model", "claude-sonnet-5")["result"] == "It says made-by-bash."
    first, *others = session.sent
    assert "system" in {message["role"] for message in first.json["messages"]}
    assert not [one for one in others if "system" in {message["role"] for message in one.json["messages"]}]
