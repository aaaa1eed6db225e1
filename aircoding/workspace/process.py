"""Run one command to its end: output in the order in which it came, with a byte cap, a wall time, and no orphans."""

from __future__ import annotations

import asyncio
import contextlib
import math
import os
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from aircoding.errors import WorkspaceError
from aircoding.records.work import CommandLimits, CommandOutcome
from aircoding.workspace.keeper import descendants

__all__ = ["KEPT_VARIABLES", "command_environment", "run_process", "shell_path"]

KEPT_VARIABLES = ("LANG", "LC_ALL", "LC_CTYPE", "TZ", "USER", "LOGNAME")
"""Variables of this process that a command sees; all others are scrubbed (security facts read 2026-11)."""

_STANDARD_PATH = ("/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin")
_GRACE_SECONDS = 5.0
_CHUNK_BYTES = 65_536
_CUT_WORD_BYTES = 4_096
_KEEPER = str(Path(__file__).with_name("keeper.py"))


def shell_path() -> str:
    """Return the PATH of commands: the user's own folders that are absolute and exist, then the standard ones.

    A relative entry would name a folder that a worker writes.
    """
    own = [entry for entry in os.environ.get("PATH", "").split(os.pathsep) if os.path.isabs(entry)]
    return os.pathsep.join(dict.fromkeys(entry for entry in (*own, *_STANDARD_PATH) if os.path.isdir(entry)))


def command_environment(path: str, home: str, extra: Sequence[tuple[str, str]] = ()) -> dict[str, str]:
    """Return the environment of a command: PATH, a home of its own, a plain terminal, and what was asked for."""
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
    input_file: str | None = None,
    limits: CommandLimits | None = None,
) -> CommandOutcome:
    """Run a program and wait for it; its input is empty, stdout and stderr come together.

    With `input_file` it reads that, and its stderr is kept apart from its stdout. Memory is limited as what a process
    may write to, not as its address space: runtimes reserve far more than they use.

    When it ends, on time-out, on cancellation, and when this process is killed, everything that it
    started is killed too (`keeper`). Only the first and the last half of `max_output_bytes` are kept.

    Raises:
        WorkspaceError: it could not be started.
    """
    started = time.monotonic()
    apart = input_file is not None
    most = limits or CommandLimits()
    cpu_seconds = most.cpu_seconds or math.ceil(timeout_seconds) * (os.cpu_count() or 1) + 1
    numbers = (most.memory_bytes, most.file_bytes, cpu_seconds, most.processes)
    try:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-S", _KEEPER, *(str(number) for number in numbers)),
            *(input_file or os.devnull, *arguments),
            cwd=cwd,
            env=dict(env),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE if apart else asyncio.subprocess.STDOUT,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise WorkspaceError(f"a command could not be started in {cwd}: {reason}") from error
    output, errors = _Output(max_output_bytes), _Output(max_output_bytes)
    reading = asyncio.gather(output.read(process.stdout), errors.read(process.stderr))
    timed_out = False
    try:
        async with asyncio.timeout(timeout_seconds):
            await process.wait()
    except TimeoutError:
        timed_out = True
    finally:
        await asyncio.shield(_end(process, reading))
    return CommandOutcome(
        exit_code=None if timed_out else process.returncode,
        output=output.text(),
        duration_seconds=round(time.monotonic() - started, 3),
        timed_out=timed_out,
        truncated=output.dropped_bytes > 0,
        errors=errors.text(),
    )


async def _end(process: asyncio.subprocess.Process, reading: asyncio.Future[tuple[None, None]]) -> None:
    """Let the keeper kill what is left, and read the output to its end; one that hangs is killed with all below it."""
    if process.stdin is not None:
        process.stdin.close()
    try:
        async with asyncio.timeout(_GRACE_SECONDS):
            await process.wait()
            await asyncio.shield(reading)
    except TimeoutError:
        for pid in (*descendants(process.pid), process.pid):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        await process.wait()
        reading.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await reading


class _Output:
    """Keeps the first and the last part of an output, and counts what lies between."""

    def __init__(self, max_bytes: int) -> None:
        self._half = max(1, max_bytes // 2)
        self._head = bytearray()
        self._tail = bytearray()
        self.dropped_bytes = 0

    async def read(self, stream: asyncio.StreamReader | None) -> None:
        if stream is None:
            return
        while chunk := await stream.read(_CHUNK_BYTES):
            self._add(chunk)

    def _add(self, chunk: bytes) -> None:
        room = self._half - len(self._head)
        self._head += chunk[:room]
        self._tail += chunk[room:]
        extra = len(self._tail) - self._half
        if extra > 0:
            del self._tail[:extra]
            self.dropped_bytes += extra

    def text(self) -> str:
        """Return what was kept; bytes that are no UTF-8, and NULs, which no database takes, become U+FFFD."""
        if not self.dropped_bytes:
            text = bytes(self._head + self._tail).decode("utf-8", "replace")
            return text.replace("\0", "\N{REPLACEMENT CHARACTER}")
        # A word that was cut in two may be half of a secret, which nobody would know for one.
        head, tail = _without_last_word(bytes(self._head)), _without_first_word(bytes(self._tail))
        dropped = self.dropped_bytes + len(self._head) - len(head) + len(self._tail) - len(tail)
        gap = f"\n[... {dropped} bytes left out ...]\n".encode()
        text = (head + gap + tail).decode("utf-8", "replace")
        return text.replace("\0", "\N{REPLACEMENT CHARACTER}")


def _without_last_word(data: bytes) -> bytes:
    end = data[-_CUT_WORD_BYTES:]
    return data if not end or end[-1:].isspace() else data[: len(data) - len(end.split()[-1])]


def _without_first_word(data: bytes) -> bytes:
    start = data[:_CUT_WORD_BYTES]
    return data if not start or start[:1].isspace() else data[len(start.split()[0]) :]
