"""Ask a function of a plugin in a thread of its own: one that hangs holds up neither the event loop nor the exit."""

from __future__ import annotations

import asyncio
import contextlib
import copy
import inspect
import threading
from collections.abc import Callable
from typing import Any

from aircoding.plugins.plain_values import in_words, plain_value
from aircoding.records.hooks import PluginFailedError

__all__ = ["ask_in_thread"]


class _Asked:
    """One call that is under way; it can be abandoned, and then nobody hears of its end.

    Its answer is a pair: what the function returned, as a value of ours, or None and in words why there is none. No
    error and no object of a plugin leaves the thread.
    """

    def __init__(self, function: Callable[..., Any], arguments: tuple[Any, ...], read: Callable[[Any], Any]) -> None:
        self._function, self._arguments, self._read = function, arguments, read
        self._loop = asyncio.get_running_loop()
        self._inner: tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]] | None = None
        self.answer: asyncio.Future[tuple[Any, str]] = self._loop.create_future()

    def run(self) -> None:
        """Call the function; what is async runs on a loop of this thread."""
        try:
            value = self._function(*self._arguments)
            if inspect.isawaitable(value):
                value = asyncio.run(self._awaited(value))
            said = (self._read(value), "")
        except BaseException as error:  # noqa: BLE001 - whatever a plugin raises is told, SystemExit too
            said = (None, in_words(error) or "it failed without a word")
        with contextlib.suppress(RuntimeError):  # the loop that asked is closed
            self._loop.call_soon_threadsafe(self._give, said)

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

    def _give(self, said: tuple[Any, str]) -> None:
        if not self.answer.done():
            self.answer.set_result(said)


async def ask_in_thread(function: Callable[..., Any], *arguments: Any, read: Callable[[Any], Any] = plain_value) -> Any:
    """Return what a function (async or not) returns, as `read` makes it a value of ours in the same thread.

    On cancellation an async function is cancelled and any other abandoned: its thread is a daemon, which does not
    keep the process from ending.

    Raises:
        PluginFailedError: the function or `read` raised; it says what.
    """
    # What was judged must not change under the call that it was judged for.
    asked = _Asked(function, copy.deepcopy(arguments), read)
    threading.Thread(target=asked.run, name="aircoding-plugin", daemon=True).start()
    try:
        value, failure = await asked.answer
    except asyncio.CancelledError:
        asked.abandon()
        raise
    if failure:
        raise PluginFailedError(failure)
    return value
