"""The one place where text becomes a segment: masked, screened, digested, named (DESIGN sections 3 and 7)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar, cast

from aircoding.ports import Screener
from aircoding.records.digests import sha256_text
from aircoding.records.ids import Digest, SegmentId
from aircoding.records.layers import Layer, Scope, SegmentKind, Trust
from aircoding.records.segments import Barred, Finding, Segment, Source
from aircoding.sources.excerpts import shorten

__all__ = ["Intake", "barred", "in_short", "unique"]

_MEMO_SIZE = 4096
_MADE_SIZE = 16_384
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class _Screened:
    text: str
    findings: tuple[Finding, ...]


class Intake:
    """Turns texts into segments. Each text is masked and screened once, however often it is read.

    What is built in is ours and goes through as it is; everything else is masked first and screened then, so that
    findings, digests and stored texts are all of the same bytes.
    """

    def __init__(self, screener: Screener) -> None:
        self._screener = screener
        self._memo: dict[tuple[str, str, Trust], _Screened] = {}
        self._made: dict[Hashable, object] = {}

    def once(self, key: Hashable, make: Callable[[], _T]) -> _T:
        """Return what `make` gave for a key that names all its inputs, this intake apart; it is made once."""
        if key not in self._made:
            if len(self._made) >= _MADE_SIZE:
                self._made.clear()
            self._made[key] = make()
        return cast("_T", self._made[key])

    def segment(
        self,
        text: str,
        *,
        layer: Layer,
        scope: Scope,
        kind: SegmentKind,
        trust: Trust,
        uri: str,
        digest: Digest | None = None,
        title: str = "",
        fragment: str = "",
        start_line: int | None = None,
        end_line: int | None = None,
        shortened: bool = True,
    ) -> Segment:
        """Return a segment with its digests, its findings and a name that the same text always gets.

        Args:
            text: as it was read; secrets and lone surrogates are taken out here.
            layer: where it belongs.
            scope: how widely it is shared.
            kind: what it is.
            trust: who wrote it.
            uri: where it comes from.
            digest: of the raw bytes of the whole source; none: of `text`.
            title: a label of ours above the text; never words of the source, which nobody has screened.
            fragment: what part of the source it is, where a source gives several segments of one layer.
            start_line: first line in the source.
            end_line: last line in the source, included.
            shortened: whether an excerpt may stand for it.
        """
        raw = _whole_characters(text)
        if trust is not Trust.BUILTIN:  # a file may be named with a secret
            uri, title = self.masked(uri), self.masked(title)
        screened = self._screen(raw, uri, trust)
        text_digest = sha256_text(screened.text)
        of_source = digest if digest is not None else sha256_text(raw)
        name = f"{layer}:{uri}{_fragment(fragment, start_line, end_line)}@{text_digest[:8]}"
        excerpt = shorten(screened.text, start_line or 1, kind=kind) if shortened else None
        return Segment(
            segment_id=SegmentId(name),
            layer=layer,
            scope=scope,
            trust=trust,
            kind=kind,
            source=Source(
                uri=uri,
                digest=of_source,
                text_digest=text_digest,
                start_line=start_line,
                end_line=end_line,
            ),
            text=screened.text,
            title=title,
            excerpt=excerpt,
            findings=self._screener.lift(screened.findings, uri=uri, digest=of_source),
        )

    def masked(self, text: str) -> str:
        """Return a text of one line, such as the name of a file, with its secrets masked."""
        return self._screener.mask(text)

    def masked_lines(self, lines: Sequence[str], first: int, last: int) -> str:
        """Return lines `first` to `last` of a file, from 1, both included, masked as in the whole."""
        if (first, last) == (1, len(lines)):
            return "\n".join(lines)  # `segment` masks it
        text = _whole_characters("\n".join(lines))
        start = sum(len(line) + 1 for line in lines[: first - 1])
        return self._screener.mask_part(text, start, start + len("\n".join(lines[first - 1 : last])))

    def _screen(self, text: str, uri: str, trust: Trust) -> _Screened:
        if trust is Trust.BUILTIN or not text:
            return _Screened(text, ())
        key = (text, uri, trust)
        if key not in self._memo:
            if len(self._memo) >= _MEMO_SIZE:
                self._memo.clear()
            masked = self._screener.mask(text)
            self._memo[key] = _Screened(masked, self._screener.findings(masked, uri=uri, trust=trust))
        return self._memo[key]


def _whole_characters(text: str) -> str:
    """Replace lone surrogates (a model can send them): no encoding holds them."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _fragment(fragment: str, start_line: int | None, end_line: int | None) -> str:
    if fragment:
        return f"#{fragment}"
    return f":{start_line}-{end_line}" if start_line is not None and end_line is not None else ""


def barred(segment: Segment, why: Barred) -> Segment:
    """Return the candidate with the reason for which it cannot be used; it is still accounted for."""
    return replace(segment, barred=why, excerpt=None, reference=None)


def in_short(segment: Segment) -> Segment:
    """Return the segment with its excerpt as its text, for a role that retrieves summaries; itself when it is short.

    A finding in the whole text stays with the short form: what was hidden deep in a file still counts against it.
    """
    short = segment.excerpt
    if short is None or segment.required or segment.barred is not None:
        return segment
    digest = sha256_text(short)
    name = segment.segment_id.rsplit("@", 1)[0]
    return replace(
        segment,
        segment_id=SegmentId(f"{name}~short@{digest[:8]}"),
        text=short,
        source=replace(segment.source, text_digest=digest),
        excerpt=None,
    )


def unique(segments: Iterable[Segment]) -> tuple[Segment, ...]:
    """Return the segments in order of their id, each id once: the same text of the same place is one candidate."""
    found: dict[str, Segment] = {}
    for segment in segments:
        found.setdefault(segment.segment_id, segment)
    return tuple(found[name] for name in sorted(found))
