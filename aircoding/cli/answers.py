"""Answers about prompts as text for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from aircoding.cli.conflict_words import holds, reason
from aircoding.cli.output import table
from aircoding.records.jsonable import jsonable
from aircoding.records.layers import OutcomeKind

if TYPE_CHECKING:
    from aircoding.app.contexts import Replay
    from aircoding.audit.differences import Difference
    from aircoding.audit.questions import Consideration, Place, Witness
    from aircoding.records.manifest import AssembledContext, AssemblyHead, OutcomeRecord, SegmentRecord

__all__ = ["context_document", "diff_text", "list_text", "prompt_text", "replay_text", "show_text"]
__all__ += ["who_saw_text", "why_not_text", "why_text"]


def context_document(assembled: AssembledContext) -> Any:
    """Return the JSON form of an assembly (schema `assembled-context.json`)."""
    first = {"canonical_format": assembled.canonical_format}
    return {**first, **{key: value for key, value in jsonable(assembled).items() if key not in first}}


def _plain(uri: str) -> str:
    return uri.removeprefix("project:")


def _where(record: SegmentRecord) -> str:
    source = record.source
    if source.start_line is None:
        return _plain(source.uri)
    return f"{_plain(source.uri)}:{source.start_line}-{source.end_line}"


def show_text(assembled: AssembledContext, *, exact_tokens: int | None = None) -> str:
    """Return an assembly in brief: size, what is in by layer, what is out, marks, conflicts."""
    manifest = assembled.manifest
    head = (
        f"{manifest.manifest_id}  {manifest.role}  task {manifest.task_id or '-'}  turn {manifest.turn}"
        f"  {_size(assembled, exact_tokens)} tokens of {manifest.budget.window}\n"
        f"digest {manifest.digest}\n\n"
    )
    rows = [
        (record.layer, record.scope, record.trust, record.kind, _where(record), record.form, record.tokens)
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
    return (note.layer.value, _plain(note.uri), note.outcome.value, reason, note.detail, _plain(note.by))


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


def why_text(text: str, places: Sequence[Place]) -> str:
    """Return where a text stands and the chain that let it in."""
    if not places:
        return f"no recorded prompt holds {text!r}"
    lines = []
    for place in places:
        lines.append(
            f"{place.manifest_id}  task {place.task_id or '-'}  {place.role}, turn {place.turn}  {place.block}"
        )
        lines.append(f"  | {place.line.strip()[:160]}")
        record = place.segment
        if record is None:
            lines.append("  layout: a heading or separator of the prompt itself")
            continue
        rule = f", rule {record.rule_id}" if record.rule_id else ""
        lines.append(f"  {record.layer} {record.scope} {record.kind}, from {_where(record)}{rule}")
        lines.append(f"  let in by {_plain(record.selected_by)}, as {record.form}, trust {record.trust}")
    return "\n".join(lines)


def why_not_text(subject: str, found: Sequence[Consideration]) -> str:
    """Return each time that a subject was considered, and what would change the outcome."""
    if not found:
        return (
            f"{subject} was never considered.\n"
            "A worker sees a file when it is a rule file of a known kind, stands in the plan, is named in a task's\n"
            "`reads`, or is read with a tool. Check the path, or name it in one of these."
        )
    lines = []
    for one in found:
        note = one.outcome
        reason = f" ({note.reason.value})" if note.reason else ""
        who = f"{one.manifest_id}  task {one.task_id or '-'}  {one.role}"
        lines.append(f"{who}: {_plain(note.uri)} was {note.outcome.value}{reason}")
        if note.outcome is OutcomeKind.INCLUDED:
            lines.append(f"  it was included, by {_plain(note.by)}")
            continue
        lines.append(f"  why: {note.detail}")
        lines.append(f"  decided at: {_plain(note.by)}")
        lines.append(f"  to change it: {one.remedy}")
    return "\n".join(lines)


def who_saw_text(subject: str, witnesses: Sequence[Witness]) -> str:
    """Return who had a subject in a prompt and who did not."""
    if not witnesses:
        return "no recorded prompt matches"
    if not any(one.saw or one.missed for one in witnesses):
        return f"{subject} was never considered for any of {len(witnesses)} workers: check the name"
    saw = [one for one in witnesses if one.saw is not None]
    lines = [f"{subject}: seen by {len(saw)} of {len(witnesses)}", ""]
    rows = []
    for one in witnesses:
        if one.saw is not None:
            how = f"{_where(one.saw)} ({one.saw.form}, {one.saw.source.digest[:8]}), by {one.saw.selected_by}"
            if one.left_out:
                whole = one.sections_seen + len(one.left_out)
                how = f"{one.sections_seen} of {whole} sections; not {'; not '.join(map(_left_out, one.left_out))}"
        elif one.missed is not None:
            how = f"{one.missed.outcome.reason.value if one.missed.outcome.reason else ''}: {one.missed.outcome.detail}"
        else:
            how = "never considered"
        saw_it = "NO" if one.saw is None else "in part" if one.left_out else "yes"
        rows.append((one.task_id or "-", one.role, saw_it, how))
    return "\n".join(lines) + table(("task", "role", "saw it", "how, or why not"), rows)


def _left_out(one: Consideration) -> str:
    note = one.outcome
    reason = note.reason.value if note.reason else note.outcome.value
    return f"{_section(note.segment_id)} ({reason}: {note.detail})"


def _section(segment_id: str) -> str:
    """Return a segment's source and section as a person would write them."""
    return _plain(segment_id.partition(":")[2].rpartition("@")[0])


def diff_text(difference: Difference) -> str:
    """Return a difference, by segment."""
    if difference.empty:
        return "no difference in content"
    lines = [f"+ {record.layer} {_where(record)} ({record.tokens} tokens)" for record in difference.added]
    lines += [f"- {record.layer} {_where(record)} ({record.tokens} tokens)" for record in difference.removed]
    for change in difference.changed:
        before, after = change.before, change.after
        lines.append(
            f"~ {after.layer} {_where(after)}: {before.form} {before.source.text_digest[:8]}"
            f" -> {after.form} {after.source.text_digest[:8]}"
        )
    for old, new in difference.outcomes:
        some = new or old
        if some is not None:
            lines.append(f"! {some.layer} {_section(some.segment_id)}: {_state(old)} -> {_state(new)}")
    lines += [f"! conflict {one} appeared" for one in difference.conflicts_added]
    lines += [f"! conflict {one} is gone" for one in difference.conflicts_removed]
    lines.append(f"shared prefix up to: {difference.shared_marks[-1] if difference.shared_marks else 'nothing'}")
    return "\n".join(lines)


def _state(note: OutcomeRecord | None) -> str:
    if note is None:
        return "not considered"
    return f"{note.outcome.value} ({note.reason.value})" if note.reason else note.outcome.value


def replay_text(replays: Sequence[Replay]) -> str:
    """Return whether rebuilt requests equal the recorded ones."""
    equal = sum(1 for one in replays if one.equal)
    lines = [f"{one.manifest_id}  {'equal' if one.equal else 'DIFFERENT'}  {one.digest}" for one in replays]
    return "\n".join([*lines, f"{equal} of {len(replays)} equal to the recorded digest"])
