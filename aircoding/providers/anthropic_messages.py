"""The Anthropic Messages API through the official SDK: always streamed, one try per call, complete or an error.

The SDK's own retries are off: each try must be on the ledger before it is sent. An answer counts only when the stream
ended with `message_stop` and a stop reason; the SDK returns a message without either after a clean early end (measured
2026-11, SDK 2.14.0).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from aircoding.errors import CredentialsError
from aircoding.providers.capabilities import Capabilities
from aircoding.providers.failures import classify, silent_end
from aircoding.providers.paid_calls import is_loopback, refuse_paid_call
from aircoding.providers.prices import cost_of
from aircoding.providers.requests import messages_body
from aircoding.providers.validation import refuse_invalid
from aircoding.records.calls import CallRequest, Reply
from aircoding.records.snapshot import ModelLimits
from aircoding.records.usage import Cost, Usage

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic
    from anthropic.types import Message

__all__ = ["DEFAULT_BASE_URL", "AnthropicProvider", "loopback_headers"]

DEFAULT_BASE_URL = "https://api.anthropic.com"
_KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")
_CONNECT_SECONDS = 10.0


class AnthropicProvider:
    """Implements `ports.Provider`. The key comes from the environment and is never shown.

    `ANTHROPIC_BASE_URL` is honoured; towards this machine a call tells its session and counts in headers, so that the
    emulator can follow a script.
    """

    def __init__(
        self,
        capabilities: Capabilities,
        *,
        max_output_tokens: int,
        environ: Mapping[str, str] | None = None,
        http_client: Any = None,
    ) -> None:
        self._capabilities = capabilities
        self._max_output_tokens = max_output_tokens
        self._environ = os.environ if environ is None else environ
        self._base_url = self._environ.get("ANTHROPIC_BASE_URL") or DEFAULT_BASE_URL
        if not any(self._environ.get(name) for name in _KEYS):
            raise CredentialsError(
                "there is no key for the Anthropic API",
                hint=f"set {_KEYS[0]}; `aircoding demo` and scripted runs need none",
                code="credentials.missing",
            )
        self._http_client = http_client
        self._client: AsyncAnthropic | None = None

    def limits(self, model: str) -> ModelLimits:
        """Return what the model can take, by the packaged table."""
        return self._capabilities.row(model).limits(max_output_tokens=self._max_output_tokens)

    def cost(self, model: str, usage: Usage) -> Cost:
        """Return what `usage` costs."""
        return cost_of(model, usage)

    async def call(self, call: CallRequest) -> Reply:
        """Make one try.

        Raises:
            ProviderError: it failed, broke off, or ended without being complete.
        """
        refuse_paid_call(self._base_url, self._environ)
        body = messages_body(call)
        refuse_invalid(body, row=self._capabilities.row(call.model))
        began = complete = False
        try:
            headers = loopback_headers(call) if is_loopback(self._base_url) else {}
            async with self._open().messages.stream(
                **body, timeout=self._timeout(call.timeout_seconds), extra_headers=headers
            ) as stream:
                async for event in stream:
                    began = True
                    complete = complete or event.type == "message_stop"
                message = await stream.get_final_message()
        except Exception as error:
            raise classify(error, began=began) from error
        if not complete or message.stop_reason is None:
            raise silent_end("the stream ended before `message_stop`")
        return _reply(message, self._request_id(message))

    def _open(self) -> AsyncAnthropic:
        if self._client is None:
            from anthropic import AsyncAnthropic

            self._client = AsyncAnthropic(
                api_key=self._environ.get(_KEYS[0]),
                auth_token=self._environ.get(_KEYS[1]),
                base_url=self._base_url,
                max_retries=0,
                http_client=self._http_client,
            )
        return self._client

    def _timeout(self, seconds: float) -> Any:
        import httpx2

        return httpx2.Timeout(seconds, connect=_CONNECT_SECONDS)

    def _request_id(self, message: Message) -> str | None:
        return getattr(message, "_request_id", None) or message.id


def loopback_headers(call: CallRequest) -> dict[str, str]:
    """Return the headers by which the emulator finds a session's place in its script; never sent elsewhere."""
    return {
        "x-air-session": call.session_id,
        "x-air-call": call.key,
        "x-air-assistant-turns": str(call.assistant_turns),
        "x-air-tries": str(call.tries),
    }


def _reply(message: Message, request_id: str | None) -> Reply:
    used = message.usage
    writes = used.cache_creation
    written = used.cache_creation_input_tokens or 0
    one_hour = writes.ephemeral_1h_input_tokens if writes is not None else 0
    return Reply(
        content=tuple(block.to_dict() for block in message.content),
        stop_reason=str(message.stop_reason),
        usage=Usage(
            input_tokens=used.input_tokens,
            output_tokens=used.output_tokens,
            cache_read_tokens=used.cache_read_input_tokens or 0,
            cache_write_5m_tokens=written - one_hour,
            cache_write_1h_tokens=one_hour,
        ),
        model=message.model,
        request_id=request_id,
    )
