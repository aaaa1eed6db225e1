"""Put markers in the place of secrets, and the secrets back in the place of their own markers."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from aircoding.screening.secret_rules import MARKER, SecretRule
from aircoding.screening.stems import fold, may_match

__all__ = ["SecretSpan", "find_secrets", "known_pattern", "mask_spans", "restore_markers"]

_LEAST_KNOWN_CHARS = 8
"""A shorter known value would be found in ordinary words (`reference/security.md` 5.2)."""
_ID_CHARS = 8
_KNOWN = "known"


@dataclass(frozen=True, slots=True)
class SecretSpan:
    """A secret in a text, by character offsets."""

    start: int
    end: int
    kind: str


def known_pattern(values: Iterable[str]) -> re.Pattern[str] | None:
    """Return a pattern of the known values and of their base64 and URL forms; None when there are none."""
    forms: set[str] = set()
    for value in values:
        if len(value) >= _LEAST_KNOWN_CHARS:
            raw = value.encode("utf-8", "surrogatepass")
            forms |= {
                value,
                quote(raw, safe=""),
                base64.b64encode(raw).decode(),
                base64.urlsafe_b64encode(raw).decode(),
            }
            forms |= {form.rstrip("=") for form in tuple(forms) if len(form.rstrip("=")) >= _LEAST_KNOWN_CHARS}
    longest_first = sorted(forms, key=lambda form: (-len(form), form))
    return re.compile("|".join(re.escape(form) for form in longest_first)) if longest_first else None


def find_secrets(text: str, rules: Sequence[SecretRule], known: re.Pattern[str] | None) -> tuple[SecretSpan, ...]:
    """Return the secrets of a text in order, joined where they overlap; markers are left alone."""
    markers = [match.span() for match in MARKER.finditer(text)]
    found: list[SecretSpan] = []
    if known is not None:
        found += [SecretSpan(match.start(), match.end(), _KNOWN) for match in known.finditer(text)]
    folded = fold(text)
    for rule in rules:
        if not may_match(rule.stems, folded):
            continue
        found += (SecretSpan(start, end, rule.kind) for start, end in _values(text, rule))
    found.sort(key=lambda span: span.start)
    return tuple(_joined(_clear_of(found, markers)))


def _values(text: str, rule: SecretRule) -> Iterator[tuple[int, int]]:
    """Yield the spans of one rule's secrets. What is no secret may be the name of the next: it is looked at again."""
    match = rule.pattern.search(text)
    while match is not None:
        start, end = match.span("value")
        if rule.check(match):
            yield start, end
        elif start > match.start():
            end = start
        match = rule.pattern.search(text, end)


def _clear_of(spans: list[SecretSpan], markers: list[tuple[int, int]]) -> list[SecretSpan]:
    """Leave out what overlaps a marker, and what begins where one ends; both lists are in order of their start.

    The latter is what an earlier masking left standing, unless it is a known value, which none does. Only a whole
    marker says so: its last characters alone could be put in front of a secret by anyone.
    """
    clear: list[SecretSpan] = []
    first = 0
    for span in spans:
        while first < len(markers) and markers[first][1] < span.start + (span.kind == _KNOWN):
            first += 1
        if first == len(markers) or markers[first][0] >= span.end:
            clear.append(span)
    return clear


def _joined(spans: list[SecretSpan]) -> list[SecretSpan]:
    joined: list[SecretSpan] = []
    for span in spans:
        if joined and span.start < joined[-1].end:
            last = joined.pop()
            span = SecretSpan(last.start, max(last.end, span.end), last.kind)  # noqa: PLW2901 - the joined one
        joined.append(span)
    return joined


def mask_spans(text: str, spans: Sequence[SecretSpan], key: bytes) -> str:
    """Return the text with each span as `[REDACTED:kind:id]`."""
    parts: list[str] = []
    done = 0
    for span in spans:
        parts += [text[done : span.start], _marker(text[span.start : span.end], span.kind, key)]
        done = span.end
    return "".join([*parts, text[done:]])


def _marker(value: str, kind: str, key: bytes) -> str:
    """Equal secrets get equal ids under one key, and without the key the id tells nothing of the value."""
    tag = hmac.new(key, value.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()[:_ID_CHARS]
    return f"[REDACTED:{kind}:{tag}]"


def restore_markers(text: str, original: str, spans: Sequence[SecretSpan], key: bytes) -> str | None:
    """Put the secrets of `original` back where `text` carries their markers.

    Markers that `original` itself holds as text stay as they are. None when a marker is neither, or could be either.
    """
    values: dict[str, set[str]] = {marker[0]: {marker[0]} for marker in MARKER.finditer(original)}
    for span in spans:
        value = original[span.start : span.end]
        values.setdefault(_marker(value, span.kind, key), set()).add(value)
    markers = {match[0] for match in MARKER.finditer(text)}
    if any(len(values.get(marker, ())) != 1 for marker in markers):
        return None
    return MARKER.sub(lambda match: next(iter(values[match[0]])), text)
