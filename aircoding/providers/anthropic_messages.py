"""Anthropic's Messages API through the official SDK: one try, always streamed, complete or an error.

The SDK's own retries are off: each try must be on the ledger before it is sent. It is imported when the first call is
made (2.5 s of CPU), never before.
"""

from __future__ import annotations

import asyncio
import os
import warnings
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from weakref import WeakKeyDictionary

from aircoding.errors import CredentialsError, ProviderError
from aircoding.providers.anthropic_replies import checked_tokens, reply_from
from aircoding.providers.capabilities import Capabilities
from aircoding.providers.failures import classify, silent_end, timed_out
from aircoding.providers.paid_calls import is_loopback, refuse_paid_call
from aircoding.providers.prices import PriceTable, cost_of
from aircoding.providers.requests import messages_body
from aircoding.providers.validation import refuse_invalid
from aircoding.records.calls import CallRequest, Reply
from aircoding.records.snapshot import ModelLimits
from aircoding.records.usage import Cost, Usage

if TYPE_CHECKING:
    import anthropic
    import httpx2

__all__ = ["BASE_URL", "KEY_VARIABLES", "AnthropicProvider", "key_variable"]

BASE_URL = "https://api.anthropic.com"
"""Where calls go unless ANTHROPIC_BASE_URL says otherwise."""

KEY_VARIABLES = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")
"""The variables that may hold the key; the first one that is set counts."""

_CONNECT_SECONDS = 10.0
_WRITE_SECONDS = 60.0


def key_variable(environ: Mapping[str, str]) -> str | None:
    """Return which variable holds the key, or None; the key itself is never returned."""
    return next((name for name in KEY_VARIABLES if environ.get(name)), None)


