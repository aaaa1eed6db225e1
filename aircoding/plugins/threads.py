"""Ask a function of a plugin in a thread of its own: one that hangs holds up neither the event loop nor the exit."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import threading
from collections.abc import Callable
from typing import Any

__all__ = ["PluginStoppedError", "ask_in_thread"]


class PluginStoppedError(Exception):
    """A function of a plugin tried to end the process; `SystemExit` must not get past its thread."""


class _Asked:
    """One call that is under way; it can be abandoned, and then nobody hears of its end."""

    def __init__(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        self._function, self._arguments = function, arguments
        self._loop = asyncio.get_running_loop()
        self._inner: tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]] | None = None
        self.answer: asyncio.Future[Any] = self._loop.create_future()

    def run(self) -> None:
        """Call the function; what is async runs on a loop of this thread."""
        try:
            value = self._function(*self._arguments)
            if inspect.isawaitable(value):
                value = asyncio.run(self._awaited(value))
        except Exception as error:  # noqa: BLE001 - whatever a plugin raises is told, and harms nobody
            self._tell(self._fail, error)
        except BaseException as error:  # noqa: BLE001 - SystemExit and the like
            self._tell(self._fail, PluginStoppedError(f"{type(error).__name__}: {error}"))
        else:
            self._tell(self._give, value)

    async def _awaited(self, value: Any) -> Any:
        task = asyncio.current_task()
        if task is not None:
            self._inner = (asyncio.get_running_loop(), task)
        if self.answer.cancelled():
            raise asyncio.CancelledError
        return await value

    def abandon(self) -> None:
        """Cancel an async function; of another only its answer is dropped."""
        if self._inner is not None:
            loop, task = self._inner
            with contextlib.suppress(RuntimeError):  # it has ended meanwhile
                loop.call_soon_threadsafe(task.cancel)

    def _tell(self, say: Callable[[Any], None], what: Any) -> None:
        with contextlib.suppress(RuntimeError):  # the loop that asked is closed
            self._loop.call_soon_threadsafe(say, what)

    def _give(self, value: Any) -> None:
        if not self.answer.done():
            self.answer.set_result(value)

    def _fail(self, error: BaseException) -> None:
        if not self.answer.done():
            self.answer.set_exception(error)


async def ask_in_thread(function: Callable[..., Any], *arguments: Any) -> Any:
    """Return what a function (async or not) returns, or raise what it raises.

    On cancellation an async function is cancelled and any other abandoned: its thread is a daemon, which does not
    keep the process from ending.
    """
    asked = _Asked(function, arguments)
    threading.Thread(target=asked.run, name="aircoding-plugin", daemon=True).start()
    try:
        return await asked.answer
    except asyncio.CancelledError:
        asked.abandon()
        raise
