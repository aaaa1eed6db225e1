"""Mask what must not leave this machine: secrets everywhere, its own names outside of prompts; pure.

A request is masked text by text, and the spans of its manifest move with it. So it can be read with its whole account,
and is marked `redacted`: it is not byte for byte what was sent.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from aircoding.records.digests import sha256_text
from aircoding.records.ids import Digest
from aircoding.records.manifest import AssembledContext, LayoutSpan, SegmentRecord, Span

__all__ = ["MachineNames", "Mask", "Secrets", "masked_context", "masked_value"]

Mask = Callable[[str], str]

_HOME = re.compile(r"(?<![\w.-])/(?:home|Users)/[^/\s\"'`:,;()<>\[\]{}]+")
"""A home folder, whoever's: tool output names those of other people as well."""
_LEAST_NAME_CHARS = 4


class MachineNames:
    """Masks the names of one machine: folders by what they are, the user and the host.

    Args:
        folders: absolute paths and what stands in their place, such as `~`; the longest counts.
        names: words that name the user or the host, and what stands in their place; short ones are left alone.
    """

    def __init__(self, folders: Mapping[str, str], names: Mapping[str, str]) -> None:
        whole = {path.rstrip("/"): word for path, word in folders.items() if len(path.rstrip("/")) > 1}
        self._folders = whole
        self._words = {name: word for name, word in names.items() if len(name) >= _LEAST_NAME_CHARS}
        paths = sorted(map(re.escape, whole), key=len, reverse=True)
        words = sorted(map(re.escape, self._words), key=len, reverse=True)
        self._path = re.compile(f"(?:{'|'.join(paths)})(?![\\w.-])") if paths else None
        self._word = re.compile(f"(?<![\\w.-])(?:{'|'.join(words)})(?![\\w-])") if words else None
        self.masked = 0

    def __call__(self, text: str) -> str:
        """Return the text with this machine's names masked."""
        told = text
        if self._path is not None:
            told = self._path.sub(lambda match: self._folders[match[0]], told)
        told = _HOME.sub("~", told)
        if self._word is not None:
            told = self._word.sub(lambda match: self._words[match[0]], told)
        self.masked += told != text
        return told

    def names_home(self, text: str) -> bool:
        """Whether a text names a home folder or a folder of this machine."""
        return bool(_HOME.search(text) or (self._path is not None and self._path.search(text)))


class Secrets:
    """Masks secrets, and counts the markers that it made, by kind; equal texts are looked at once."""

    def __init__(self, mask: Mask, marker: re.Pattern[str]) -> None:
        self._mask, self._marker = mask, marker
        self._known: dict[Digest, str | None] = {}
        self.kinds: Counter[str] = Counter()

    def __call__(self, text: str) -> str:
        """Return the text with secrets masked; equal where it holds none."""
        if len(text) < 8:
            return text
        digest = sha256_text(text)
        if digest not in self._known:
            masked = self._mask(text)
            self._known[digest] = None if masked == text else masked
            if masked != text:
                self.kinds += Counter(self._kinds(masked)) - Counter(self._kinds(text))
        found = self._known[digest]
        return text if found is None else found

    def _kinds(self, text: str) -> list[str]:
        return [match[1] for match in self._marker.finditer(text)]


def masked_value(value: Any, mask: Mask) -> Any:
    """Return a JSON value with every string masked, keys included."""
    if isinstance(value, str):
        return mask(value)
    if isinstance(value, Mapping):
        return {mask(name): masked_value(item, mask) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [masked_value(item, mask) for item in value]
    return value


def masked_context(context: AssembledContext, mask: Mask) -> AssembledContext | None:
    """Return an assembly with its request masked and its spans moved; None where there is nothing to mask.

    `digest` stays that of what was sent, `provenance` becomes `redacted`.
    """
    request = context.request
    if masked_value(request, mask) == request:
        return None
    offsets = _offsets(context)
    moved: dict[str, Mapping[int, int]] = {}

    def walk(value: Any, pointer: str) -> Any:
        if isinstance(value, str):
            text, places = _masked_pieces(value, sorted(offsets.get(pointer, ())), mask)
            if places:
                moved[pointer] = places
            return text
        if isinstance(value, Mapping):
            return {name: walk(item, f"{pointer}/{_step(name)}") for name, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [walk(item, f"{pointer}/{number}") for number, item in enumerate(value)]
        return value

    masked = walk(request, "")
    manifest = replace(
        context.manifest,
        provenance="redacted",
        segments=tuple(_moved_segment(record, moved) for record in context.manifest.segments),
        layout=tuple(
            LayoutSpan(span.block, _at(moved, span.block, span.start), _at(moved, span.block, span.end))
            for span in context.manifest.layout
        ),
    )
    return replace(
        context,
        tools=tuple(masked["tools"]),
        system=tuple(masked["system"]),
        messages=tuple(masked["messages"]),
        manifest=manifest,
    )


def _step(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


def _offsets(context: AssembledContext) -> dict[str, set[int]]:
    spans: list[Span | LayoutSpan] = [span for record in context.manifest.segments for span in record.spans]
    spans += context.manifest.layout
    offsets: dict[str, set[int]] = {}
    for span in spans:
        if span.start is not None and span.end is not None:
            offsets.setdefault(span.block, set()).update((span.start, span.end))
    return offsets


def _masked_pieces(text: str, cuts: Sequence[int], mask: Mask) -> tuple[str, Mapping[int, int]]:
    """Return a text masked piece by piece, and where each cut (UTF-8 bytes) has gone."""
    whole = mask(text)
    if whole == text:
        return text, {}
    data = text.encode("utf-8")
    inside = [cut for cut in cuts if 0 < cut < len(data) and not 0x80 <= data[cut] < 0xC0]
    edges = [0, *inside, len(data)]
    pieces = [mask(data[start:end].decode("utf-8")) for start, end in pairwise(edges)]
    joined = "".join(pieces)
    if mask(joined) != joined:  # a secret lies across two segments: neither piece may stay
        pieces = ["[REDACTED:text:withheld]" if piece else "" for piece in pieces]
        joined = "".join(pieces)
    places, at = {0: 0}, 0
    for end, piece in zip(edges[1:], pieces, strict=True):
        at += len(piece.encode("utf-8"))
        places[end] = at
    return joined, places


def _at(moved: Mapping[str, Mapping[int, int]], block: str, offset: int) -> int:
    return moved.get(block, {}).get(offset, offset)


def _moved_segment(record: SegmentRecord, moved: Mapping[str, Mapping[int, int]]) -> SegmentRecord:
    spans = tuple(
        span
        if span.start is None or span.end is None
        else Span(span.block, _at(moved, span.block, span.start), _at(moved, span.block, span.end))
        for span in record.spans
    )
    return record if spans == record.spans else replace(record, spans=spans)
