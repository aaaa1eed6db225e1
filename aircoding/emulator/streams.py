"""An answer as it goes out: paced, with pings, and broken off where its script says so."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

from starlette.requests import Request

from aircoding.emulator.answers import Answer, sse, stream_events
from aircoding.providers.script import ScriptedError, Turn

__all__ = ["StreamCutError", "break_off", "cut_answer", "stream_answer"]

Sleep = Callable[[float], Awaitable[None]]

_PING = {"type": "ping"}
_STALL_PING_SECONDS = 1.0
_LOOK_SECONDS = 0.02


class StreamCutError(Exception):
    """Ends a response without its last chunk: the server closes the connection, as a broken network does.

    It is raised by script only, so it is no fault of the server's, and it is not reported as one.
    """


async def stream_answer(
    request: Request, answer: Answer, turn: Turn, error: ScriptedError | None, sleep: Sleep
) -> AsyncIterator[bytes]:
    """Yield the events of an answer. Between two paced ones comes a ping, so that the stream is slow but not silent."""
    events = stream_events(answer)
    # A fault comes when a part of the content is there: that is what makes it easy to overlook.
    sent = events if error is None else events[: max(len(events) // 2, 3)]
    for number, event in enumerate(sent):
        if number and turn.pace_seconds:
            await sleep(turn.pace_seconds)
            yield sse(_PING)
        yield sse(event)
    if error is None:
        return
    if error.stream == "error_event":
        yield sse({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})
    while error.stream == "stall" and not await request.is_disconnected():
        yield sse(_PING)
        await sleep(turn.pace_seconds or _STALL_PING_SECONDS)
    await break_off(request, error)


async def cut_answer(body: bytes) -> AsyncIterator[bytes]:
    """Yield half of an answer that is not streamed, and break the connection.

    Raises:
        StreamCutError: always.
    """
    yield body[: len(body) // 2]
    raise StreamCutError


async def break_off(request: Request, error: ScriptedError) -> None:
    """End as the script says; a clean end needs nothing more, a silent one lasts until the caller gives up.

    Raises:
        StreamCutError: the connection is to be cut.
    """
    if error.stream == "cut":
        raise StreamCutError
    while error.stream in {"hang", "stall"} and not await request.is_disconnected():  # noqa: ASYNC110 - has no event
        await asyncio.sleep(_LOOK_SECONDS)
