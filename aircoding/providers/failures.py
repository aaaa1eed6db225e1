"""What a failed call means: kind, what to do next, and whether it may be billed all the same.

The table follows the failure behaviour of anthropic SDK 2.14.0 as measured in 2026-11. Three of its failures are no
`anthropic.APIError` at all: a cut connection surfaces as a transport error, an `error` event in mid-stream as a status
error with status 200, and a clean end before `message_stop` as nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from aircoding.errors import ProviderError

__all__ = [
    "classify",
    "cut_stream",
    "http_failure",
    "no_connection",
    "retry_after_seconds",
    "silent_end",
    "timed_out",
    "untrusted_usage",
]


@dataclass(frozen=True, slots=True)
class _Meaning:
    kind: str
    action: str
    hint: str = ""
    maybe_billed: bool = False


_WAIT = "The provider is asked again after a pause."
_BUSY = _Meaning("overloaded", "retry", _WAIT)
_LIMITED = _Meaning("rate_limit", "wait", "Fewer workers at once (--concurrency) stay below the limit.")
_BROKEN = _Meaning("server", "retry", _WAIT)
_SLOW = _Meaning("timeout", "retry", _WAIT, maybe_billed=True)
_WRONG = _Meaning("invalid_request", "stop", "The request itself is refused; sending it again cannot help.")
_LONG = _Meaning("too_long", "stop", "The request is larger than the model takes: compact the session.")
_KEY = _Meaning("credentials", "stop", "Check ANTHROPIC_API_KEY (or ANTHROPIC_AUTH_TOKEN) and what the key may use.")
_MONEY = _Meaning("refused", "stop", "The account has reached a limit of money; raise it with the provider.")
_NO_MODEL = _Meaning(
    "invalid_request", "other_model", "Check the model's name: `aircoding providers` lists known ones."
)

_BY_TYPE = {
    "invalid_request_error": _WRONG,
    "authentication_error": _KEY,
    "permission_error": _KEY,
    "billing_error": _MONEY,
    "not_found_error": _NO_MODEL,
    "request_too_large": _LONG,
    "rate_limit_error": _LIMITED,
    "timeout_error": _SLOW,
    "api_error": _BROKEN,
    "overloaded_error": _BUSY,
    "conflict_error": _BROKEN,
}
_BY_STATUS = {
    400: _WRONG,
    401: _KEY,
    402: _MONEY,
    403: _KEY,
    404: _NO_MODEL,
    408: _SLOW,
    409: _BROKEN,
    413: _LONG,
    422: _WRONG,
    429: _LIMITED,
    504: _SLOW,
    529: _BUSY,
}
_SPEND_LIMITS = ("spend_limit_reached",)
_TOO_LONG = ("prompt is too long", "request_too_large", "exceed context limit")


def http_failure(
    status: int,
    *,
    error_type: str | None = None,
    error_code: str | None = None,
    message: str = "",
    headers: Mapping[str, str] | None = None,
    began: bool = False,
) -> ProviderError:
    """Return the error for an answer with a status (200: an `error` event in a stream that had begun).

    The body's `error.type` counts before the status, since an event in mid-stream carries no status of its own.
    """
    given = headers or {}
    meaning = _meaning(status, error_type, error_code, message)
    wait_seconds = retry_after_seconds(given)
    action = meaning.action
    if action in {"retry", "wait"}:
        action = "wait" if wait_seconds is not None else "retry"
    if given.get("x-should-retry") == "false" and action in {"retry", "wait"}:
        action = "stop"
    elif given.get("x-should-retry") == "true" and meaning is _WRONG:
        action = "retry"
    named = f"{status} {error_type}" if error_type else str(status)
    return ProviderError(
        f"The provider answered {named}: {message or 'no message'}",
        kind=meaning.kind,
        action=action,
        retry_after_seconds=wait_seconds,
        maybe_billed=began or meaning.maybe_billed,
        hint=meaning.hint,
    )


def _meaning(status: int, error_type: str | None, error_code: str | None, message: str) -> _Meaning:
    if error_code is not None and error_code.endswith(_SPEND_LIMITS):
        return _MONEY
    meaning = _BY_TYPE.get(error_type or "") or _BY_STATUS.get(status)
    if meaning is None and status >= 500:
        meaning = _BROKEN
    if meaning is None and 300 <= status < 400:
        return _Meaning(
            "connection", "stop", "Redirects are not followed: set ANTHROPIC_BASE_URL to the final address."
        )
    if meaning is _WRONG and any(words in message.lower() for words in _TOO_LONG):
        return _LONG
    return meaning or _WRONG


def cut_stream(detail: str) -> ProviderError:
    """Return the error for a stream that broke after it began."""
    return ProviderError(
        f"The answer was cut in mid-stream: {detail}",
        kind="cut_stream",
        action="retry",
        maybe_billed=True,
        hint="It is asked for again as a new try; the provider may bill the part that was sent.",
    )


def silent_end(detail: str) -> ProviderError:
    """Return the error for a stream that ended without an error and without being complete."""
    return ProviderError(
        f"The answer ended without being complete: {detail}",
        kind="silent_end",
        action="retry",
        maybe_billed=True,
        hint="It is asked for again as a new try; the provider may bill the part that was sent.",
    )


def untrusted_usage(detail: str) -> ProviderError:
    """Return the error for a complete answer whose usage cannot be true: nobody can tell what it costs.

    It is not asked for again: the next answer would most likely count alike, and each may be billed.
    """
    return ProviderError(
        f"The answer came with a usage that cannot be true: {detail}",
        kind="untrusted_usage",
        action="stop",
        maybe_billed=True,
        hint="What it cost is not known, and no limit of money could hold; look at the server, then resume.",
    )


def timed_out(detail: str, *, sent: bool = True) -> ProviderError:
    """Return the error for a call that took too long; `sent` says whether the request may have arrived."""
    return ProviderError(
        f"The provider did not answer in time: {detail}", kind="timeout", action="retry", maybe_billed=sent
    )


def no_connection(detail: str, *, sent: bool) -> ProviderError:
    """Return the error for a connection that failed before the answer began."""
    return ProviderError(
        f"The connection to the provider failed: {detail}",
        kind="connection",
        action="retry",
        maybe_billed=sent,
        hint="Check the network, the proxy settings and ANTHROPIC_BASE_URL.",
    )


def classify(error: Exception, *, began: bool) -> ProviderError:
    """Return what an exception of the SDK or its transport means; `began` says that the answer had begun."""
    import anthropic
    import httpx2

    cause = error.__cause__ if isinstance(error, anthropic.APIConnectionError) else error
    detail = f"{type(cause or error).__name__}: {cause or error}"
    if isinstance(error, anthropic.APIStatusError):
        return http_failure(
            error.status_code,
            error_type=error.type,
            error_code=error.error_code,
            message=error.api_message or error.message,
            headers=error.response.headers,
            began=began or error.status_code == 200,
        )
    if isinstance(cause, (httpx2.ConnectTimeout, httpx2.PoolTimeout)):
        return timed_out(detail, sent=False)
    if isinstance(cause, httpx2.TimeoutException) or isinstance(error, anthropic.APITimeoutError):
        return timed_out(detail)
    if began:
        return cut_stream(detail)
    never_sent = (httpx2.ConnectError, httpx2.ProxyError, httpx2.UnsupportedProtocol)
    return no_connection(detail, sent=not isinstance(cause, never_sent))


def retry_after_seconds(headers: Mapping[str, str]) -> float | None:
    """Return what `retry-after-ms` or `retry-after` (seconds or a date) asks for, or None."""
    try:
        if (milliseconds := headers.get("retry-after-ms")) is not None:
            return max(float(milliseconds) / 1000, 0.0)
    except ValueError:
        pass
    value = headers.get("retry-after")
    if value is None:
        return None
    try:
        return max(float(value), 0.0)
    except ValueError:
        return _until(value, headers.get("date"))


def _until(value: str, date: str | None) -> float | None:
    """Seconds from the answer's own date (so that a wrong clock here does not matter) to the date `value`."""
    try:
        start = parsedate_to_datetime(date) if date is not None else datetime.now(UTC)
        return max((parsedate_to_datetime(value) - start).total_seconds(), 0.0)
    except (ValueError, TypeError):
        return None
