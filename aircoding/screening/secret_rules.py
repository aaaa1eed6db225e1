"""What a secret looks like: one linear-time pattern per kind, and a check where the look alone is not enough.

Formats are those that their issuers document (read 2026-11). No pattern touches a marker that masking left, so that
masking a masked text changes nothing.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["MARKER", "SECRET_RULES", "SecretRule", "entropy_bits"]

MARKER = re.compile(r"\[REDACTED:([a-z0-9_]{1,32}):([0-9a-f]{8})\]")
"""What stands in the place of a secret: its kind and its keyed id."""

_BEFORE_MARKER = r"(?!\[REDACTED:)"
_START = r"(?<![A-Za-z0-9_])"
_END = rf"(?![A-Za-z0-9_]){_BEFORE_MARKER}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretRule:
    """One kind of secret: the group `value` of `pattern` is masked where `check` agrees.

    `stems` are fixed parts, in lower case, of which every match holds one (`screening.stems`).
    """

    kind: str
    pattern: re.Pattern[str]
    stems: tuple[str, ...]
    check: Callable[[re.Match[str]], bool] = lambda _match: True


def entropy_bits(text: str) -> float:
    """Return the Shannon entropy of a text in bits per character (0 for an empty one)."""
    if not text:
        return 0.0
    size = len(text)
    return -sum(count / size * math.log2(count / size) for count in Counter(text).values())


def _token(
    kind: str, body: str, *stems: str, check: Callable[[re.Match[str]], bool] = lambda _match: True
) -> SecretRule:
    """A secret that its own prefix gives away."""
    return SecretRule(kind=kind, pattern=re.compile(rf"{_START}(?P<value>{body}){_END}"), stems=stems, check=check)


def _mixed(match: re.Match[str]) -> bool:
    """Words joined by hyphens look like some tokens; a token has digits and more than a word's entropy."""
    value = match["value"]
    return any(char.isdigit() for char in value) and entropy_bits(value) >= _TOKEN_BITS


_TOKEN_BITS = 3.2
_VALUE_BITS = 2.8
"""Least entropy per character of a token and of an assigned value: English words have about 2.5 to 3 at these lengths
and few digits, random text of 16 characters about 3.6 (measured on generated values)."""

_LONG_RUN = re.compile(r"[A-Za-z0-9+/=]{40}")


def _holds_key(match: re.Match[str]) -> bool:
    """The header alone stands in code and prose too; a key has a long run of base64 below it."""
    return _LONG_RUN.search(match["body"]) is not None


_PRIVATE_KEY = SecretRule(
    kind="private_key",
    stems=("private key",),
    pattern=re.compile(
        r"(?P<value>-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
        r"(?P<body>(?:[A-Za-z0-9+/=\s\\,:()\"'.]|-(?!----))*+)"
        r"(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?)"
    ),
    check=_holds_key,
)

_BEARER = SecretRule(
    kind="bearer",
    stems=("bearer",),
    pattern=re.compile(
        rf"(?i:\bbearer)[ \t]{{1,8}}+(?P<value>[A-Za-z0-9._~+/-]{{20,}}+=*+)(?![A-Za-z0-9._~+/=-]){_BEFORE_MARKER}"
    ),
    check=_mixed,
)

_USERINFO_PLACEHOLDERS = frozenset({"password", "pass", "pwd", "user", "secret", "token", "xxx", "postgres", "root"})


def _real_password(match: re.Match[str]) -> bool:
    value = match["value"].lower()
    return not (value in _USERINFO_PLACEHOLDERS or _PLACEHOLDER.search(value) or set(value) <= {"x", "*", "."})


_URL_PASSWORD = SecretRule(
    kind="url_password",
    stems=("://",),
    pattern=re.compile(r"://[^\s/:@\[\]\"'<>]{0,128}+:(?P<value>[^\s/:@\[\]\"'<>]{3,256}+)@"),
    check=_real_password,
)

