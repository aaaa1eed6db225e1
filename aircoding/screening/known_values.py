"""Secrets that the service itself knows: masked wherever they stand, in each form that text gives them. Pure."""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Iterable, Iterator
from urllib.parse import quote, quote_plus

from aircoding.records.secret_spans import SecretSpan
from aircoding.screening.markers import KNOWN

__all__ = ["LEAST_KNOWN_CHARS", "KnownValues"]

LEAST_KNOWN_CHARS = 8
"""A shorter known value would be found in ordinary words (`reference/security.md` 5.2)."""


class KnownValues:
    """Finds known values and their base64, URL, JSON and HTML forms.

    Args:
        values: the secrets; those of less than LEAST_KNOWN_CHARS characters are left out.
    """

    def __init__(self, values: Iterable[str]) -> None:
        forms = {form for value in values if len(value) >= LEAST_KNOWN_CHARS for form in _forms(value)}
        self.forms = tuple(sorted(forms, key=lambda form: (-len(form), form)))
        self.longest = len(self.forms[0]) if self.forms else 0
        self._beginnings = frozenset(form[:size] for form in self.forms for size in range(1, len(form)))

    def __bool__(self) -> bool:
        return bool(self.forms)

    def find(self, text: str) -> list[SecretSpan]:
        """Return where known values stand, form by form; they may overlap."""
        return [span for form in self.forms if form in text for span in _places(text, form)]

    def open_end(self, text: str) -> int:
        """Return where the longest end of `text` begins that is the beginning of a known value; its length: none is."""
        for start in range(max(0, len(text) - self.longest + 1), len(text)):
            if text[start:] in self._beginnings:
                return start
        return len(text)


def _places(text: str, form: str) -> Iterator[SecretSpan]:
    """Yield all places, those that overlap as one: what is left between two would be a part of the secret."""
    start = text.find(form)
    while start >= 0:
        end = start + len(form)
        while (following := text.find(form, end - len(form) + 1, end + len(form) - 1)) >= 0:
            end = following + len(form)
        yield SecretSpan(start, end, KNOWN)
        start = text.find(form, end)


def _forms(value: str) -> set[str]:
    raw = value.encode("utf-8", "surrogatepass")
    forms = {
        value,
        quote(raw, safe=""),
        quote(raw, safe="/"),
        quote_plus(raw),
        json.dumps(value)[1:-1],
        json.dumps(value, ensure_ascii=False)[1:-1],
        html.escape(value),
        repr(value)[1:-1],
        *_within_base64(raw),
    }
    forms |= {_lower_escapes(form) for form in forms if "%" in form}
    return {form for form in forms if len(form) >= LEAST_KNOWN_CHARS}


def _lower_escapes(form: str) -> str:
    """Return a URL form with its escapes in lower case, as some clients write them."""
    head, *rest = form.split("%")
    return "%".join([head, *(part[:2].lower() + part[2:] for part in rest)])


def _within_base64(raw: bytes) -> Iterator[str]:
    """Yield what base64 has of the value whatever stands before and after it, in both alphabets.

    A login or a whole file may be encoded with the value in it; then it begins at one of three places in a group.
    """
    for before in range(3):
        encoded = base64.b64encode(bytes(before) + raw).decode().rstrip("=")
        whole_bits = (before + len(raw)) * 8 // 6
        form = encoded[-(-before * 8 // 6) : whole_bits]
        yield form
        yield form.translate(_URL_ALPHABET)
    yield base64.b64encode(raw).decode()
    yield base64.urlsafe_b64encode(raw).decode()
    yield base64.b64encode(raw).decode().rstrip("=")
    yield base64.urlsafe_b64encode(raw).decode().rstrip("=")


_URL_ALPHABET = str.maketrans("+/", "-_")
