"""Why, why not and who saw, as text for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from aircoding.cli.context.places import plain_uri, shown_place, shown_section
from aircoding.cli.output import table
from aircoding.records.layers import OutcomeKind

if TYPE_CHECKING:
    from aircoding.audit.considerations import Consideration
    from aircoding.audit.places import Place
    from aircoding.audit.witnesses import Witness

__all__ = ["who_saw_text", "why_not_text", "why_text"]


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
        lines.append(f"  {record.layer} {record.scope} {record.kind}, from {shown_place(record)}{rule}")
        lines.append(f"  let in by {plain_uri(record.selected_by)}, as {record.form}, trust {record.trust}")
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
        lines.append(f"{who}: {plain_uri(note.uri)} was {note.outcome.value}{reason}")
        if note.outcome is OutcomeKind.INCLUDED:
            lines.append(f"  it was included, by {plain_uri(note.by)}")
            continue
        lines.append(f"  why: {note.detail}")
        lines.append(f"  decided at: {plain_uri(note.by)}")
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
            how = f"{shown_place(one.saw)} ({one.saw.form}, {one.saw.source.digest[:8]}), by {one.saw.selected_by}"
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
    return f"{shown_section(note.segment_id)} ({reason}: {note.detail})"
