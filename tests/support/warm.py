"""Start processes of the command line from one that has imported everything; see `warm_program.py`."""

from __future__ import annotations

import atexit
import functools
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

__all__ = ["run_warm"]

_START_SECONDS = 300.0


class _Server:
    """The program that forks. Each process of the tests has its own, from the first command on until it ends."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("warm_program.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": ""},
        )
        atexit.register(self.close)
        if self.line(_START_SECONDS) != "ready":
            raise RuntimeError("the warm program did not start")

    def order(self, **order: object) -> int:
        """Start a process and return its id."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(order).encode() + b"\n")
        self._process.stdin.flush()
        return int(self.line(_START_SECONDS) or 0)

    def line(self, seconds: float) -> str | None:
        """Return the next line that the program says, or nothing after some time."""
        assert self._process.stdout is not None
        if not select.select([self._process.stdout], [], [], seconds)[0]:
            return None
        return self._process.stdout.readline().decode().strip()

    def close(self) -> None:
        """End the program: it goes when nobody can tell it anything any more."""
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            stream.close()
        self._process.wait(10)


_server = functools.cache(_Server)


def run_warm(
    module: str,
    arguments: list[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    timeout_seconds: float,
) -> subprocess.CompletedProcess[str]:
    """Run `python -m MODULE ARGUMENTS`, started from a warm program, and return what it said; killed when too late.

    Raises: subprocess.TimeoutExpired.
    """
    with tempfile.TemporaryDirectory() as folder:
        stdout, stderr = Path(folder, "stdout"), Path(folder, "stderr")
        for file in (stdout, stderr):
            file.touch()
        pid = _server().order(
            module=module, arguments=arguments, cwd=str(cwd), env=dict(env), stdout=str(stdout), stderr=str(stderr)
        )
        code = _server().line(timeout_seconds)
        if code is None:
            os.kill(pid, signal.SIGKILL)
            _server().line(_START_SECONDS)
            raise subprocess.TimeoutExpired([module, *arguments], timeout_seconds)
        return subprocess.CompletedProcess([module, *arguments], int(code), stdout.read_text(), stderr.read_text())
