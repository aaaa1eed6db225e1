"""The marker that stands in the place of a secret: its kind and its keyed id. Pure."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterable, Sequence

from aircoding.records.secret_spans import SecretSpan

__all__ = ["KNOWN", "MARKER", "clear_of_markers", "joined", "marker_of", "mask_spans"]

MARKER = re.compile(r"\[REDACTED:([a-z0-9_]{1,32}):([0-9a-f]{8})\]")
"""What stands in the place of a secret: its kind and its keyed id."""
KNOWN = "known"
"""The kind of a value that the service itself knows."""
_ID_CHARS = 8


def clear_of_markers(spans: Iterable[SecretSpan], markers: Sequence[tuple[int, int]]) -> list[SecretSpan]:
    """Leave out what overlaps a marker, and what begins where one ends; both lists are in order of their start.

    The latter is what an earlier masking left standing, unless it is a known value, which none does. Only a whole
    marker says so: its last characters alone could be put in front of a secret by anyone.
    """
    clear: list[SecretSpan] = []
    first = 0
    for span in spans:
        while first < len(markers) and markers[first][1] < span.start + (span.kind == KNOWN):
            first += 1
        if first == len(markers) or markers[first][0] >= span.end:
            clear.append(span)
    return clear


def joined(spans: Iterable[SecretSpan]) -> list[SecretSpan]:
    """Return spans in order, joined where they overlap; the first names the whole."""
    made: list[SecretSpan] = []
    for span in sorted(spans, key=lambda span: span.start):
        if made and span.start < made[-1].end:
            last = made.pop()
            made.append(SecretSpan(last.start, max(last.end, span.end), last.kind))
        else:
            made.append(span)
    return made


def mask_spans(text: str, spans: Sequence[SecretSpan], key: bytes) -> str:
    """Return the text with each span as `[REDACTED:kind:id]`."""
    parts: list[str] = []
    done = 0
    for span in spans:
        parts += [text[done : span.start], marker_of(text[span.start : span.end], span.kind, key)]
        done = span.end
    return "".join([*parts, text[done:]])


def marker_of(value: str, kind: str, key: bytes) -> str:
    """Return what stands for a secret: equal ones get equal ids under one key, which without it tell nothing."""
    tag = hmac.new(key, value.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()[:_ID_CHARS]
    return f"[REDACTED:{kind}:{tag}]"
