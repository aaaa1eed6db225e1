"""What a secret looks like: one linear-time pattern per kind, and a check where the look alone is not enough.

Formats are those that their issuers document (read 2026-11). No pattern touches a marker that masking left, so that
masking a masked text changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from aircoding.screening.secret_checks import (
    is_assigned_secret,
    is_basic_login,
    is_mixed,
    is_password,
    is_url_password,
)
from aircoding.screening.token_formats import TOKEN_FORMATS

__all__ = ["SECRET_RULES", "SecretRule"]

_BEFORE_MARKER = r"(?!\[REDACTED:)"
_START = r"(?<![A-Za-z0-9_])"
_END = rf"(?![A-Za-z0-9_]){_BEFORE_MARKER}"

Check = Callable[[re.Match[str]], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretRule:
    """One kind of secret: the group `value` of `pattern` is masked where `check` agrees.

    `lead` is an RE2 pattern that matches wherever `pattern` does, at the same start: RE2 finds the places in one fast
    pass, and `pattern`, which may look around, is tried only there. Patterns are `re.ASCII`, as RE2 is.
    `stems` are fixed parts, in any case, of which every match holds one.
    """

    kind: str
    pattern: re.Pattern[str]
    lead: str
    stems: tuple[str, ...]
    check: Check = lambda _match: True


def _plain(body: str) -> str:
    """Return a pattern without possessive marks, which RE2 does not know: it never goes back anyway."""
    return re.sub(r"(?<=[}*?+])\+", "", body)


def _token(kind: str, body: str, *stems: str, check: Check = lambda _match: True) -> SecretRule:
    """A secret that its own prefix gives away."""
    pattern = re.compile(rf"{_START}(?P<value>{body}){_END}", re.ASCII)
    return SecretRule(kind=kind, pattern=pattern, lead=rf"\b(?:{_plain(body)})", stems=stems, check=check)


def _value_is(test: Callable[[str], bool]) -> Check:
    return lambda match: test(match["value"])


_LONG_RUN = re.compile(r"[A-Za-z0-9+/=]{40}")

_PRIVATE_KEY = SecretRule(
    kind="private_key",
    stems=("private key",),
    lead=r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY",
    pattern=re.compile(
        r"(?P<value>-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
        r"(?P<body>(?:[A-Za-z0-9+/=\s\\,:()\"'.]|-(?!----))*+)"
        r"(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?)",
        re.ASCII,
    ),
    # The header alone stands in code and prose too; a key has a long run of base64 below it.
    check=lambda match: _LONG_RUN.search(match["body"]) is not None,
)

_BEARER = SecretRule(
    kind="bearer",
    stems=("bearer",),
    lead=r"(?i)\bbearer[ \t]{1,8}[a-z0-9._~+/-]{20}",
    pattern=re.compile(
        rf"(?i:\bbearer)[ \t]{{1,8}}+(?P<value>[A-Za-z0-9._~+/-]{{20,}}+=*+)(?![A-Za-z0-9._~+/=-]){_BEFORE_MARKER}",
        re.ASCII,
    ),
    check=_value_is(is_mixed),
)

_BASIC = SecretRule(
    kind="basic_login",
    stems=("basic",),
    lead=r"(?i)\bbasic[ \t]{1,8}[a-z0-9+/]{8}",
    pattern=re.compile(
        rf"(?i:\bbasic)[ \t]{{1,8}}+(?P<value>[A-Za-z0-9+/]{{8,}}+={{0,2}}+)(?![\w+/=]){_BEFORE_MARKER}", re.ASCII
    ),
    check=_value_is(is_basic_login),
)

_URL_PASSWORD = SecretRule(
    kind="url_password",
    stems=("://",),
    lead=r"://[^\s/:@\[\]\"'<>]{0,128}:",
    pattern=re.compile(r"://[^\s/:@\[\]\"'<>]{0,128}+:(?P<value>[^\s/:@\[\]\"'<>]{3,256}+)@", re.ASCII),
    check=_value_is(is_url_password),
)

_NETRC = SecretRule(
    kind="login_password",
    stems=("machine",),
    lead=r"\bmachine[\s\v]{1,8}\S{1,255}[\s\v]{1,8}login[\s\v]",
    pattern=re.compile(
        r"\bmachine\s{1,8}+\S{1,255}+\s{1,8}+login\s{1,8}+\S{1,255}+\s{1,8}+password\s{1,8}+"
        rf"(?P<value>(?!\[REDACTED:)\S{{4,255}}+){_BEFORE_MARKER}",
        re.ASCII,
    ),
    check=_value_is(is_password),
)

_OPTION_LOGIN = SecretRule(
    kind="login_password",
    stems=("-u", "--user", "--proxy-user"),
    lead=r"(?:-u|--user|--proxy-user)[ =]{0,4}[\"']?[\w.@+-]{1,64}:",
    pattern=re.compile(
        r"(?<![\w-])(?:-u|--user|--proxy-user)[ =]{0,4}+[\"']?+[\w.@+-]{1,64}+:"
        rf"(?P<value>[^\s\"'`:/\[\]]{{6,255}}+)(?![\w:/]){_BEFORE_MARKER}",
        re.ASCII,
    ),
    check=_value_is(is_password),
)

_WORDS = (
    r"secret|token|passwd|password|passphrase|credential|_pwd\b|_pat\b|"
    r"(?:api|access|account|private|auth|signing|encryption|master|shared|deploy|subscription|webhook)[_-]?key"
)
_STEMS = ("secret", "token", "passw", "passphrase", "key", "credential", "_pwd", "_pat")
_QUOTED = r"[rbfu]?(?P<quote>[\"'])(?P<value>[^\"'\n]{8,512}+)(?P=quote)"
_BARE = rf"(?P<value>[^\s\"'`,;<>()\[\]{{}}|&]{{8,512}}+)(?![\"'`(\[{{<]){_BEFORE_MARKER}"


def _assigned(between: str, value: str, *, before: str = "") -> SecretRule:
    """A value that stands behind a name which says that it is a secret."""
    name = rf"{before}(?i:{_WORDS})(?P<rest>[A-Za-z0-9_-]{{0,40}}+){between}"
    return SecretRule(
        kind="assignment",
        stems=_STEMS,
        lead=rf"{before}(?i:{_WORDS})[A-Za-z0-9_-]{{0,40}}{_plain(between)}",
        pattern=re.compile(name + value, re.ASCII),
        check=lambda match: is_assigned_secret(match["value"], match["rest"]),
    )


_EQUALS = r"[\"'\]]{0,2}+[ \t]{0,8}+(?::=|=>|==?|:)[ \t]{0,8}+"
_ASSIGNMENTS = (
    _assigned(_EQUALS, _QUOTED),
    _assigned(_EQUALS, _BARE),
    _assigned(r">", r"(?P<value>[^<>\s]{8,512}+)</"),
    _assigned(r"[\"'][ \t]{1,4}+value=", _QUOTED),
    _assigned(r"[ \t]{1,4}+", rf"[\"']?+{_BARE}", before=r"--[a-z-]{0,20}"),
)

SECRET_RULES: tuple[SecretRule, ...] = (
    _PRIVATE_KEY,
    *(_token(kind, body, *stems) for kind, body, stems in TOKEN_FORMATS),
    _token("openai_key", r"sk-(?:proj-|svcacct-|admin-)?+[A-Za-z0-9_-]{20,}+", "sk-", check=_value_is(is_mixed)),
    _BEARER,
    _BASIC,
    _URL_PASSWORD,
    _NETRC,
    _OPTION_LOGIN,
    *_ASSIGNMENTS,
)
"""All kinds, the exact ones first: where two meet, the first names the whole."""
