"""A Messages API server on this machine that answers by script and refuses what the real one refuses.

It takes both ways to give a key (any key is right), the API versions that `providers.validation` knows, and the
session of a call in the headers that our own provider sends to this machine: `x-air-session`, `x-air-assistant-turns`,
`x-air-tries`. A caller without them is answered by the script with an empty match, its turn chosen by the assistant
messages of its request, its tries by how often the same request came before. Usage is simulated.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any
from urllib.parse import unquote

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from aircoding.emulator.answers import Answer, error_body, model_info, sse, stream_events
from aircoding.emulator.recorder import Recorded, Recorder
from aircoding.errors import ProviderError
from aircoding.providers.capabilities import Capabilities
from aircoding.providers.requests import scripted_content
from aircoding.providers.script import ScriptedError, ScriptFile
from aircoding.providers.script_choice import ANY_SESSION, Step, choose_turn, session_match
from aircoding.providers.simulated import Asked, SimulatedCache, prompt_tokens
from aircoding.providers.validation import API_VERSIONS, validate_request
from aircoding.records.ids import CallKey, SessionId, call_key

__all__ = ["Emulator"]

_NO_SESSION = SessionId("none:none:1:none:1")


class _StreamCutError(Exception):
    """Ends a response without its last chunk: the server closes the connection, as a broken network does."""


class _RefusedError(Exception):
    """A request is answered with an error status."""

    def __init__(self, status: int, message: str, retry_after_seconds: float | None = None) -> None:
        super().__init__(message)
        self.status, self.message, self.retry_after_seconds = status, message, retry_after_seconds


class Emulator:
    """The server's state; `app` is the ASGI application, `recorder` what it was sent.

    `sleep` waits for the delays of a script, `clock` gives seconds for the life of cache entries. A scripted `cut`
    needs a real socket: in process there is no connection that could break.
    """

    def __init__(
        self,
        script: ScriptFile,
        capabilities: Capabilities,
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.recorder = Recorder()
        self._script, self._capabilities = script, capabilities
        self._sleep, self._clock = sleep, clock
        self._cache = SimulatedCache()
        self.app = Starlette(
            routes=[
                Route("/v1/messages", self._guarded(self._messages), methods=["POST"]),
                Route("/v1/messages/count_tokens", self._guarded(self._count_tokens), methods=["POST"]),
                Route("/v1/models", self._guarded(self._models)),
                Route("/v1/models/{model}", self._guarded(self._model)),
                Route("/_air/requests", self._recorded, methods=["GET", "DELETE"]),
            ]
        )

    def _guarded(
        self, handler: Callable[[Request, Recorded], Awaitable[Response]]
    ) -> Callable[[Request], Awaitable[Response]]:
        """Record a request, check key and version, and turn a refusal into the API's error."""

        async def handle(request: Request) -> Response:
            recorded = self.recorder.add(
                method=request.method, path=request.url.path, headers=dict(request.headers), body=await request.body()
            )
            request_id = f"req_emulator_{len(self.recorder.requests)}"
            try:
                _check_access(recorded)
                response = await handler(request, recorded)
            except _RefusedError as refused:
                response = JSONResponse(
                    error_body(refused.status, refused.message, request_id=request_id), status_code=refused.status
                )
                if refused.retry_after_seconds is not None:
                    response.headers["retry-after"] = f"{refused.retry_after_seconds:g}"
            response.headers["request-id"] = request_id
            return response

        return handle

    async def _messages(self, request: Request, recorded: Recorded) -> Response:
        body = self._valid_body(recorded)
        key, tries, step = self._step(body, recorded)
        asked = self._ask(body, request)
        if step.turn.delay_seconds:
            await self._sleep(step.turn.delay_seconds)
        if step.error is not None and step.error.status is not None:
            raise _RefusedError(step.error.status, "scripted", step.error.retry_after_seconds)
        answer = self._answer(body, step, key, tries, asked)
        if body.get("stream"):
            return StreamingResponse(self._stream(request, answer, step), media_type="text/event-stream")
        if step.error is not None:
            await self._fail(request, step.error)
            raise _RefusedError(529, "Overloaded")  # without a stream there is no event to carry it
        return JSONResponse(answer.body())

    async def _count_tokens(self, request: Request, recorded: Recorded) -> Response:  # noqa: ARG002 - a handler
        body = self._valid_body(recorded, max_tokens=1)
        return JSONResponse({"input_tokens": prompt_tokens(body)})

    async def _models(self, request: Request, recorded: Recorded) -> Response:  # noqa: ARG002 - a handler
        data = [model_info(row) for row in self._capabilities.rows.values()]
        return JSONResponse(
            {"data": data, "has_more": False, "first_id": data[0]["id"], "last_id": data[-1]["id"]} if data else {}
        )

    async def _model(self, request: Request, recorded: Recorded) -> Response:  # noqa: ARG002 - a handler
        model = str(request.path_params["model"])
        self._known(model)
        return JSONResponse(model_info(self._capabilities.row(model)))

    async def _recorded(self, request: Request) -> Response:
        if request.method == "DELETE":
            self.recorder.clear()
            return Response(status_code=204)
        return JSONResponse(
            [
                {"method": one.method, "path": one.path, "headers": one.headers, "auth": one.auth, "body": one.json}
                for one in self.recorder.requests
            ]
        )

    def _known(self, model: str) -> None:
        if self._capabilities.remarks(model):
            raise _RefusedError(404, f"model: {model}")

    def _valid_body(self, recorded: Recorded, **defaults: Any) -> dict[str, Any]:
        """Return the body of a request that the real API would take."""
        body = recorded.json
        if not isinstance(body, dict):
            raise _RefusedError(400, "The request body is not valid JSON")
        body = defaults | body
        if isinstance(body.get("model"), str):
            self._known(body["model"])
        row = self._capabilities.row(str(body.get("model", "")))
        version = recorded.headers["anthropic-version"]
        faults = validate_request(body, row=row, api_version=version)
        if not faults:
            faults = validate_request(body, row=row, api_version=version, prompt_tokens=prompt_tokens(body))
        if faults:
            raise _RefusedError(400, faults[0].message)
        return body

    def _step(self, body: dict[str, Any], recorded: Recorded) -> tuple[CallKey, int, Step]:
        headers = recorded.headers
        try:
            if "x-air-session" in headers:
                session = SessionId(unquote(headers["x-air-session"]))
                match = session_match(session)
                turns, tries = int(headers["x-air-assistant-turns"]), int(headers["x-air-tries"])
            else:
                session, match = _NO_SESSION, ANY_SESSION
                turns = sum(message["role"] == "assistant" for message in body["messages"])
                tries = self.recorder.times_seen(recorded)
            step = choose_turn(self._script, match, assistant_turns=turns, tries=tries)
        except (KeyError, ValueError) as error:
            raise _RefusedError(400, f"x-air headers: {error!r} is missing or no number") from error
        except ProviderError as error:
            raise _RefusedError(400, error.message) from error
        return call_key(session, turns + 1), tries, step

    def _ask(self, body: dict[str, Any], request: Request) -> Asked:
        """Look up what is cached as the request starts; caches are isolated by key, as by workspace."""
        key = request.headers.get("authorization") or request.headers.get("x-api-key") or ""
        return self._cache.ask(
            body["model"],
            body,
            minimum_tokens=self._capabilities.row(body["model"]).min_cache_prefix_tokens,
            now_seconds=self._clock(),
            workspace=hashlib.sha256(key.encode()).hexdigest(),
        )

    def _answer(self, body: dict[str, Any], step: Step, key: CallKey, tries: int, asked: Asked) -> Answer:
        """The answer begins here: what the request marked can be read from the cache from now on."""
        content = scripted_content(step.turn, key)
        asked.begin()
        message_id = "msg_" + hashlib.sha256(f"{key} {tries}".encode()).hexdigest()[:24]
        return Answer(
            message_id=message_id,
            model=body["model"],
            content=content,
            stop_reason=step.turn.stop_reason,
            usage=asked.usage(content),
        )

    async def _stream(self, request: Request, answer: Answer, step: Step) -> AsyncIterator[bytes]:
        events = stream_events(answer)
        # A fault comes when a part of the content is there: that is what makes it easy to overlook.
        sent = events if step.error is None else events[: max(len(events) // 2, 3)]
        for event in sent:
            yield sse(event)
            if step.turn.pace_seconds:
                await self._sleep(step.turn.pace_seconds)
        if step.error is not None:
            if step.error.stream == "error_event":
                yield sse({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})
            await self._fail(request, step.error)

    async def _fail(self, request: Request, error: ScriptedError) -> None:
        """Break off as the script says; a clean end needs nothing more."""
        if error.stream == "cut":
            raise _StreamCutError
        while error.stream == "hang" and not await request.is_disconnected():  # noqa: ASYNC110 - a server has no event
            await asyncio.sleep(0.02)


def _check_access(recorded: Recorded) -> None:
    if recorded.auth is None:
        raise _RefusedError(401, "x-api-key header is required")
    version = recorded.headers.get("anthropic-version")
    if version is None:
        raise _RefusedError(400, "anthropic-version: header is required")
    if version not in API_VERSIONS:
        raise _RefusedError(400, f'anthropic-version: "{version}" is not a valid version')
