"""Prompts as text for a terminal, and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from aircoding.audit.verdicts import holds, reason
from aircoding.cli.context.places import shown_place
from aircoding.cli.output import table
from aircoding.records.jsonable import jsonable
from aircoding.records.source_names import plain_uri

if TYPE_CHECKING:
    from aircoding.records.manifest import AssembledContext, AssemblyHead, Manifest, OutcomeRecord, SegmentRecord

__all__ = ["context_document", "list_text", "prompt_text", "show_text"]


def context_document(assembled: AssembledContext) -> Any:
    """Return the JSON form of an assembly (schema `assembled-context.json`)."""
    first = {"canonical_format": assembled.canonical_format}
    return {**first, **{key: value for key, value in jsonable(assembled).items() if key not in first}}


def show_text(assembled: AssembledContext, *, exact_tokens: int | None = None) -> str:
    """Return an assembly in brief: size, what is in by layer, what is out, marks, conflicts."""
    manifest = assembled.manifest
    head = (
        f"{manifest.manifest_id}  {manifest.role}  task {manifest.task_id or '-'}  turn {manifest.turn}"
        f"  {_size(assembled, exact_tokens)} tokens of {manifest.budget.window}\n"
        f"digest {manifest.digest}\n\n"
    )
    parts = [head + table(("layer", "scope", "trust", "kind", "source", "parts", "form", "tokens"), _in(manifest))]
    if assembled.omissions:
        names = ("layer", "source", "parts", "outcome", "reason", "detail", "by")
        parts.append("left out or shortened\n\n" + table(names, _out(assembled)))
    if manifest.cache:
        marks = [(mark.mark, mark.prefix_tokens, mark.prefix_digest[:16]) for mark in manifest.cache]
        parts.append("cache marks\n\n" + table(("after", "tokens", "prefix"), marks))
    if assembled.conflicts:
        rows_ = [(one.kind, one.state, one.detail, holds(one), reason(one)) for one in assembled.conflicts]
        parts.append("conflicts\n\n" + table(("kind", "state", "detail", "what holds", "why"), rows_))
    return "\n\n".join(parts)


def _size(assembled: AssembledContext, exact_tokens: int | None) -> str:
    estimate = assembled.token_estimate
    if exact_tokens is None:
        return f"about {estimate.expected}"
    return f"{exact_tokens} (estimated {estimate.expected}, {estimate.low} to {estimate.high})"


def _in(manifest: Manifest) -> list[tuple[object, ...]]:
    """Return a row for each stretch of segments of one source that came in alike: a file's sections are one row."""
    rows: list[tuple[object, ...]] = []
    for _, stretch in groupby(manifest.segments, key=_alike):
        records = list(stretch)
        one, tokens = records[0], sum(record.tokens for record in records)
        place = shown_place(one, records[-1])
        rows.append((one.layer, one.scope, one.trust, one.kind, place, len(records), one.form, tokens))
    return rows


def _alike(record: SegmentRecord) -> tuple[str, ...]:
    return (record.layer, record.scope, record.trust, record.kind, record.source.uri, record.form)


def _out(assembled: AssembledContext) -> list[tuple[object, ...]]:
    """Return a row for each source with each reason; sections that stay out for one reason are counted."""
    counted = Counter(_outcome(note) for note in assembled.omissions)
    return [(*row[:2], parts, *row[2:]) for row, parts in counted.items()]


def _outcome(note: OutcomeRecord) -> tuple[str, ...]:
    reason = note.reason.value if note.reason else ""
    return (note.layer.value, plain_uri(note.uri), note.outcome.value, reason, note.detail, plain_uri(note.by))


def prompt_text(assembled: AssembledContext) -> str:
    """Return the whole text, block by block."""
    parts = [f"--- /tools/{n}  {tool['name']}\n{tool['description']}" for n, tool in enumerate(assembled.tools)]
    parts += [f"--- /system/{n}\n{block['text']}" for n, block in enumerate(assembled.system)]
    for position, message in enumerate(assembled.messages):
        for number, block in enumerate(message["content"]):
            text = block["text"] if block["type"] == "text" else str(jsonable(block))
            parts.append(f"--- /messages/{position}/content/{number}  {message['role']} {block['type']}\n{text}")
    return "\n".join(parts)


def list_text(heads: Sequence[AssemblyHead]) -> str:
    """Return assemblies in rows."""
    rows = [
        (h.manifest_id, h.run_id, h.created_at[:19], h.task_id or "-", h.attempt or "-", h.role, h.turn, h.tokens)
        for h in heads
    ]
    return table(("assembly", "run", "at", "task", "attempt", "role", "turn", "tokens"), rows)
