"""The lists of a manifest (segments, outcomes, conflicts) as rows, each distinct one stored once."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Row, Select, select

from aircoding.records.conflicts import Conflict
from aircoding.records.digests import canonical_json, fingerprint
from aircoding.records.ids import Digest
from aircoding.records.jsonable import jsonable
from aircoding.records.manifest import OutcomeRecord, SegmentRecord
from aircoding.records.segments import Segment
from aircoding.records.selections import CONVERSATION
from aircoding.store.columns import row, rows, table_of
from aircoding.store.decode import decode
from aircoding.store.skeleton import SplitRequest
from aircoding.store.statements import insert_new, insert_rows, number_rows
from aircoding.store.tables.assemblies import (
    AssemblyRow,
    ConflictRow,
    OutcomeRow,
    OutcomeUseRow,
    SegmentRow,
    SegmentTextRow,
    SegmentUseRow,
)
from aircoding.store.text_filling import index_candidates, index_segments, number_texts, unseen_candidates

__all__ = [
    "added",
    "conflict_value",
    "outcome_value",
    "own_id",
    "read_conflicts",
    "read_outcomes",
    "read_segments",
    "segment_names",
    "segment_value",
    "write_conflicts",
    "write_outcomes",
    "write_segments",
]

ASSEMBLIES = table_of(AssemblyRow)
SEGMENTS = table_of(SegmentRow)
SEGMENT_TEXTS = table_of(SegmentTextRow)
SEGMENT_USES = table_of(SegmentUseRow)
OUTCOMES = table_of(OutcomeRow)
OUTCOME_USES = table_of(OutcomeUseRow)
CONFLICTS = table_of(ConflictRow)
FINGERPRINT_CHARACTERS = 24
"""96 bits: two of a billion segments are taken for one with a chance of one in a hundred thousand million."""


def write_segments(
    connection: Connection, assembly: int, segments: Sequence[SegmentRecord], split: SplitRequest
) -> None:
    """Store the segments that came in with an assembly, and which texts they show."""
    bodies: dict[str, dict[str, Any]] = {}
    shown: dict[str, list[Digest]] = {}
    uses: list[tuple[str, str]] = []
    for record in segments:
        spans = [[span.block, span.start, span.end] for span in record.spans]
        found = (split.shown((span.block, span.start, span.end)) for span in record.spans)
        digests = [digest for digest in found if digest is not None]
        values = _segment_values(record)
        mark = fingerprint([values, digests])[:FINGERPRINT_CHARACTERS]
        bodies[mark], shown[mark] = values | _implied(values) | {"fingerprint": mark}, digests
        uses.append((mark, canonical_json(spans).decode("utf-8")))
    rows_of, unseen = number_texts(connection, {digest for digests in shown.values() for digest in digests})
    numbers = number_rows(connection, SEGMENTS, "segment", {mark: row(SegmentRow, **bodies[mark]) for mark in bodies})
    texts = [
        {"segment": numbers[mark], "position": position, "text_row": rows_of[digest]}
        for mark in sorted(shown)
        for position, digest in enumerate(shown[mark])
    ]
    insert_new(connection, SEGMENT_TEXTS, rows(SegmentTextRow, texts))
    index_segments(connection, {numbers[mark]: digests for mark, digests in shown.items()}, unseen, split.texts)
    placed = [
        {"assembly": assembly, "position": position, "segment": numbers[mark], "spans": spans}
        for position, (mark, spans) in enumerate(uses)
    ]
    insert_rows(connection, SEGMENT_USES, rows(SegmentUseRow, placed))


def _segment_values(record: SegmentRecord) -> dict[str, Any]:
    source = record.source
    return {
        "segment_id": record.segment_id,
        "layer": record.layer.value,
        "scope": record.scope.value,
        "trust": record.trust.value,
        "kind": record.kind.value,
        "uri": source.uri,
        "source_digest": source.digest,
        "text_digest": source.text_digest,
        "start_line": source.start_line,
        "end_line": source.end_line,
        "revision": source.revision,
        "rule_id": record.rule_id,
        "required": record.required,
        "form": record.form.value,
        "tokens": record.tokens,
        "selected_by": record.selected_by,
    }


def _implied(values: Mapping[str, Any]) -> dict[str, None]:
    """Return those columns that other columns give, as null."""
    own = own_id(values["layer"], values["uri"], values["text_digest"])
    by_name = values["selected_by"] != CONVERSATION  # others are found by their id
    implied = {"segment_id": not by_name and values["segment_id"] == own}
    implied["source_digest"] = values["source_digest"] == values["text_digest"]
    return {name: None for name, is_implied in implied.items() if is_implied}


def own_id(layer: str, uri: str, text_digest: str) -> str:
    """Return the id of a segment that a message brought."""
    return f"{layer}:{uri}@{text_digest[:8]}"


def segment_names(found: Row[Any]) -> tuple[str, str]:
    """Return the id and the source's digest of a segment from its row."""
    own = own_id(found.layer, found.uri, found.text_digest) if found.segment_id is None else found.segment_id
    return own, found.text_digest if found.source_digest is None else found.source_digest


def added(query: Select[Any], session_id: str, since: int, turn: int) -> Select[Any]:
    """Narrow a query over `ASSEMBLIES` to the turns whose additions make up a list, in order."""
    return query.where(
        ASSEMBLIES.c.session_id == session_id, ASSEMBLIES.c.turn >= since, ASSEMBLIES.c.turn <= turn
    ).order_by(ASSEMBLIES.c.turn)