class AnthropicProvider:
    """One way to Anthropic's models.

    Args:
        capabilities: what the models take.
        max_output_tokens: most that one answer is to reserve.
        prices: the user's own prices, which hold in place of the shipped ones.
        environ: where key, ANTHROPIC_BASE_URL and the switch against paid calls are read; the process's by default.
        silence_seconds: how long nothing may come from the provider before a call has failed.
        transport: what carries the calls instead of the network: an emulator in this process, for instance.

    Raises:
        CredentialsError: no key is set.
    """

    def __init__(
        self,
        capabilities: Capabilities,
        *,
        max_output_tokens: int = 16_000,
        prices: PriceTable | None = None,
        environ: Mapping[str, str] | None = None,
        silence_seconds: float = 300.0,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        self._environ = dict(os.environ if environ is None else environ)
        if key_variable(self._environ) is None:
            raise CredentialsError(
                f"No key for Anthropic's models: neither {' nor '.join(KEY_VARIABLES)} is set.",
                hint=f"export {KEY_VARIABLES[0]}=..., or use --provider scripted:FILE, which needs none.",
                code="credentials.missing",
            )
        self._base_url = self._environ.get("ANTHROPIC_BASE_URL") or BASE_URL
        self._capabilities = capabilities
        self._max_output_tokens = max_output_tokens
        self._prices = prices
        self._silence_seconds = silence_seconds
        self._transport = transport
        # A client's connections belong to the event loop that opened them.
        self._clients: WeakKeyDictionary[asyncio.AbstractEventLoop, anthropic.AsyncAnthropic] = WeakKeyDictionary()

    def limits(self, model: str) -> ModelLimits:
        """Return what the model can take."""
        return self._capabilities.row(model).limits(max_output_tokens=self._max_output_tokens)

    def cost(self, model: str, usage: Usage) -> Cost:
        """Return what `usage` costs; None where the price is not known."""
        return cost_of(model, usage, self._prices)

    async def call(self, call: CallRequest, *, began: Callable[[], None] | None = None) -> Reply:
        """Make one try at one call; `began` is called at the first event of the response.

        Raises:
            ProviderError: it failed, was refused before it was sent, or its answer was not complete.
        """
        refuse_paid_call(self._base_url, self._environ)
        row = self._capabilities.row(call.model)
        body = messages_body(call)
        refuse_invalid(body, row=row)
        headers = self._headers(call, row.api_version)
        try:
            async with asyncio.timeout(call.timeout_seconds):
                return await self._stream(body, headers, began)
        except TimeoutError as error:
            raise timed_out(f"no complete answer after {call.timeout_seconds:g} s") from error

    async def count_tokens(self, model: str, request: Mapping[str, Any]) -> int:
        """Return how many input tokens a canonical request has by the provider's own count, which costs nothing.

        Raises:
            ProviderError: it failed, or was refused before it was sent.
        """
        refuse_paid_call(self._base_url, self._environ)
        row = self._capabilities.row(model)
        body = {"model": model} | {part: request[part] for part in ("tools", "system", "messages") if request.get(part)}
        refuse_invalid(body | {"max_tokens": 1}, row=row)
        try:
            counted = await self._client().messages.count_tokens(
                **body, extra_headers={"anthropic-version": row.api_version}
            )
        except Exception as error:  # as above: whatever the SDK stumbles over is no count
            raise classify(error, began=False) from error
        return checked_tokens(counted, "input_tokens") or 0

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""
        client = self._clients.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.close()

    async def _stream(self, body: dict[str, Any], headers: dict[str, str], began: Callable[[], None] | None) -> Reply:
        seen: set[str] = set()
        request = self._client().messages.stream(**body, extra_headers=headers)
        try:
            async with request as stream:
                async for event in stream:
                    if not seen and began is not None:
                        began()
                    seen.add(event.type)
                # Asked before the final message is: that one looks whole even where the stream just ended.
                if missing := [name for name in ("message_start", "message_stop") if name not in seen]:
                    raise silent_end(f"the stream ended before {missing[0]}")
                return reply_from(await stream.get_final_message(), request_id=stream.request_id)
        except ProviderError:
            raise
        # Not only the SDK's and the transport's errors: events that are no JSON, come in a wrong order or lack a field
        # surface as whatever the SDK happens to stumble over, and none of that is an answer.
        except Exception as error:
            raise classify(error, began=bool(seen)) from error

    def _client(self) -> anthropic.AsyncAnthropic:
        loop = asyncio.get_running_loop()
        client = self._clients.get(loop)
        if client is None:
            client = self._clients[loop] = self._new_client()
        return client

    def _new_client(self) -> anthropic.AsyncAnthropic:
        import anthropic
        import httpx2

        # The SDK copies its own values; one of a wrong type is told as an error here, not in a warning to the person.
        warnings.filterwarnings("ignore", message="Pydantic serializer warnings")
        timeout = httpx2.Timeout(
            self._silence_seconds, connect=_CONNECT_SECONDS, write=_WRITE_SECONDS, pool=self._silence_seconds
        )
        # No proxy and no redirect may carry a call that is meant for this machine to another one.
        http_client = anthropic.DefaultAsyncHttpxClient(
            base_url=self._base_url,
            timeout=timeout,
            transport=self._transport,
            follow_redirects=False,
            trust_env=not is_loopback(self._base_url),
        )
        variable = key_variable(self._environ)
        key = self._environ[variable] if variable is not None else None
        return anthropic.AsyncAnthropic(
            api_key=key if variable == KEY_VARIABLES[0] else None,
            auth_token=key if variable == KEY_VARIABLES[1] else None,
            base_url=self._base_url,
            max_retries=0,
            timeout=timeout,
            http_client=http_client,
        )

    def _headers(self, call: CallRequest, api_version: str) -> dict[str, str]:
        headers = {"anthropic-version": api_version}
        if is_loopback(self._base_url):  # names of runs and tasks are nobody else's business
            headers |= {
                "x-air-session": quote(call.session_id, safe=":"),
                "x-air-assistant-turns": str(call.assistant_turns),
                "x-air-tries": str(call.tries),
            }
        return headers
