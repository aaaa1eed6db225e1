"""Where a text stands and why, as text for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from aircoding.cli.context.places import shown_place
from aircoding.cli.output import visible_line
from aircoding.records.layers import SegmentKind
from aircoding.records.selections import read_selection
from aircoding.records.source_names import plain_uri
from aircoding.records.words import counted

if TYPE_CHECKING:
    from aircoding.app.questions.why import Why, WhyNot
    from aircoding.audit.origins import Call
    from aircoding.audit.place_groups import PlaceGroup
    from aircoding.audit.places import Place
    from aircoding.records.manifest import SegmentRecord
    from aircoding.records.seen import SeenSegment

__all__ = ["unread", "why_text"]

_MOST_CHARS = 160
_MOST_NAMES = 6
_LAYOUT = "layout: a heading or separator of the prompt itself"


def why_text(text: str, found: Why) -> str:
    """Return where a text stands and the chain that let it in."""
    if not found.total:
        where = "no recorded prompt" if found.run_id is None else f"no prompt of {found.run_id}"
        return f"{where} holds {text!r}{unread(found)}"
    places = f"{counted(found.total, 'place')} in {counted(found.sessions, 'session')}"
    lines = [line for place in found.places for line in _place(place)]
    if found.group_count:
        lines.append(f"{places}, told as {found.group_count}; --all tells each")
        lines += [line for group in found.groups for line in ("", *_group(group))]
    if found.sightings:
        lines.append(f"{places}, the newest first")
        for _, alike in groupby(found.sightings, key=_told_as):
            lines += _sightings(list(alike), found)
    return "\n".join(lines) + unread(found)


def unread(found: Why | WhyNot) -> str:
    """Return what was not looked through, a line each; empty: nothing."""
    said = ""
    if found.unchecked:
        segments = counted(found.unchecked, "segment")
        said += f"\n{segments} were not searched: too many may hold this, or the record has no whole index of words"
        said += " (PostgreSQL has none; `aircoding db prune` finishes one); give more of it, or ask for one run"
    if found.runs_without_texts:
        runs = counted(found.runs_without_texts, "run")
        said += f"\n{runs} could not be looked through: their texts are not kept"
    return said


def _group(group: PlaceGroup) -> list[str]:
    place, record = group.first, group.first.segment
    lines = [f"  | {line[:_MOST_CHARS]}" for line in group.lines[:2]]
    if len(group.lines) > 2:
        lines.append(f"  | … and {counted(len(group.lines) - 2, 'line')} more")
    head = _LAYOUT if record is None else f"{_source(record, place.call)}  ({_what(record)})"
    if record is not None and record.kind not in _BY_ITSELF:
        lines.append(f"  let in by {_selections(group)}{_imported(place)}")
    return [head, *lines, *_prompts(group)]


def _prompts(group: PlaceGroup) -> list[str]:
    place, prompts = group.first, group.manifest_ids
    example = f"{place.manifest_id}, turn {place.turn}, {place.block}"
    workers = "; ".join(f"{role} {_some(tasks)}" for role, tasks in group.workers.items())
    if len(prompts) == 1:
        return [f"  in the prompt of {workers}: {example}"]
    return [f"  in {len(prompts)} prompts of {workers}", f"  such as {example}"]


_BY_ITSELF = frozenset({SegmentKind.MESSAGE, SegmentKind.TOOL_CALL, SegmentKind.TOOL_RESULT})
"""What nothing let in: it is what was said and done."""


def _source(record: SegmentRecord, call: Call | None) -> str:
    """Return where a text comes from, as a person would say it."""
    if call is not None:
        what = "the call" if record.kind is SegmentKind.TOOL_CALL else "the result of"
        return f"{what} `{visible_line(f'{call.tool} {call.about}'.strip())[:_MOST_CHARS]}`"
    rule = f", rule {record.rule_id}" if record.rule_id else ""
    notice = "a notice about " if record.kind is SegmentKind.NOTICE and not _is_of_session(record) else ""
    return f"{notice}{shown_place(record)}{rule}"


def _is_of_session(record: SegmentRecord) -> bool:
    return record.source.uri.startswith("air:session/")


def _what(record: SegmentRecord) -> str:
    return f"{record.layer} {record.scope} {record.kind}, {record.form}, trust {record.trust}"


def _selections(group: PlaceGroup) -> str:
    """Return what let a text in; of what is of one kind (paths, profiles) the kind is said once."""
    kinds: dict[str, list[str]] = {}
    for words in group.selections:
        kind, _, what = _selection(words).partition(" ")
        kinds.setdefault(kind, []).append(what)
    return "; ".join(f"{kind} {_some(list(dict.fromkeys(names)))}".strip() for kind, names in kinds.items())


def _selection(words: str) -> str:
    """Return what let a segment in, without its importer, which the chain names."""
    if words == "epoch":
        return "news while the session went on"
    found = read_selection(words)
    return f"{found.by} {found.what}".strip()


def _imported(place: Place) -> str:
    return "".join(
        f", {'imported by' if number == 0 else 'that by'} {plain_uri(uri)}"
        for number, uri in enumerate(place.importers)
    )


def _some(names: Sequence[str]) -> str:
    if len(names) <= _MOST_NAMES:
        return ", ".join(names)
    return f"{', '.join(names[: _MOST_NAMES - 1])} … {names[-1]} ({len(names)})"


def _place(place: Place) -> list[str]:
    head = f"{place.manifest_id}  task {place.task_id or '-'}  {place.role}, turn {place.turn}  {place.block}"
    line = f"  | {place.line.strip()[:_MOST_CHARS]}"
    record = place.segment
    if record is None:
        return [head, line, f"  {_LAYOUT}"]
    by = _selection(record.selected_by)
    return [head, line, f"  {_source(record, place.call)}  ({_what(record)})", f"  let in by {by}{_imported(place)}"]


def _told_as(seen: SeenSegment) -> tuple[object, ...]:
    record = seen.record
    source = record.source
    return (source.uri, source.start_line, source.end_line, source.text_digest, record.form, record.selected_by)


def _sightings(alike: Sequence[SeenSegment], found: Why) -> list[str]:
    """Return segments of one source that came into several prompts, one after the other, as one."""
    seen = alike[0]
    blocks = ", ".join(dict.fromkeys(span.block for span in seen.record.spans))
    who = f"{seen.manifest_id}  run {seen.run_id}  task {seen.task_id or '-'}  {seen.role}"
    more = [f"  and so in {counted(len(alike) - 1, 'older prompt')} on this page"] if len(alike) > 1 else []
    call = found.calls.get(seen.record.segment_id)
    return [
        f"{who}, since turn {seen.turn}  {blocks}",
        f"  from {_source(seen.record, call)}  ({_what(seen.record)})",
        f"  let in by {plain_uri(seen.record.selected_by)}",
        *more,
    ]
