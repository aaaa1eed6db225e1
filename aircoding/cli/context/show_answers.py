"""Prompts as text for a terminal, and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from aircoding.audit.verdicts import holds, reason
from aircoding.cli.context.places import plain_uri, shown_place
from aircoding.cli.output import table
from aircoding.records.jsonable import jsonable

if TYPE_CHECKING:
    from aircoding.records.manifest import AssembledContext, AssemblyHead, OutcomeRecord

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
    rows = [
        (record.layer, record.scope, record.trust, record.kind, shown_place(record), record.form, record.tokens)
        for record in manifest.segments
    ]
    parts = [head + table(("layer", "scope", "trust", "kind", "source", "form", "tokens"), rows)]
    if assembled.omissions:
        out = [_outcome_row(note) for note in assembled.omissions]
        parts.append("left out or shortened\n\n" + table(("layer", "source", "outcome", "reason", "detail", "by"), out))
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


def _outcome_row(note: OutcomeRecord) -> tuple[str, ...]:
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
