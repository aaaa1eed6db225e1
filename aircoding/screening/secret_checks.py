"""What tells a secret from what only looks like one: entropy, placeholders, names that speak of a secret. Pure."""

from __future__ import annotations

import base64
import binascii
import math
import re
from collections import Counter

__all__ = ["entropy_bits", "is_assigned_secret", "is_basic_login", "is_mixed", "is_password", "is_url_password"]

_TOKEN_BITS = 3.2
_VALUE_BITS = 2.8
"""Least entropy per character of a token and of an assigned value: English words have about 2.5 to 3 at these lengths
and few digits, random text of 16 characters about 3.6 (measured on generated values)."""

_PLACEHOLDER = re.compile(
    r"(?i)example|placeholder|change.?me|replace|your|dummy|fake|sample|redacted|insert|todo|\.\.\.|xxxx|0000|1234567|"
    r"^(?:none|null|true|false|undefined|default|test)|^[$%&<{*]|\$\{|\{\{|os\.environ|process\.env|getenv"
)
_OF_A_URL = re.compile(r"^(?:\$|<|\{|%[sdr(])|^\*+$|\{\}")
"""How a template begins in a URL, where a password may begin with any mark."""
_PLAIN_WORDS = frozenset({"password", "pass", "pwd", "user", "secret", "token", "xxx", "postgres", "root"})
_NAMES_OTHER = re.compile(
    r"(?i)(?:path|file|dir|name|url|uri|type|env|var|len|length|size|count|limit|ttl|seconds|expiry|expires|id|ids|"
    r"digest|hash|format|prefix|suffix|field|header|class|label|regex|pattern|rules?|kinds?)s?$"
)
"""Names that speak about a secret and do not hold one: `token_count`, `secret_name`, `password_file`."""
_MARKER_START = "[REDACTED:"
_LONGEST_LOGIN = 512


def entropy_bits(text: str) -> float:
    """Return the Shannon entropy of a text in bits per character (0 for an empty one)."""
    if not text:
        return 0.0
    size = len(text)
    return -sum(count / size * math.log2(count / size) for count in Counter(text).values())


def is_mixed(value: str) -> bool:
    """Whether a value is no words joined by hyphens: a token has digits and more than a word's entropy."""
    return any(char.isdigit() for char in value) and entropy_bits(value) >= _TOKEN_BITS


def is_url_password(value: str) -> bool:
    """Whether what stands between `user:` and `@` of a URL is a password, and no placeholder."""
    low = value.lower()
    if low in _PLAIN_WORDS or set(low) <= {"x", "*", "."} or _OF_A_URL.search(value):
        return False
    return not _PLACEHOLDER.search(value.lstrip("$%&<{*"))


def is_password(value: str) -> bool:
    """Whether a value that stands where a password belongs is one: two kinds of characters, a digit, some entropy."""
    if _MARKER_START in value or _PLACEHOLDER.search(value):
        return False
    kinds = (
        any(char.islower() for char in value)
        + any(char.isupper() for char in value)
        + any(char.isdigit() for char in value)
        + any(not char.isalnum() and char not in "_-./" for char in value)
    )
    return kinds >= 2 and any(char.isdigit() for char in value) and entropy_bits(value) >= _VALUE_BITS


def is_assigned_secret(value: str, rest: str | None) -> bool:
    """Whether a value is a secret, where `rest` follows the word in its name (`token` and `_count`)."""
    return not (rest and _NAMES_OTHER.search(rest)) and is_password(value)


def is_basic_login(value: str) -> bool:
    """Whether a value is base64 of `user:password` with a password that is no placeholder."""
    try:
        login = base64.b64decode(value[:_LONGEST_LOGIN], validate=True).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):
        return False
    user, colon, password = login.partition(":")
    return bool(colon) and login.isprintable() and len(password) >= 3 and is_url_password(password) and user != password
