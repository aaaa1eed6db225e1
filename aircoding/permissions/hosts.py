"""Judge connections: a host is refused unless a line allows it. Hosts are taken from URLs as clients take them."""

from __future__ import annotations

import re

from aircoding.permissions.compiled import compiled
from aircoding.permissions.judgements import by_engine, by_rule
from aircoding.records.policy import Effect, Judgement, Policy, PolicySubject

__all__ = ["has_scheme", "host_of_url", "judge_host"]

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_AUTHORITY = re.compile(r"[^/?#]*")
_PORT = re.compile(r":\d*$")
_HOST = re.compile(r"(?:[a-z0-9_-]{1,63}\.)*[a-z0-9_-]{1,63}|\[[0-9a-f:.]+\]")


def has_scheme(text: str) -> bool:
    """Whether a text is a URL of the network (`file:` is a path)."""
    return _SCHEME.match(text) is not None and not text.lower().startswith("file:")


def host_of_url(text: str) -> str:
    """Return the host of a URL, or of a text that a client takes for one; user info and port are left out.

    It is lower case and otherwise as written: a trailing dot, a code or a blank in it make it match no line.
    """
    match = _SCHEME.match(text)
    rest = text[match.end() :] if match else text.removeprefix("//")
    authority = _AUTHORITY.match(rest)
    text = authority[0] if authority else ""
    if "\\" in text:
        return text.lower()  # clients do not agree on what a backslash is: this is no plain host
    host = text.rpartition("@")[2]
    return (host if host.endswith("]") else _PORT.sub("", host)).lower()


def judge_host(host: str, policy: Policy) -> Judgement:
    """Return the judgement of a connection to a host."""
    name = host if host.endswith("]") else _PORT.sub("", host)
    name = name.lower()
    rules = [rule for rule in compiled(policy).hosts if _matches(rule.pattern.lower(), name)]
    strongest = max(rules, key=lambda rule: rule.effect.rank, default=None)
    if _HOST.fullmatch(name) is None:
        return by_engine(Effect.DENY, PolicySubject.HOST, host, "plain host", f"`{host}` is no plain name of a host")
    if strongest is None or not any(rule.widens for rule in rules):
        return by_engine(Effect.DENY, PolicySubject.HOST, host, "unlisted host", f"no line allows the host {name}")
    verb = {Effect.ALLOW: "allows", Effect.ASK: "wants a person to confirm", Effect.DENY: "refuses"}
    return by_rule(strongest, host, f"the policy {verb.get(strongest.effect, 'names')} the host {name}")


def _matches(pattern: str, host: str) -> bool:
    return host.endswith(pattern[1:]) if pattern.startswith("*.") else host == pattern