_PLACEHOLDER = re.compile(
    r"(?i)example|placeholder|change.?me|replace|your|dummy|fake|sample|redacted|insert|todo|\.\.\.|xxxx|0000|1234567|"
    r"^(?:none|null|true|false|undefined|default|test)|^[$%&<{*]|\$\{|\{\{|os\.environ|process\.env|getenv"
)
_NAMES_OTHER = re.compile(
    r"(?i)(?:path|file|dir|name|url|uri|type|env|var|len|length|size|count|limit|ttl|seconds|expiry|expires|id|ids|"
    r"digest|hash|format|prefix|suffix|field|header|class|label|regex|pattern|rules?|kinds?)s?$"
)
"""Names that speak about a secret and do not hold one: `token_count`, `secret_name`, `password_file`."""


def _assigned_secret(match: re.Match[str]) -> bool:
    value, rest = match["value"], match["rest"]
    if (rest and _NAMES_OTHER.search(rest)) or MARKER.search(value) or _PLACEHOLDER.search(value):
        return False
    classes = sum(
        (
            any(char.islower() for char in value),
            any(char.isupper() for char in value),
            any(char.isdigit() for char in value),
            any(not char.isalnum() and char not in "_-./" for char in value),
        )
    )
    return classes >= 2 and any(char.isdigit() for char in value) and entropy_bits(value) >= _VALUE_BITS


_NAME = (
    r"(?i:secret|token|passwd|password|passphrase|api[_-]?key|access[_-]?key|private[_-]?key|credential|auth[_-]?key|"
    r"_pwd|_pat)(?P<rest>[A-Za-z0-9_-]{0,40}+)[\"'\]]{0,2}+[ \t]{0,8}+(?::=|=>|==?|:)[ \t]{0,8}+"
)
_NAME_STEMS = ("secret", "token", "passw", "passphrase", "key", "credential", "_pwd", "_pat")
_ASSIGNED_QUOTED = SecretRule(
    kind="assignment",
    stems=_NAME_STEMS,
    pattern=re.compile(rf"{_NAME}[rbfu]?(?P<quote>[\"'])(?P<value>[^\"'\n]{{8,512}}+)(?P=quote)"),
    check=_assigned_secret,
)
_ASSIGNED_PLAIN = SecretRule(
    kind="assignment",
    stems=_NAME_STEMS,
    pattern=re.compile(rf"{_NAME}(?P<value>[^\s\"'`,;<>()\[\]{{}}|&]{{10,512}}+)(?![\"'`(\[{{<]){_BEFORE_MARKER}"),
    check=_assigned_secret,
)

_GITHUB = ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_")

SECRET_RULES: tuple[SecretRule, ...] = (
    _PRIVATE_KEY,
    _token("anthropic_key", r"sk-ant-[A-Za-z0-9_-]{20,}+", "sk-ant-"),
    _token("openai_key", r"sk-(?:proj-|svcacct-|admin-)?+[A-Za-z0-9_-]{20,}+", "sk-", check=_mixed),
    _token("github_token", r"gh[pousr]_[A-Za-z0-9]{36,255}+|github_pat_[A-Za-z0-9_]{40,255}+", *_GITHUB),
    _token("gitlab_token", r"glpat-[A-Za-z0-9_-]{20,}+", "glpat-"),
    _token("aws_key_id", r"(?:AKIA|ASIA)[A-Z0-9]{16}", "akia", "asia"),
    _token("google_key", r"AIza[A-Za-z0-9_-]{35}", "aiza"),
    _token("slack_token", r"xox[abeoprs]-[A-Za-z0-9-]{10,}+", "xox"),
    _token("stripe_key", r"(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,}+", "k_live_", "k_test_"),
    _token("package_token", r"npm_[A-Za-z0-9]{36}|pypi-[A-Za-z0-9_-]{60,}+", "npm_", "pypi-"),
    _token("jwt", r"eyJ[A-Za-z0-9_-]{10,}+\.eyJ[A-Za-z0-9_-]{10,}+\.[A-Za-z0-9_-]{10,}+", "eyj"),
    _BEARER,
    _URL_PASSWORD,
    _ASSIGNED_QUOTED,
    _ASSIGNED_PLAIN,
)
"""All kinds, the exact ones first: where two meet, the first names the whole."""
