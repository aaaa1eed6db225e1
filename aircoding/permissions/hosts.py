"""Judge connections: hosts in URLs and in the operands of known network clients."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from aircoding.records.policy import Effect, Judgement, Policy, PolicyLevel, PolicySubject

__all__ = ["CLIENTS", "client_hosts", "host_of_url", "judge_host", "sends_data"]

CLIENTS = frozenset({"curl", "wget"})
"""Programs that fetch URLs and whose options are known here."""

_URL = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*://")
_LABEL = re.compile(r"(?!-)[a-zA-Z0-9-]{1,63}(?<!-)$")
_UPLOADS = ("-d", "--data", "-T", "--upload-file", "-F", "--form", "--post-data", "--post-file", "--json", "--body")
_WITH_VALUE = frozenset(
    {"-o", "--output", "-H", "--header", "-u", "--user", "-A", "--user-agent", "-e", "--referer", "-m", "--max-time"}
    | {"--connect-timeout", "--retry", "-O", "--output-document", "-P", "--directory-prefix", "-X", "--request", "-w"}
    | {"-x", "--proxy", "-b", "--cookie", "-c", "--cookie-jar", "-K", "--config", "--resolve", "--connect-to"}
)
_RISKY = ("-K", "--config", "-x", "--proxy", "--resolve", "--connect-to", "--interface", "-u", "--user", "-b", "-E")


def host_of_url(text: str) -> str | None:
    """Return the host of a URL, or None when it has no plain one (user info, odd characters, no host)."""
    candidate = text if _URL.match(text) else f"http://{text}"
    try:
        parts = urlsplit(candidate)
        host = parts.hostname
    except ValueError:
        return None
    if host is None or parts.username is not None or "\\" in text:
        return None
    labels = host.rstrip(".").split(".")
    return host.rstrip(".").lower() if all(_LABEL.match(label) for label in labels) else None


def sends_data(words: list[str]) -> bool:
    """Whether a client is told to send something, or to be told where to go by a file."""
    if any(word.split("=")[0] in _UPLOADS or re.match(r"-[dTF].", word) for word in words[1:]):
        return True
    methods = [words[n + 1] for n, word in enumerate(words[:-1]) if word in {"-X", "--request"}]
    return any(method.upper() not in {"GET", "HEAD"} for method in methods) or any(
        word.split("=")[0] in _RISKY for word in words[1:]
    )


def client_hosts(words: list[str | None]) -> list[str | None]:
    """Return the host of each operand of curl or wget; None where it is dynamic or not plain."""
    hosts: list[str | None] = []
    skip = False
    for word in words[1:]:
        if skip:
            skip = False
        elif word is None:
            hosts.append(None)
        elif word.startswith("-") and len(word) > 1:
            skip = word in _WITH_VALUE
        else:
            hosts.append(host_of_url(word))
    return hosts


def judge_host(host: str | None, policy: Policy) -> Judgement:
    """Return the judgement of a connection: a host is denied unless a line allows it; an unknown one asks."""
    if host is None:
        return _judgement(Effect.ASK, "(dynamic host)", "", PolicyLevel.DEFAULTS, None, "the host is not plain text")
    rules = [
        rule for rule in policy.rules if rule.subject is PolicySubject.HOST and _matches(rule.pattern.lower(), host)
    ]
    strongest = max(rules, key=lambda rule: rule.effect.rank, default=None)
    if strongest is None:
        return _judgement(Effect.DENY, host, "", PolicyLevel.DEFAULTS, None, "no line allows this host")
    reason = "a line names this host"
    return Judgement(
        effect=strongest.effect,
        subject=PolicySubject.HOST,
        text=host,
        pattern=strongest.pattern,
        level=strongest.level,
        uri=strongest.uri,
        line=strongest.line,
        reason=reason,
    )


def _matches(pattern: str, host: str) -> bool:
    if pattern == "*":
        return True
    if pattern.startswith("*."):
        return host.endswith(pattern[1:])
    return host == pattern


def _judgement(effect: Effect, text: str, pattern: str, level: PolicyLevel, line: int | None, reason: str) -> Judgement:
    return Judgement(
        effect=effect,
        subject=PolicySubject.HOST,
        text=text,
        pattern=pattern,
        level=level,
        uri=f"policy:{level.value}",
        line=line,
        reason=reason,
    )
