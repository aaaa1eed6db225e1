"""A hit of one rule in a text, by character offsets, before it becomes a finding with bytes and lines."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from aircoding.records.segments import Finding

__all__ = ["Hit", "as_findings"]


@dataclass(frozen=True, slots=True)
class Hit:
    """What was hit and where. `suspect` hits block only where the text may not instruct at all, a `remark` nowhere."""

    kind: str
    code: str
    start: int
    end: int
    detail: str
    suspect: bool = False
    remark: bool = False


def as_findings(text: str, hits: Iterable[Hit], *, block_suspects: bool) -> tuple[Finding, ...]:
    """Return findings in order of place, each once; offsets become UTF-8 bytes, lines count from 1."""
    ordered = sorted(dict.fromkeys(hits), key=lambda hit: (hit.start, hit.end, hit.code))
    places = _Places(text, [place for hit in ordered for place in (hit.start, hit.end)])
    return tuple(
        Finding(
            kind=hit.kind,
            code=hit.code,
            start=places.byte(hit.start),
            end=places.byte(hit.end),
            start_line=places.line(hit.start),
            end_line=places.line(max(hit.start, hit.end - 1)),
            blocks=not hit.remark and (block_suspects or not hit.suspect),
            detail=hit.detail,
        )
        for hit in ordered
    )


class _Places:
    """Byte offsets and lines of some character offsets, counted in one pass."""

    def __init__(self, text: str, offsets: list[int]) -> None:
        self._bytes: dict[int, int] = {}
        self._lines: dict[int, int] = {}
        done, size, line = 0, 0, 1
        for offset in sorted({*offsets, *(max(0, offset - 1) for offset in offsets)}):
            piece = text[done:offset]
            size += len(piece.encode("utf-8", "surrogatepass"))
            line += piece.count("\n")
            done = offset
            self._bytes[offset], self._lines[offset] = size, line

    def byte(self, offset: int) -> int:
        return self._bytes[offset]

    def line(self, offset: int) -> int:
        return self._lines[offset]
