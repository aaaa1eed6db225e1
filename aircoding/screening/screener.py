"""The screener: looks at text where it enters, masks secrets once, puts them back at the edge (DESIGN section 7)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from aircoding.ports import SecretScanner
from aircoding.records.ids import Digest
from aircoding.records.layers import Trust
from aircoding.records.secret_spans import SecretSpan
from aircoding.records.segments import Finding
from aircoding.screening.allowances import Allowance, lift
from aircoding.screening.hits import as_findings
from aircoding.screening.injections import injections
from aircoding.screening.known_values import KnownValues
from aircoding.screening.markers import MARKER, marker_of, mask_spans
from aircoding.screening.masking import Finder, find_secrets, restore_markers
from aircoding.screening.secret_finder import rule_finder
from aircoding.screening.secret_rules import SECRET_RULES, SecretRule

__all__ = ["TextScreener"]

_REMEMBERED = re.compile(r"(?:^|[/:])(?:memory|skills|profiles)/|(?:^|[/:])(?:MEMORY|USER|SOUL|SKILL)\.md$")
"""Uris of memories and skills: agents write them or strangers share them, so an override phrase has no place there."""


class TextScreener:
    """Finds injections and masks secrets with the rules that it is given; implements `ports.Screener`.

    Args:
        key: the installation's own key; ids of secrets are comparable under one key only.
        known_values: secrets that the service itself knows; masked exactly, from 8 characters on, and in their
            base64, URL, JSON and HTML forms.
        scanner: finds more kinds of secret than our own rules, where one is installed.
        secret_rules: kinds of secret by their look.
        allowed: what the user lets pass although it is found.
    """

    def __init__(
        self,
        *,
        key: bytes,
        known_values: Iterable[str] = (),
        scanner: SecretScanner | None = None,
        secret_rules: Sequence[SecretRule] = SECRET_RULES,
        allowed: Iterable[Allowance] = (),
    ) -> None:
        self._key = key
        finders: list[Finder] = [KnownValues(known_values).find, rule_finder(tuple(secret_rules)).find]
        if scanner is not None:
            finders.append(scanner.find)
        self._finders = tuple(finders)
        self._allowed = frozenset(allowed)

    def findings(self, text: str, *, uri: str, trust: Trust) -> tuple[Finding, ...]:
        """Return what is suspicious in `text`, in order of place.

        Hidden text, control tokens and exfiltration block under every trust but `builtin`. Phrases that prose may
        quote block only under `agent` and `external` trust, and in memories and skills; elsewhere they warn. A text
        about security that quotes one is warned of, wherever it comes from.
        """
        if trust is Trust.BUILTIN:
            return ()
        low = trust.rank <= Trust.AGENT.rank
        return as_findings(text, injections(text), block_suspects=low or _REMEMBERED.search(uri) is not None)

    def lift(self, findings: tuple[Finding, ...], *, uri: str, digest: Digest) -> tuple[Finding, ...]:
        """Return the findings of a source as its user lets them count; `digest` is of its raw bytes."""
        return lift(findings, self._allowed, uri=uri, digest=digest) if self._allowed and findings else findings

    def mask(self, text: str) -> str:
        """Return `text` with each secret as `[REDACTED:kind:id]`; a masked text comes back as it is."""
        spans = self._secrets(text)
        return mask_spans(text, spans, self._key) if spans else text

    def mask_part(self, text: str, start: int, end: int) -> str:
        """Return `text[start:end]` masked as in the whole; a secret that lies across an edge is masked whole."""
        parts, done = [], start
        for span in self._secrets(text):
            if span.start < end and span.end > start:
                parts += [text[done : span.start], marker_of(text[span.start : span.end], span.kind, self._key)]
                done = span.end
        return "".join([*parts, text[done:end]])

    def restore(self, text: str, original: str) -> str | None:
        """Put the bytes of `original` back where `text` carries its markers; None if one is not its own, or moved."""
        if not MARKER.search(text):
            return text
        spans = self._secrets(original)
        if text == mask_spans(original, spans, self._key):
            return original
        return restore_markers(text, original, spans, self._key)

    def _secrets(self, text: str) -> tuple[SecretSpan, ...]:
        return find_secrets(text, self._finders, self._key)
