"""Digests and the two JSON encodings that they are taken of."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from aircoding.records.ids import Digest

__all__ = ["canonical_json", "fingerprint", "sha256_bytes", "sha256_text", "sorted_json"]


def sha256_bytes(data: bytes) -> Digest:
    """Return the lower-case hex sha256 of `data`."""
    return Digest(hashlib.sha256(data).hexdigest())


def sha256_text(text: str) -> Digest:
    """Return the sha256 of `text` as UTF-8.

    Raises:
        UnicodeEncodeError: the text holds a lone surrogate.
    """
    return sha256_bytes(text.encode("utf-8"))


def canonical_json(value: Any) -> bytes:
    """Encode a canonical request: UTF-8, no spaces, keys in written order (DESIGN section 3)."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode("utf-8")


def sorted_json(value: Any) -> bytes:
    """Encode a value for a fingerprint: UTF-8, no spaces, keys sorted at every depth."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True, allow_nan=False).encode("utf-8")


def fingerprint(value: Any) -> Digest:
    """Return the digest of a JSON value that does not depend on key order."""
    return sha256_bytes(sorted_json(value))
