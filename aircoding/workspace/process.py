"""Run one command to its end: own process group, output with a byte cap, wall time, and nothing left behind."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import Mapping, Sequence

from aircoding.errors import WorkspaceError
from aircoding.records.work import CommandOutcome

__all__ = ["KEPT_VARIABLES", "command_environment", "run_process"]

KEPT_VARIABLES = ("LANG", "LC_ALL", "LC_CTYPE", "TZ", "USER", "LOGNAME")
"""Variables of this process that a command sees; all others are scrubbed (security facts read 2026-11)."""

_GRACE_SECONDS = 2.0
_CHUNK_BYTES = 65_536


def command_environment(path: str, home: str, extra: Sequence[tuple[str, str]] = ()) -> dict[str, str]:
    """Return the environment of a command: a fixed PATH, a home of its own, and what was asked for."""
    kept = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
    fixed = {"PATH": path, "HOME": home, "TERM": "dumb", "PAGER": "cat", "GIT_PAGER": "cat", "GIT_TERMINAL_PROMPT": "0"}
    return {**kept, **fixed, "PYTHONDONTWRITEBYTECODE": "1", "NO_COLOR": "1", **dict(extra)}


async def run_process(
    arguments: Sequence[str],
    *,
    cwd: str,
    env: Mapping[str, str],
    timeout_seconds: float,
    max_output_bytes: int,
) -> CommandOutcome:
    """Run a program and wait for it; stdout and stderr come together, in the order in which they were written.

    On time-out and on cancellation the whole process group is killed, and waited for.

    Raises:
        WorkspaceError: it could not be started.
    """
    started = time.monotonic()
    try:
        process = await asyncio.create_subprocess_exec(
            *arguments,
            cwd=cwd,
            env=dict(env),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
        )
    except OSError as error:
        raise WorkspaceError(f"{arguments[0]} could not be started: {error.strerror}") from error
    output = _Output(max_output_bytes)
    timed_out = False
    try:
        async with asyncio.timeout(timeout_seconds):
            await output.read(process)
            await process.wait()
    except TimeoutError:
        timed_out = True
    finally:
        _kill_group(process.pid)
        await asyncio.shield(_reap(process, output))
    return CommandOutcome(
        exit_code=None if timed_out else process.returncode,
        output=output.text(),
        duration_seconds=round(time.monotonic() - started, 3),
        timed_out=timed_out,
        truncated=output.dropped_bytes > 0,
    )


def _kill_group(group: int) -> None:
    """Kill what is left of a process group: children that outlived the command too."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


async def _reap(process: asyncio.subprocess.Process, output: _Output) -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_GRACE_SECONDS):
            await output.read(process)
            await process.wait()


class _Output:
    """Keeps the first and the last part of an output, and counts what lies between."""

    def __init__(self, max_bytes: int) -> None:
        self._half = max(1, max_bytes // 2)
        self._head = bytearray()
        self._tail = bytearray()
        self.dropped_bytes = 0

    async def read(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None  # noqa: S101 - it was asked for
        while chunk := await process.stdout.read(_CHUNK_BYTES):
            self._add(chunk)

    def _add(self, chunk: bytes) -> None:
        room = self._half - len(self._head)
        if room > 0:
            self._head += chunk[:room]
            chunk = chunk[room:]
        self._tail += chunk
        extra = len(self._tail) - self._half
        if extra > 0:
            del self._tail[:extra]
            self.dropped_bytes += extra

    def text(self) -> str:
        gap = f"\n[... {self.dropped_bytes} bytes left out ...]\n".encode() if self.dropped_bytes else b""
        return (bytes(self._head) + gap + bytes(self._tail)).decode("utf-8", "replace")
