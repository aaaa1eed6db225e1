"""Requests with their manifests: heads, what each turn added, and each distinct segment and outcome once.

The workers of a fleet share most segments and most omissions. So a segment as it stood (`segments`)
and an outcome (`outcomes`) are stored once, and `segment_uses` and `outcome_uses` say which turn of
which session they came in with. The list of a manifest is what the turns from `*_since` to its own added.
"""

from __future__ import annotations

from sqlalchemy import Index
from sqlmodel import SQLModel

from aircoding.records.selections import CONVERSATION
from aircoding.store.columns import (
    data,
    flag,
    hex_digest,
    json_column,
    json_is_valid,
    moment,
    number,
    partial_index,
    places_column,
    strict,
    text,
    usual,
    word,
)

__all__ = [
    "FORMS",
    "KINDS",
    "SCOPES",
    "SHARED",
    "TRUSTS",
    "AssemblyRow",
    "ConflictRow",
    "OutcomeRow",
    "OutcomeUseRow",
    "RedactionRow",
    "SegmentRow",
    "SegmentTextRow",
    "SegmentUseRow",
]


SHARED = "selected_by IS NOT NULL"
"""Which segments can be found by source, by text and by id: not those that a session itself brought, which are most of
all and nobody else's. A query that is to use these indexes carries this condition.
"""

SCOPES = ("turn", "session", "run", "fleet")
TRUSTS = ("agent", "external", "project", "user", "builtin")
FORMS = ("whole", "excerpt", "reference", "none")
KINDS = tuple(
    "tool_call message tool_result invariant role identity guidance policy rule skills_index skill memory context plan"
    " adr graph task dependency file artifact diagnostic finding summary decision conflict tool failure instruction"
    " output_format omission_note notice steering time".split()
)
"""Words of segments, those first that a session brings most. Each list grows at its end alone: rows say the place."""


class AssemblyRow(SQLModel, table=True):
    """One assembly. `delta` holds the new nodes of the request and the new layout spans, `account` the
    rest of the manifest (marks, cache, budget, refs, versions, digests of revision and policy); both are packed JSON.
    """

    __tablename__ = "assemblies"
    __table_args__ = (
        Index("ix_assemblies_turn", "session_id", "turn", unique=True),
        Index("ix_assemblies_task", "run_id", "task_id", "role"),
        strict(),
    )

    assembly: int | None = number(default=None, primary_key=True)
    manifest_id: str = text(unique=True)
    digest: str = hex_digest(min_length=64, max_length=64)
    provenance: str = text()
    run_id: str = text()
    session_id: str = text()
    task_id: str | None = text(default=None)
    attempt: int | None = number(default=None)
    role: str = text()
    mode: str = text()
    model: str = text()
    turn: int = number(ge=1)
    epoch: int = number(ge=1)
    created_at: str = text()
    recorded_at: str = moment()
    estimator: str = text()
    tokens_low: int = number()
    tokens_expected: int = number()
    tokens_high: int = number()
    window_tokens: int = number()
    nodes_since: int = number()
    segments_since: int = number()
    outcomes_since: int = number()
    conflicts_since: int = number()
    snapshot_digest: str = hex_digest(foreign_key="texts.digest")
    delta: bytes = data()
    account: bytes = data()


class SegmentRow(SQLModel, table=True):
    """A segment in the form in which it stood in a request, once; `fingerprint` (96 bits of it) covers all of it.

    `segment_id` is null where a session brought it and layer, uri and text give its id; `source_digest` where the text
    is the source.
    """

    __tablename__ = "segments"
    __table_args__ = (
        *(partial_index(f"ix_segments_{name}", name, where=SHARED) for name in ("segment_id", "text_digest", "uri")),
        partial_index("ix_segments_rule_id", "rule_id", where="rule_id IS NOT NULL"),
        strict(),
    )

    segment: int | None = number(default=None, primary_key=True)
    fingerprint: str = hex_digest(unique=True)
    segment_id: str | None = text(default=None)
    layer: str = text()
    scope: str = word(SCOPES)
    trust: str = word(TRUSTS)
    kind: str = word(KINDS)
    uri: str = text()
    source_digest: str | None = hex_digest(default=None)
    text_digest: str = hex_digest()
    start_line: int | None = number(default=None)
    end_line: int | None = number(default=None)
    revision: str | None = text(default=None)
    rule_id: str | None = text(default=None)
    required: bool = flag()
    form: str = word(FORMS)
    tokens: int = number()
    selected_by: str = usual(CONVERSATION)


class SegmentTextRow(SQLModel, table=True):
    """The texts of a segment as they stood in the request (an excerpt is not the whole source text)."""

    __tablename__ = "segment_texts"
    __table_args__ = strict(rowid=False)

    segment: int = number(primary_key=True, foreign_key="segments.segment")
    position: int = number(primary_key=True)
    text_row: int = number(foreign_key="texts.text_row", index=True)


class SegmentUseRow(SQLModel, table=True):
    """A segment that came in with an assembly; `spans` is a JSON list of [block, start, end]."""

    __tablename__ = "segment_uses"
    __table_args__ = (json_is_valid("segment_uses", "spans"), strict(rowid=False))

    assembly: int = number(primary_key=True, foreign_key="assemblies.assembly")
    position: int = number(primary_key=True)
    segment: int = number(foreign_key="segments.segment", index=True)
    spans: str = places_column()


class OutcomeRow(SQLModel, table=True):
    """What became of a candidate, once."""

    __tablename__ = "outcomes"
    __table_args__ = (partial_index("ix_outcomes_rule_id", "rule_id", where="rule_id IS NOT NULL"), strict())

    outcome_row: int | None = number(default=None, primary_key=True)
    fingerprint: str = hex_digest(unique=True)
    segment_id: str = text(index=True)
    uri: str = text(index=True)
    layer: str = text()
    outcome: str = text()
    reason: str | None = text(default=None)
    detail: str = text()
    tokens: int = number()
    decided_by: str = text()
    rule_id: str | None = text(default=None)


class OutcomeUseRow(SQLModel, table=True):
    """An outcome that came in with an assembly."""

    __tablename__ = "outcome_uses"
    __table_args__ = strict(rowid=False)

    assembly: int = number(primary_key=True, foreign_key="assemblies.assembly")
    position: int = number(primary_key=True)
    outcome_row: int = number(foreign_key="outcomes.outcome_row", index=True)


class ConflictRow(SQLModel, table=True):
    """A conflict that came in with an assembly."""

    __tablename__ = "conflicts"
    __table_args__ = (json_is_valid("conflicts", "parties"), strict())

    assembly: int = number(primary_key=True, foreign_key="assemblies.assembly")
    position: int = number(primary_key=True)
    conflict_id: str = text(index=True)
    kind: str = text()
    parties: str = json_column()
    subject: str = text()
    detail: str = text()
    ruling: str = text()
    winner: str | None = text(default=None)
    route: str = text()
    blocking: bool = flag()
    state: str = text()
    ruled_by: str | None = text(default=None)


class RedactionRow(SQLModel, table=True):
    """A request that came with secrets masked: `digest` is of what is here, the assembly's own of what was sent."""

    __tablename__ = "redactions"
    __table_args__ = strict()

    manifest_id: str = text(primary_key=True)
    digest: str = text(min_length=64, max_length=64)