def read_segments(connection: Connection, session_id: str, since: int, turn: int) -> tuple[SegmentRecord, ...]:
    """Return a manifest's segments."""
    wanted = (
        select(SEGMENTS, SEGMENT_USES.c.spans)
        .join(SEGMENT_USES, SEGMENT_USES.c.segment == SEGMENTS.c.segment)
        .join(ASSEMBLIES, ASSEMBLIES.c.assembly == SEGMENT_USES.c.assembly)
    )
    found = connection.execute(added(wanted, session_id, since, turn).order_by(SEGMENT_USES.c.position))
    values = [segment_value(each) for each in found]
    return decode(tuple[SegmentRecord, ...], values, what=f"the segments of {session_id} turn {turn}")


def segment_value(found: Row[Any]) -> dict[str, Any]:
    """Return the JSON value of a segment from its row with its spans."""
    segment_id, source_digest = segment_names(found)
    return {
        "segment_id": segment_id,
        "layer": found.layer,
        "scope": found.scope,
        "trust": found.trust,
        "kind": found.kind,
        "source": {
            "uri": found.uri,
            "digest": source_digest,
            "text_digest": found.text_digest,
            "start_line": found.start_line,
            "end_line": found.end_line,
            "revision": found.revision,
        },
        "rule_id": found.rule_id,
        "required": bool(found.required),
        "form": found.form,
        "tokens": found.tokens,
        "spans": [{"block": block, "start": start, "end": end} for block, start, end in json.loads(found.spans)],
        "selected_by": found.selected_by,
    }


def write_outcomes(
    connection: Connection, assembly: int, outcomes: Sequence[OutcomeRecord], candidates: Sequence[Segment] = ()
) -> None:
    """Store the outcomes that came in with an assembly; `candidates` give the texts of those that were left out."""
    bodies: dict[str, dict[str, Any]] = {}
    marks: list[str] = []
    for record in outcomes:
        values: dict[str, Any] = jsonable(record)
        values["decided_by"] = values.pop("by")
        mark = fingerprint(values)[:FINGERPRINT_CHARACTERS]
        bodies[mark] = row(OutcomeRow, fingerprint=mark, **values)
        marks.append(mark)
    unseen = unseen_candidates(connection, outcomes)
    numbers = number_rows(connection, OUTCOMES, "outcome_row", bodies)
    index_candidates(
        connection, {one.segment_id: numbers[at] for at, one in zip(marks, outcomes, strict=True)}, unseen, candidates
    )
    uses = [
        {"assembly": assembly, "position": position, "outcome_row": numbers[mark]}
        for position, mark in enumerate(marks)
    ]
    insert_rows(connection, OUTCOME_USES, rows(OutcomeUseRow, uses))


def read_outcomes(connection: Connection, session_id: str, since: int, turn: int) -> tuple[OutcomeRecord, ...]:
    """Return a manifest's outcomes."""
    wanted = (
        select(OUTCOMES)
        .join(OUTCOME_USES, OUTCOME_USES.c.outcome_row == OUTCOMES.c.outcome_row)
        .join(ASSEMBLIES, ASSEMBLIES.c.assembly == OUTCOME_USES.c.assembly)
    )
    found = connection.execute(added(wanted, session_id, since, turn).order_by(OUTCOME_USES.c.position))
    values = [outcome_value(each) for each in found]
    return decode(tuple[OutcomeRecord, ...], values, what=f"the outcomes of {session_id} turn {turn}")


def outcome_value(found: Row[Any]) -> dict[str, Any]:
    """Return the JSON value of an outcome from its row."""
    return {
        "segment_id": found.segment_id,
        "uri": found.uri,
        "layer": found.layer,
        "outcome": found.outcome,
        "reason": found.reason,
        "detail": found.detail,
        "tokens": found.tokens,
        "by": found.decided_by,
        "rule_id": found.rule_id,
    }


def write_conflicts(connection: Connection, assembly: int, conflicts: Sequence[Conflict]) -> None:
    """Store the conflicts that came in with an assembly."""
    values = []
    for position, conflict in enumerate(conflicts):
        value: Mapping[str, Any] = jsonable(conflict)
        parties = canonical_json(value["parties"]).decode("utf-8")
        values.append({**value, "assembly": assembly, "position": position, "parties": parties})
    insert_rows(connection, CONFLICTS, rows(ConflictRow, values))


def read_conflicts(connection: Connection, session_id: str, since: int, turn: int) -> tuple[Conflict, ...]:
    """Return a manifest's conflicts."""
    wanted = select(CONFLICTS).join(ASSEMBLIES, ASSEMBLIES.c.assembly == CONFLICTS.c.assembly)
    found = connection.execute(added(wanted, session_id, since, turn).order_by(CONFLICTS.c.position))
    values = [conflict_value(each) for each in found]
    return decode(tuple[Conflict, ...], values, what=f"the conflicts of {session_id} turn {turn}")


def conflict_value(found: Row[Any]) -> dict[str, Any]:
    """Return the JSON value of a conflict from its row."""
    return {
        "conflict_id": found.conflict_id,
        "kind": found.kind,
        "parties": json.loads(found.parties),
        "subject": found.subject,
        "detail": found.detail,
        "ruling": found.ruling,
        "winner": found.winner,
        "route": found.route,
        "blocking": bool(found.blocking),
        "state": found.state,
        "ruled_by": found.ruled_by,
    }
