"""Run an ASGI application on a port of this machine, beside the program that uses it."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator

import uvicorn
from starlette.applications import Starlette

from aircoding.errors import InternalError

__all__ = ["HOST", "running"]

HOST = "127.0.0.1"
"""The emulator never listens on any other address: it takes every key."""

_START_SECONDS = 20.0


@contextlib.contextmanager
def running(app: Starlette, *, port: int = 0) -> Iterator[str]:
    """Serve `app` in a thread of its own while the context lasts; yield its base URL. Port 0 takes a free one.

    Raises:
        InternalError: the server did not start.
        OSError: the port is taken.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((HOST, port))
        config = uvicorn.Config(
            app, lifespan="off", ws="none", log_config=None, log_level="critical", timeout_graceful_shutdown=1
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, name="emulator", daemon=True)
        thread.start()
        try:
            _wait_for_start(server, thread)
            yield f"http://{HOST}:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(timeout=_START_SECONDS)


def _wait_for_start(server: uvicorn.Server, thread: threading.Thread) -> None:
    give_up_at = time.monotonic() + _START_SECONDS
    while not server.started:
        if not thread.is_alive() or time.monotonic() > give_up_at:
            raise InternalError("The emulator's server did not start.")
        time.sleep(0.005)
