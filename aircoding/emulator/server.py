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
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import unquote

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from aircoding.emulator.access import (
    COUNT_FIELDS,
    MAX_BODY_BYTES,
    RefusedError,
    betas,
    check_access,
    json_body,
    read_body,
)
from aircoding.emulator.answers import Answer, error_body, model_info, models_page
from aircoding.emulator.recorder import Recorded, Recorder
from aircoding.emulator.streams import StreamCutError, break_off, cut_answer, stream_answer
from aircoding.errors import ProviderError
from aircoding.providers.capabilities import Capabilities
from aircoding.providers.requests import scripted_content
from aircoding.providers.script import ScriptFile
from aircoding.providers.script_choice import ANY_SESSION, Step, choose_turn, session_match
from aircoding.providers.simulated import Asked, SimulatedCache, prompt_tokens
from aircoding.providers.thinking import without_blocks
from aircoding.providers.validation import validate_request
from aircoding.providers.validation_request import Request as ValidRequest
from aircoding.providers.validation_shape import shape_faults
from aircoding.providers.validation_thinking import BINDING_BETA, dropped_blocks
from aircoding.records.ids import CallKey, SessionId, call_key

__all__ = ["Emulator"]

_NO_SESSION = SessionId("none:none:1:none:1")

_FAILURES = {404: "Not Found", 405: "Method Not Allowed"}

Handler = Callable[[Request, Recorded], Awaitable[Response]]


