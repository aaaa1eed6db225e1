"""What the emulator was sent, for tests and people to read."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["MAX_REQUESTS", "Recorded", "Recorder"]

MAX_REQUESTS = 2_000
"""A server that runs for days must not keep all that it was sent."""

_SECRET_HEADERS = frozenset({"authorization", "x-api-key", "cookie"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """One request as it came; keys are not kept, only how they were given (`bearer`, `x-api-key`, or none)."""

    method: str
    path: str
    headers: Mapping[str, str]
    auth: str | None
    body: bytes

    @property
    def json(self) -> Any:
        """The body as JSON, or None when it holds none."""
        try:
            return json.loads(self.body)
        except ValueError:
            return None


class Recorder:
    """Requests in the order in which they came; of more than MAX_REQUESTS the oldest are forgotten."""

    def __init__(self) -> None:
        self._requests: deque[Recorded] = deque(maxlen=MAX_REQUESTS)
        self._seen: Counter[bytes] = Counter()

    @property
    def requests(self) -> tuple[Recorded, ...]:
        """All requests that are kept since the start or the last `clear`."""
        return tuple(self._requests)

    def add(self, *, method: str, path: str, headers: Mapping[str, str], body: bytes) -> Recorded:
        """Record a request and return it as it is kept."""
        given = {name.lower(): value for name, value in headers.items()}
        recorded = Recorded(
            method=method,
            path=path,
            headers={name: value for name, value in given.items() if name not in _SECRET_HEADERS},
            auth=_auth(given),
            body=body,
        )
        self._requests.append(recorded)
        self._seen[_fingerprint(recorded)] += 1
        return recorded

    def times_seen(self, recorded: Recorded) -> int:
        """Return how often the same request came before this one."""
        return self._seen[_fingerprint(recorded)] - 1

    def clear(self) -> None:
        """Forget all requests."""
        self._requests.clear()
        self._seen.clear()


def _fingerprint(recorded: Recorded) -> bytes:
    return hashlib.sha256(f"{recorded.method} {recorded.path}\n".encode() + recorded.body).digest()


def _auth(headers: Mapping[str, str]) -> str | None:
    if headers.get("authorization", "").lower().startswith("bearer "):
        return "bearer"
    return "x-api-key" if headers.get("x-api-key") else None
