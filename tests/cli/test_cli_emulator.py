"""`aircoding emulator`: a server that any client can use, and the transcript in its how-to page."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest
from support.demo_runs import AIR

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "use-the-emulator.md"
SCRIPT = "scripts:\n- match: {}\n  turns: [{text: here}]\n"


@contextmanager
def emulator(folder: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [*AIR, "emulator", *arguments], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "script.yaml").write_text(SCRIPT)
    return tmp_path


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_serves_until_it_is_stopped_and_that_is_no_failure(folder: Path, number: signal.Signals) -> None:
    with emulator(folder, "--script", "script.yaml", "--json", "--model", "my-model") as process:
        assert process.stdout is not None
        served = json.loads(process.stdout.readline())["emulator"]
        assert served["environment"]["ANTHROPIC_BASE_URL"] == served["base_url"]
        assert "my-model" in served["models"]
        port = served["base_url"].rpartition(":")[2]
        second = subprocess.run(
            [*AIR, "emulator", "--script", "script.yaml", "--port", port],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        assert second.returncode == 2
        assert f"port {port} of 127.0.0.1 cannot be taken" in second.stderr
        assert "--port" in second.stderr
        body = {"model": "my-model", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}]}
        headers = {"x-api-key": "any", "anthropic-version": "2023-06-01"}
        with httpx2.Client(trust_env=False) as http:
            reply = http.post(f"{served['base_url']}/v1/messages", json=body, headers=headers)
        assert reply.json()["content"][0]["text"] == "here"
        process.send_signal(number)
        out, told = process.communicate(timeout=20)
        assert (process.returncode, out) == (0, "")
        assert told.splitlines()[1:] == ["POST /v1/messages 200", "stopped"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--script", "none.yaml"], "cannot be read"),
        (["--script", "bad.yaml"], "line 1"),
        (["--script", "script.yaml", "--port", "70000"], "70000"),
        ([], "--script"),
    ],
)
def test_what_cannot_be_served_is_a_usage_error(folder: Path, arguments: list[str], words: str) -> None:
    (folder / "bad.yaml").write_text("scripts: []\n")
    done = subprocess.run(
        [*AIR, "emulator", *arguments], cwd=folder, capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def blocks(kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)


def test_the_transcript_of_the_how_to_is_true(tmp_path: Path) -> None:
    port = str(free_port())
    (start, ask), (ask_file, inside), (requests, said_inside) = blocks("console"), blocks("python"), blocks("text")
    (tmp_path / "hello.yaml").write_text(blocks("yaml")[0])
    (tmp_path / "ask.py").write_text(ask_file)
    (tmp_path / "inside.py").write_text(inside)
    command, *printed = start.replace("8765", port).splitlines()
    with emulator(tmp_path, *command.removeprefix("$ aircoding emulator ").split()) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert [process.stdout.readline().rstrip() for _ in range(3)] == printed[:3]
        assert process.stderr.readline().rstrip() == printed[3]
        variables = dict(line.removeprefix("export ").split("=", 1) for line in printed[:3])
        command, said = ask.split("\n", 1)
        assert command == "$ python ask.py"
        assert python(tmp_path, "ask.py", NO_PROXY="127.0.0.1", **variables) == said
        assert "".join(process.stderr.readline() for _ in range(3)) == requests
    assert python(tmp_path, "inside.py") == said_inside


def python(folder: Path, file: str, **variables: str) -> str:
    done = subprocess.run(
        [sys.executable, file], cwd=folder, env={**os.environ, **variables}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
