"""The full account of one assembly; its field names are the JSON contract of DESIGN section 3."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aircoding.records.conflicts import Conflict
from aircoding.records.ids import Digest, ManifestId, SegmentId
from aircoding.records.layers import Form, Layer, Mode, OutcomeKind, Reason, Scope, SegmentKind, Trust
from aircoding.records.segments import Source
from aircoding.records.usage import TokenEstimate

__all__ = [
    "AssembledContext",
    "AssemblyHead",
    "Budget",
    "CacheMark",
    "LayerBudget",
    "LayoutSpan",
    "Manifest",
    "OutcomeRecord",
    "Overflow",
    "Ref",
    "SegmentRecord",
    "Span",
    "Versions",
]


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of the request that a segment owns.

    `block` is a JSON pointer into `{tools, system, messages}`. For a text, `start` and `end` are
    UTF-8 byte offsets; for a whole node (a tool, a tool call) they are None.
    """

    block: str
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True, slots=True)
class LayoutSpan:
    """Bytes of a text that belong to no segment: headings, separators, markers."""

    block: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentRecord:
    """A segment that is in the request, in whatever form, with where it stands."""

    segment_id: SegmentId
    layer: Layer
    scope: Scope
    trust: Trust
    kind: SegmentKind
    source: Source
    rule_id: str | None
    required: bool
    form: Form
    tokens: int
    spans: tuple[Span, ...]
    selected_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeRecord:
    """What became of one candidate. `by` names the line that decided (`uri:line`) or the stage, `rule_id` its rule."""

    segment_id: SegmentId
    uri: str
    layer: Layer
    outcome: OutcomeKind
    reason: Reason | None
    detail: str
    tokens: int
    by: str
    rule_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheMark:
    """A cache mark: the block that carries it, and the prefix that it closes (marks removed)."""

    mark: str
    after_segment: SegmentId | None
    prefix_digest: Digest
    prefix_tokens: int
    predicted: str | None = None
    measured: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerBudget:
    """Tokens of one layer that are in, and that were left out."""

    used: int
    omitted: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """The window and what each layer took of it, in tokens."""

    window: int
    reserved_output: int
    per_layer: Mapping[Layer, LayerBudget]


@dataclass(frozen=True, slots=True, kw_only=True)
class Versions:
    """What made the assembly: the program, the digest of its prompts, the schema of the manifest."""

    aircoding: str
    prompts: str
    schema: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Ref:
    """How to fetch what is only referenced."""

    uri: str
    digest: Digest


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """The account of one assembly: made by the stages as they act, never changed after."""

    manifest_id: ManifestId
    digest: Digest
    provenance: str
    run_id: str
    run_revision: str
    session_id: str
    task_id: str | None
    attempt: int | None
    role: str
    mode: Mode
    model: str
    turn: int
    epoch: int
    created_at: str
    estimator: str
    policy_digest: Digest
    versions: Versions
    segments: tuple[SegmentRecord, ...]
    layout: tuple[LayoutSpan, ...]
    outcomes: tuple[OutcomeRecord, ...]
    conflicts: tuple[Conflict, ...]
    cache: tuple[CacheMark, ...]
    budget: Budget
    refs: tuple[Ref, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AssembledContext:
    """A request ready to send, with its manifest.

    `tools`, `system` and `messages` are plain JSON values, marks included; `digest` is the sha256
    of their canonical JSON.
    """

    tools: tuple[Mapping[str, Any], ...]
    system: tuple[Mapping[str, Any], ...]
    messages: tuple[Mapping[str, Any], ...]
    token_estimate: TokenEstimate
    omissions: tuple[OutcomeRecord, ...]
    conflicts: tuple[Conflict, ...]
    refs: tuple[Ref, ...]
    manifest_id: ManifestId
    digest: Digest
    manifest: Manifest
    canonical_format: str = "anthropic"

    @property
    def request(self) -> dict[str, Any]:
        """The canonical request `{tools, system, messages}`, marks included."""
        return {"tools": list(self.tools), "system": list(self.system), "messages": list(self.messages)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Overflow:
    """What must be kept does not fit: nothing is sent, the caller compacts or blocks."""

    scope: Scope
    needed_tokens: int
    available_tokens: int
    largest: tuple[tuple[SegmentId, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AssemblyHead:
    """One recorded assembly without its texts."""

    manifest_id: str
    run_id: str
    session_id: str
    task_id: str | None
    attempt: int | None
    role: str
    turn: int
    created_at: str
    digest: str
    tokens: int
