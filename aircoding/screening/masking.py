"""Put markers in the place of secrets, and the secrets back in the place of their own markers. Pure."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Sequence

from aircoding.records.secret_spans import SecretSpan
from aircoding.screening.markers import MARKER, clear_of_markers, joined, marker_of, mask_spans

__all__ = ["Finder", "find_secrets", "restore_markers"]

Finder = Callable[[str], Iterable[SecretSpan]]

_MOST_LOOKS = 4
"""Masking changes what stands around the rest, and a finder may see more then. Each look masks some, so that the looks
end; after these a text that was made to go on keeps what its makers put there themselves."""


def find_secrets(text: str, finders: Sequence[Finder], key: bytes) -> tuple[SecretSpan, ...]:
    """Return the secrets of a text in order, joined where they overlap; markers are left alone.

    It is looked again at the masked text until nothing more is found, so that masking a masked text changes nothing.
    """
    spans = _one_look(text, finders)
    for _ in range(_MOST_LOOKS - 1):
        if not spans:
            break
        more = _one_look(mask_spans(text, spans, key), finders)
        if not more:
            break
        spans = joined([*spans, *_moved_back(more, spans, text, key)])
    return tuple(spans)


def _one_look(text: str, finders: Sequence[Finder]) -> list[SecretSpan]:
    found = [span for finder in finders for span in finder(text)]
    if not found:
        return []
    found.sort(key=lambda span: span.start)
    return joined(clear_of_markers(found, [match.span() for match in MARKER.finditer(text)]))


def _moved_back(
    more: Sequence[SecretSpan], masked: Sequence[SecretSpan], text: str, key: bytes
) -> Iterable[SecretSpan]:
    """Yield spans of the masked text as spans of `text`; none of them touches the inside of a marker."""
    grown, left = 0, deque(masked)
    for span in more:
        while left and left[0].start + grown < span.start:
            one = left.popleft()
            grown += len(marker_of(text[one.start : one.end], one.kind, key)) - (one.end - one.start)
        yield SecretSpan(span.start - grown, span.end - grown, span.kind)


def restore_markers(text: str, original: str, spans: Sequence[SecretSpan], key: bytes) -> str | None:
    """Put the secrets of `original` back where `text` carries their markers.

    Each marker must stand where it stood: in the same order, no more often, and behind the same word of its line (the
    name that it is assigned to, say). Markers that `original` itself holds as text may stand anywhere. None when a
    marker is neither, or could be either.
    """
    literal = {match[0] for match in MARKER.finditer(original)}
    masked = mask_spans(original, spans, key)
    values = [original[span.start : span.end] for span in spans]
    own = {marker_of(value, span.kind, key) for value, span in zip(values, spans, strict=True)}
    homes = deque(
        zip((_home(masked, match) for match in MARKER.finditer(masked) if match[0] in own), values, strict=False)
    )
    parts: list[str] = []
    done = 0
    for match in MARKER.finditer(text):
        if match[0] in own:
            if match[0] in literal:
                return None
            value = _next_at(homes, _home(text, match))
            if value is None:
                return None
            parts += [text[done : match.start()], value]
            done = match.end()
        elif match[0] not in literal:
            return None
    return "".join([*parts, text[done:]])


_Home = tuple[str, str]
_WORD = re.compile(r"[\w.@-]+")
_WORD_CHARS = 200


def _home(text: str, marker: re.Match[str]) -> _Home:
    """Return a marker and the last word before it on its line; a marker in between stands for none."""
    line = text.rfind("\n", 0, marker.start()) + 1
    before = text[max(line, marker.start() - _WORD_CHARS) : marker.start()]
    words = _WORD.findall(MARKER.sub(" ", before))
    return marker[0], words[-1] if words else ""


def _next_at(homes: deque[tuple[_Home, str]], home: _Home) -> str | None:
    """Return the next secret that stood there, and pass over those before it, whose markers were removed."""
    while homes:
        place, value = homes.popleft()
        if place == home:
            return value
    return None