class Emulator:
    """The server's state; `app` is the ASGI application, `recorder` what it was sent.

    `sleep` waits for the delays of a script, `clock` gives seconds for the life of cache entries, `report` is told each
    request in one line. A scripted `cut` needs a real socket: in process there is no connection that could break.
    """

    def __init__(
        self,
        script: ScriptFile,
        capabilities: Capabilities,
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
        max_body_bytes: int = MAX_BODY_BYTES,
        report: Callable[[str], None] | None = None,
    ) -> None:
        self.recorder = Recorder()
        self._script, self._capabilities = script, capabilities
        self._sleep, self._clock, self._report = sleep, clock, report
        self._max_body_bytes = max_body_bytes
        self._answers = 0
        self._cache = SimulatedCache()
        self.app = Starlette(
            routes=[
                Route("/v1/messages", self._guarded(self._messages), methods=["POST"]),
                Route("/v1/messages/count_tokens", self._guarded(self._count_tokens), methods=["POST"]),
                Route("/v1/models", self._guarded(self._models)),
                Route("/v1/models/{model}", self._guarded(self._model)),
                Route("/_air/requests", self._recorded, methods=["GET", "DELETE"]),
            ],
            exception_handlers={HTTPException: self._failed, Exception: self._failed},
        )

    def _guarded(self, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
        """Record a request, check key, version and size, and turn a refusal into the API's error."""

        async def handle(request: Request) -> Response:
            body = await read_body(request, max_bytes=self._max_body_bytes)
            recorded = self.recorder.add(
                method=request.method, path=request.url.path, headers=dict(request.headers), body=body or b""
            )
            try:
                check_access(recorded)
                if body is None:
                    raise RefusedError(413, "Request exceeds the maximum size")
                response = await handler(request, recorded)
            except RefusedError as refused:
                return self._refusal(request, refused)
            response.headers["request-id"] = self._request_id()
            self._tell(request, response.status_code, getattr(request.state, "fault", ""))
            return response

        return handle

    def _refusal(self, request: Request, refused: RefusedError) -> Response:
        request_id = self._request_id()
        self._tell(request, refused.status, refused.message)
        return JSONResponse(
            error_body(refused.status, refused.message, request_id=request_id),
            status_code=refused.status,
            headers={**refused.headers, "request-id": request_id},
        )

    def _request_id(self) -> str:
        self._answers += 1
        return f"req_emulator_{self._answers}"

    def _tell(self, request: Request, status: int, message: str = "") -> None:
        if self._report is not None:
            self._report(f"{request.method} {request.url.path} {status} {message}".rstrip())

    async def _failed(self, request: Request, error: Exception) -> Response:
        """Answer for a route that is not there, and for a fault of our own, in the API's form."""
        if isinstance(error, StreamCutError):  # the script asked for it, and it was reported with its request
            return Response(status_code=500)
        status = error.status_code if isinstance(error, HTTPException) else 500
        return self._refusal(request, RefusedError(status, _FAILURES.get(status, "Internal server error")))

    async def _messages(self, request: Request, recorded: Recorded) -> Response:
        body = json_body(recorded)
        self._check(body, recorded)
        key, tries, step = self._step(body, recorded)
        seen, reported = self._taken(body, recorded)
        asked = self._ask(seen, request)
        if step.turn.delay_seconds:
            await self._sleep(step.turn.delay_seconds)
        if step.error is not None and step.error.status is not None:
            raise RefusedError(step.error.status, "scripted", step.error.headers)
        if step.error is not None:
            request.state.fault = f"{step.error.stream} (scripted)"
        answer = self._answer(seen, step, key, tries, asked, reported)
        if body.get("stream"):
            events = stream_answer(request, answer, step.turn, step.error, self._sleep)
            return StreamingResponse(events, media_type="text/event-stream", headers={"cache-control": "no-cache"})
        whole = JSONResponse(answer.body())
        if step.error is None:
            return whole
        if step.error.stream == "cut":
            return StreamingResponse(cut_answer(bytes(whole.body)), headers=dict(whole.headers))
        await break_off(request, step.error)
        raise RefusedError(529, "Overloaded")  # without a stream there is no event to carry it

    async def _count_tokens(self, request: Request, recorded: Recorded) -> Response:  # noqa: ARG002 - a handler
        body = json_body(recorded)
        for name in body:
            if name not in COUNT_FIELDS:
                raise RefusedError(400, f"{name}: Extra inputs are not permitted")
        row = self._capabilities.row(str(body.get("model", "")))
        self._check({**body, "max_tokens": row.max_output_tokens}, recorded)
        return JSONResponse({"input_tokens": prompt_tokens(body)})

    async def _models(self, request: Request, recorded: Recorded) -> Response:  # noqa: ARG002 - a handler
        page = models_page(list(self._capabilities.rows.values()), request.query_params)
        if page is None:
            raise RefusedError(400, "limit: Input should be a valid integer from 1 to 1000")
        return JSONResponse(page)

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
            raise RefusedError(404, f"model: {model}")

    def _check(self, body: Mapping[str, Any], recorded: Recorded) -> None:
        """Do nothing for a request that the real API would take."""
        if isinstance(body.get("model"), str):
            self._known(body["model"])
        shaped = next(shape_faults(body), None) is None
        faults = validate_request(
            body,
            row=self._capabilities.row(str(body.get("model", ""))),
            api_version=recorded.headers["anthropic-version"],
            betas=betas(recorded),
            own_signatures=True,
            prompt_tokens=prompt_tokens(body) if shaped else None,  # of another shape tokens cannot be counted
        )
        if faults:
            # That it is too long is told last: whatever else is wrong comes first.
            raise RefusedError(400, min(faults, key=lambda fault: fault.code == "request.too_long").message)

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
            raise RefusedError(400, f"x-air headers: {error!r} is missing or no number") from error
        except ProviderError as error:
            raise RefusedError(400, error.message) from error
        return call_key(session, turns + 1), tries, step

    def _ask(self, body: dict[str, Any], request: Request) -> Asked:
        """Look up what is cached as the request starts; caches are isolated by key, as by workspace."""
        key = request.headers.get("authorization") or request.headers.get("x-api-key") or ""
        row = self._capabilities.row(body["model"])
        return self._cache.ask(
            row.model,
            body,
            minimum_tokens=row.min_cache_prefix_tokens,
            now_seconds=self._clock(),
            workspace=hashlib.sha256(key.encode()).hexdigest(),
        )

    def _taken(self, body: dict[str, Any], recorded: Recorded) -> tuple[dict[str, Any], tuple[str, ...] | None]:
        """Return the request as the model sees it, and the thinking that was dropped where the caller is told of it."""
        row = self._capabilities.row(body["model"])
        dropped = dropped_blocks(ValidRequest(body=body, row=row, api_version=recorded.headers["anthropic-version"]))
        told = row.thinking != "none" and BINDING_BETA in betas(recorded)
        return without_blocks(body, dropped) if dropped else body, tuple(b.path for b in dropped) if told else None

    def _answer(
        self,
        seen: dict[str, Any],
        step: Step,
        key: CallKey,
        tries: int,
        asked: Asked,
        dropped: tuple[str, ...] | None,
    ) -> Answer:
        """The answer begins here: what the request marked can be read from the cache from now on."""
        content = scripted_content(step.turn, key, seen)
        asked.begin()
        return Answer(
            message_id="msg_" + hashlib.sha256(f"{key} {tries}".encode()).hexdigest()[:24],
            model=self._capabilities.row(seen["model"]).model,
            content=content,
            stop_reason=step.turn.stop_reason,
            usage=asked.usage(content),
            dropped=dropped,
        )
