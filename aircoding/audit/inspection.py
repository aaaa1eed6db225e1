"""One assembly as a reader inspects it: whose each line is, what was left out and why, what contradicts. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from aircoding.audit.prompt_pieces import PromptBlock, prompt_blocks
from aircoding.audit.remedies import remedy
from aircoding.audit.verdicts import holds, reason
from aircoding.records.ids import SegmentId
from aircoding.records.layers import Layer, OutcomeKind, Reason
from aircoding.records.manifest import AssembledContext, CacheMark, Manifest, OutcomeRecord, SegmentRecord

__all__ = ["ConflictRow", "Inspection", "LayerRow", "OmissionRow", "inspect"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerRow:
    """What a layer took, in tokens, and the number of its first segment in the prompt, from 1 (None: it has none)."""

    layer: Layer
    used_tokens: int
    omitted_tokens: int
    segments: int
    scopes: tuple[str, ...]
    first_segment: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OmissionRow:
    """What is not in as it stands; `segment` is its number in the prompt where a part of it is in, `remedy` what would
    change the outcome.
    """

    note: OutcomeRecord
    segment: int | None
    remedy: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConflictRow:
    """What contradicts: what holds and why, and each party with its number in the prompt (None: not in it)."""

    kind: str
    state: str
    blocking: bool
    subject: str
    detail: str
    holds: str
    why: str
    parties: tuple[tuple[str, int | None], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspection:
    """All that a page says of an assembly. Segments are numbered from 1 in the order of the manifest; `reasons` counts
    what was left out by reason, the most frequent first.
    """

    manifest: Manifest
    expected_tokens: int
    segments: tuple[SegmentRecord, ...]
    sources: int
    layers: tuple[LayerRow, ...]
    omissions: tuple[OmissionRow, ...]
    reasons: tuple[tuple[Reason | None, int], ...]
    conflicts: tuple[ConflictRow, ...]
    marks: tuple[CacheMark, ...]
    blocks: tuple[PromptBlock, ...]

    @property
    def free_tokens(self) -> int:
        """What is left of the window after the prompt and what is kept for the answer; never below 0."""
        budget = self.manifest.budget
        return max(0, budget.window - budget.reserved_output - self.expected_tokens)


def inspect(context: AssembledContext) -> Inspection:
    """Return all that a page says of an assembly."""
    manifest = context.manifest
    numbers = {record.segment_id: number for number, record in enumerate(manifest.segments, 1)}
    omissions = [note for note in context.omissions if note.outcome is not OutcomeKind.INCLUDED]
    return Inspection(
        manifest=manifest,
        expected_tokens=context.token_estimate.expected,
        segments=manifest.segments,
        sources=len({record.source.uri for record in manifest.segments}),
        layers=tuple(_layer(manifest, layer) for layer in Layer),
        omissions=tuple(
            OmissionRow(note=note, segment=numbers.get(note.segment_id), remedy=remedy(note)) for note in omissions
        ),
        reasons=tuple(Counter(note.reason for note in omissions).most_common()),
        conflicts=_conflicts(context, numbers),
        marks=manifest.cache,
        blocks=prompt_blocks(context),
    )


def _layer(manifest: Manifest, layer: Layer) -> LayerRow:
    own = [(number, record) for number, record in enumerate(manifest.segments, 1) if record.layer is layer]
    budget = manifest.budget.per_layer[layer]
    return LayerRow(
        layer=layer,
        used_tokens=budget.used,
        omitted_tokens=budget.omitted,
        segments=len(own),
        scopes=_once([record.scope.value for _, record in own]),
        first_segment=own[0][0] if own else None,
    )


def _once(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(words))


def _conflicts(context: AssembledContext, numbers: Mapping[SegmentId, int]) -> tuple[ConflictRow, ...]:
    return tuple(
        ConflictRow(
            kind=one.kind.value,
            state=one.state,
            blocking=one.blocking,
            subject=one.subject,
            detail=one.detail,
            holds=holds(one),
            why=reason(one),
            parties=tuple((party, numbers.get(SegmentId(party))) for party in one.parties),
        )
        for one in context.conflicts
    )
