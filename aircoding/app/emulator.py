"""The local Messages API server as a program of its own: from a script file to a port."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType

from aircoding.app.models import capabilities, read_script
from aircoding.errors import UsageError
from aircoding.providers.capabilities import Capabilities

__all__ = ["Served", "serve_emulator"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A server that answers now: where, by which script, for which models, and what a client must have set."""

    base_url: str
    script: str
    models: tuple[str, ...]
    environment: Mapping[str, str]


def serve_emulator(
    path: Path, *, port: int, models: Iterable[str], ready: Callable[[Served], None], report: Callable[[str], None]
) -> None:
    """Serve the script at `path` on 127.0.0.1 until SIGINT or SIGTERM comes; port 0 takes a free one.

    Args:
        path: the script file.
        port: 0 to 65535.
        models: names that are answered beside those of the packaged table, with the limits of the script's model.
        ready: called once, when the server answers.
        report: called with one line for each request.

    Raises:
        ConfigError: the script cannot be read, or is not in order.
        UsageError: the port cannot be taken.
    """
    from aircoding.emulator.runner import running
    from aircoding.emulator.server import Emulator

    script = read_script(path)
    known = _with_models(capabilities(), tuple(models), like=script.model)
    emulator = Emulator(script, known, report=report)
    with ExitStack() as stack:
        stopped = stack.enter_context(_stop_signals())
        try:
            base_url = stack.enter_context(running(emulator.app, port=port))
        except OSError as error:
            raise UsageError(
                f"port {port} of 127.0.0.1 cannot be taken: {error.strerror}",
                hint="name another one with --port, or none for a free one",
                code="emulator.port",
            ) from error
        environment = _environment(base_url)
        ready(Served(base_url=base_url, script=str(path), models=tuple(known.rows), environment=environment))
        stopped.wait()


def _with_models(known: Capabilities, models: tuple[str, ...], *, like: str) -> Capabilities:
    rows = {model: replace(known.row(like), model=model) for model in models if model not in known.rows}
    return replace(known, rows={**known.rows, **rows})


def _environment(base_url: str) -> dict[str, str]:
    """What makes the SDK and the Claude command-line client call this server and no other."""
    return {
        "ANTHROPIC_BASE_URL": base_url,
        "ANTHROPIC_API_KEY": "emulator",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    }


@contextmanager
def _stop_signals() -> Iterator[threading.Event]:
    """Yield an event that SIGINT and SIGTERM set while the context lasts: for a server both are its normal end."""
    stopped = threading.Event()

    def stop(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - the signature is that of a handler
        stopped.set()

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stopped
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
