"""Why not and who saw, as text for a terminal."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from aircoding.app.questions.tool_reads import READ_TOOL
from aircoding.cli.context.place_answers import unread
from aircoding.cli.context.places import shown_place, shown_section
from aircoding.cli.output import table
from aircoding.records.layers import OutcomeKind
from aircoding.records.source_names import plain_uri
from aircoding.records.words import counted

if TYPE_CHECKING:
    from aircoding.app.questions.tool_reads import ToolReads
    from aircoding.app.questions.why import WhoSaw, WhyNot
    from aircoding.audit.absences import Absence
    from aircoding.audit.considerations import Consideration
    from aircoding.audit.witnesses import Witness
    from aircoding.records.manifest import SegmentRecord
    from aircoding.records.seen import SeenSegment

__all__ = ["who_saw_text", "why_not_text"]


def why_not_text(subject: str, found: WhyNot) -> str:
    """Return each time that a subject was considered, and what would change the outcome."""
    if found.absence is not None:
        read = _reads(found.reads)
        return "\n".join(_absence(subject, found.absence) if not read else [f"{subject} was no candidate.", *read])
    if not found.considerations and (found.unchecked or found.runs_without_texts):
        return f"{subject!r} is no name that is on record, and no text that is kept holds it{unread(found)}"
    alike = groupby(found.considerations, key=_alike)
    lines = [line for _, some in alike for line in _consideration(list(some), found)]
    if found.by_text:
        lines.insert(0, f"{subject!r} is no name that is on record; these candidates hold it as text:")
    return "\n".join([*lines, *_reads(found.reads)]) + unread(found)


def _reads(reads: ToolReads) -> list[str]:
    """Return who asked for the file with a tool; the answer to such a call is a part of the worker's conversation."""
    if not reads.total:
        return []
    head = f"it was asked for with {READ_TOOL}, {counted(reads.total, 'time')}; what came back is in those prompts:"
    more = ["  …"] if reads.total > len(reads.calls) else []
    return [head, *map(_call, reads.calls), *more]


def _call(one: SeenSegment) -> str:
    return f"  {one.manifest_id}  run {one.run_id}  task {one.task_id or '-'}  {one.role}, since turn {one.turn}"


def _alike(one: Consideration) -> tuple[object, ...]:
    """Return what sections of one file have in common that are told as one."""
    note = one.outcome
    why = (note.uri, note.outcome, note.reason, note.by, note.detail)
    return (*why, one.sessions, one.runs, one.variants, one.manifest_id)


def _absence(subject: str, absence: Absence) -> list[str]:
    lines = [
        f"{subject} was never considered.",
        f"  why: {absence.why}",
        f"  to change it: {absence.remedy}",
        f"  where: {absence.place}",
    ]
    return [*lines, f"  named almost so: {', '.join(absence.near)}"] if absence.near else lines


def _consideration(some: list[Consideration], found: WhyNot) -> list[str]:
    one, note = some[0], some[0].outcome
    reason = f" ({note.reason.value})" if note.reason else ""
    task = f"task {one.task_id}  " if one.task_id else ""
    who = f"{'now' if found.now else one.manifest_id}  {task}{one.role}"
    what = shown_section(note.segment_id) if len(some) == 1 else f"{plain_uri(note.uri)}, {len(some)} parts,"
    lines = [f"{who}: {what} was {note.outcome.value}{reason}"]
    if one.sessions > 1 or (found.sessions > 1 and one.runs > 1):
        others = f", with {one.variants} different details or texts" if one.variants > 1 else ""
        times = f"{counted(one.sessions, 'session')} of {counted(one.runs, 'run')}"
        lines.append(f"  so in {times}{others}; this is the newest")
    if note.outcome is OutcomeKind.INCLUDED:
        lines.append(f"  it was included, by {plain_uri(note.by)}")
        return [*lines, f"  {note.detail}"] if note.detail else lines
    return [
        *lines,
        f"  why: {note.detail}",
        f"  decided at: {plain_uri(note.by)}",
        f"  to change it: {one.remedy}",
    ]


def who_saw_text(subject: str, found: WhoSaw) -> str:
    """Return who had a subject in a prompt and who did not."""
    count = found.summary
    if not count.workers:
        return "no recorded prompt matches"
    read = _reads(found.reads)
    if count.never == count.workers and read:
        return "\n".join([f"{subject} was no candidate for any of {count.workers} workers", *read])
    if count.never == count.workers:
        return f"{subject} was never considered for any of {count.workers} workers: check the name"
    headings = ["run", "task", "role", "saw it", "how, or why not"]
    rows = [[one.run_id, one.task_id or "-", one.role, _verdict(one), _how(one)] for one in found.witnesses]
    if found.run_id is not None:
        headings, rows = headings[1:], [row[1:] for row in rows]
    shown = table(headings, rows) if rows else "no worker is among these"
    return "\n".join([f"{subject}: {_summary(found)}", "", shown, *(["", *read] if read else [])])


def _summary(found: WhoSaw) -> str:
    count = found.summary
    roles = ", ".join(f"{one.role} {one.seen} of {one.workers}" for one in found.roles)
    parts = [f"seen by {count.seen + count.part} of {count.workers}" + (f" ({roles})" if len(found.roles) > 1 else "")]
    if count.part:
        parts.append(f"in part by {count.part} of these")
    if count.missed:
        reasons = ", ".join(f"{reason} {number}" for reason, number in count.reasons.items())
        parts.append(f"not by {count.missed} ({reasons})")
    if count.other:
        parts.append(f"another version by {count.other}")
    if count.never:
        parts.append(f"never considered for {count.never}")
    if count.stale:
        what = "a text whose file is gone" if found.gone else "a text that is not the file's now"
        parts.append(f"{count.stale} hold {what}")
    if found.not_compared:
        parts.append(f"{found.not_compared} not compared with the files here: their runs are from elsewhere")
    return "; ".join(parts)


def _verdict(one: Witness) -> str:
    words = {"seen": "yes", "part": "in part", "missed": "NO", "other": "NO", "never": "NO"}
    stale = ", file gone" if one.now == "gone" else ", stale"
    return words[one.verdict] + (stale if one.stale else "")


def _how(one: Witness) -> str:
    if one.saw is not None and one.left_out:
        whole = one.sections_seen + len(one.left_out)
        return f"{one.sections_seen} of {whole} parts; not {'; not '.join(map(_left_out, one.left_out))}"
    if one.saw is not None:
        version = _version(one.saw) if one.newest is None else _version(one.newest)
        around = "; its file was changed, this text was not" if one.now == "around" else ""
        return f"{shown_place(one.saw)} ({one.saw.form}, {version}), by {plain_uri(one.saw.selected_by)}{around}"
    if one.missed is not None:
        note = one.missed.outcome
        reason = note.reason.value if note.reason else note.outcome.value
        return f"{reason}: {note.detail}, at {plain_uri(note.by)}"
    if one.newest is not None:
        return f"another version: {shown_place(one.newest)} ({one.newest.form}, {_version(one.newest)})"
    return "never considered"


def _version(record: SegmentRecord) -> str:
    return record.source.digest[:8]


def _left_out(one: Consideration) -> str:
    note = one.outcome
    reason = note.reason.value if note.reason else note.outcome.value
    return f"{shown_section(note.segment_id)} ({reason}: {note.detail})"
