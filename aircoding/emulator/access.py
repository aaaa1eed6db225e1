"""What a request must have before anybody looks at what it asks for: a size, JSON, a key, a version."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from starlette.requests import Request

from aircoding.emulator.recorder import Recorded
from aircoding.providers.validation import API_VERSIONS

__all__ = ["COUNT_FIELDS", "MAX_BODY_BYTES", "RefusedError", "betas", "check_access", "json_body", "read_body"]

MAX_BODY_BYTES = 32 * 1024 * 1024
"""Most bytes of a request to the Messages API (platform.claude.com, api/errors, 2026-08)."""

COUNT_FIELDS = frozenset(
    {
        "billing_policy",
        "cache_control",
        "compaction",
        "context_management",
        "mcp_servers",
        "messages",
        "model",
        "output_config",
        "speed",
        "system",
        "thinking",
        "tool_choice",
        "tools",
        "user_profile_id",
        "workspace_id",
    }
)
"""Fields of a request to count tokens (SDK 2.14.0, beta ones included)."""


class RefusedError(Exception):
    """A request is answered with an error status; `headers` go with it."""

    def __init__(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status, self.message, self.headers = status, message, dict(headers or {})


async def read_body(request: Request, *, max_bytes: int) -> bytes | None:
    """Return the body, or None when it is larger than allowed: then it is read no further."""
    size, pieces = 0, []
    async for piece in request.stream():
        size += len(piece)
        if size > max_bytes:
            return None
        pieces.append(piece)
    return b"".join(pieces)


def check_access(recorded: Recorded) -> None:
    """Do nothing for a request with any key and a version whose rules are known.

    Raises:
        RefusedError: 401 without a key, 400 without such a version.
    """
    if recorded.auth is None:
        raise RefusedError(401, "x-api-key header is required")
    version = recorded.headers.get("anthropic-version")
    if version is None:
        raise RefusedError(400, "anthropic-version: header is required")
    if version not in API_VERSIONS:
        raise RefusedError(400, f'anthropic-version: "{version}" is not a valid version')


def betas(recorded: Recorded) -> frozenset[str]:
    """Return the values of the header `anthropic-beta`; every value is taken."""
    return frozenset(name.strip() for name in recorded.headers.get("anthropic-beta", "").split(",") if name.strip())


def json_body(recorded: Recorded) -> dict[str, Any]:
    """Return the body as a JSON object.

    Raises:
        RefusedError: 400, it is none.
    """
    try:
        body = json.loads(recorded.body, parse_constant=_no_number, parse_float=_finite)
        if b"\\ud" in recorded.body.lower():  # half a character is JSON to Python, and to nobody else
            json.dumps(body, ensure_ascii=False).encode("utf-8")
    except (ValueError, RecursionError) as error:
        raise RefusedError(400, f"The request body is not valid JSON: {error}") from error
    if not isinstance(body, dict):
        raise RefusedError(400, "Input should be an object")
    return body


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    return number if math.isfinite(number) else _no_number(digits)
