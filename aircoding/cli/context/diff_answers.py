"""A difference between two prompts as text for a terminal, and its words as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aircoding.audit.word_changes import Stretch
from aircoding.cli.context.places import shown_place, shown_section
from aircoding.cli.output import table

if TYPE_CHECKING:
    from aircoding.audit.differences import Changed, Difference, TextChange
    from aircoding.records.manifest import OutcomeRecord, SegmentRecord

__all__ = ["ToldText", "diff_text", "stat_text", "texts_document"]

_CONTEXT_LINES = 1
_MOST_LINES = 40
"""Lines that are shown of one segment unless all words are asked for."""
_BAR_CHARS = 30
_DIGEST_CHARS = 64


def diff_text(difference: Difference, texts: Sequence[TextChange] = (), *, whole: bool = False) -> str:
    """Return a difference by segment, with the words of those that changed below each: `[-old-]{+new+}`."""
    if difference.empty:
        return "no difference in content"
    of = {_name(one): one for one in texts}
    lines = [f"{name}: {_brief(before)} -> {_brief(after)}" for name, before, after in difference.facts]
    for mark, records in (("+", difference.added), ("-", difference.removed)):
        for record in records:
            lines.append(f"{mark} {record.layer} {shown_place(record)} ({record.tokens} tokens)")
            lines += _words(of.get((mark, record.segment_id)), whole=whole)
    for change in difference.changed:
        before, after = change.before, change.after
        lines.append(
            f"~ {after.layer} {shown_place(after)}: {before.form} {before.source.text_digest[:8]}"
            f" -> {after.form} {after.source.text_digest[:8]}"
        )
        lines += _words(of.get(("~", after.segment_id)), whole=whole)
    lines += [f"> {one.after.layer} {shown_place(one.after)}: {_moved(one)}" for one in difference.moved]
    for old, new in difference.outcomes:
        some = new or old
        if some is not None:
            lines.append(f"! {some.layer} {shown_section(some.segment_id)}: {_state(old)} -> {_state(new)}")
    return "\n".join([*lines, *_conflicts(difference), *_layers(difference), _shared(difference)])


def stat_text(difference: Difference) -> str:
    """Return the tokens that each segment gained or lost, and those of each layer before and after."""
    if difference.empty:
        return "no difference in content"
    rows = [("+", record, 0, record.tokens) for record in difference.added]
    rows += [("-", record, record.tokens, 0) for record in difference.removed]
    rows += [("~", one.after, one.before.tokens, one.after.tokens) for one in difference.changed]
    rows += [(">", one.after, one.before.tokens, one.after.tokens) for one in difference.moved]
    most = max((abs(after - before) for _, _, before, after in rows), default=0) or 1
    segments = table(
        ("", "layer", "source", "before", "after", "tokens"),
        [
            (mark, record.layer, shown_place(record), before, after, _bar(after - before, most))
            for mark, record, before, after in rows
        ],
    )
    layers = table(
        ("layer", "before", "after"),
        [(layer, before, after) for layer, (before, after) in difference.layer_tokens.items() if before or after],
    )
    counts = (
        f"{len(difference.added)} added, {len(difference.removed)} removed, {len(difference.changed)} changed, "
        f"{len(difference.moved)} moved; {len(difference.outcomes)} outcomes differ"
    )
    parts = [segments] if rows else []
    return "\n\n".join([*parts, layers, "\n".join([counts, *_conflicts(difference), _shared(difference)])])


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldText:
    """The words of one segment, by its id in each of the two prompts (None: it is not in there), in parts in order."""

    before: str | None
    after: str | None
    parts: tuple[Stretch, ...]


def texts_document(texts: Sequence[TextChange]) -> tuple[ToldText, ...]:
    """Return the words in their JSON form."""
    return tuple(
        ToldText(
            before=one.before.segment_id if one.before is not None else None,
            after=one.after.segment_id if one.after is not None else None,
            parts=one.parts,
        )
        for one in texts
    )


def _brief(value: str) -> str:
    """Return a value; of a digest its beginning."""
    return value[:12] if len(value) == _DIGEST_CHARS else value


def _name(one: TextChange) -> tuple[str, str]:
    if one.before is not None and one.after is not None:
        return "~", one.after.segment_id
    record: SegmentRecord | None = one.after or one.before
    return "+" if one.after is not None else "-", record.segment_id if record is not None else ""


def _words(one: TextChange | None, *, whole: bool) -> list[str]:
    if one is None:
        return []
    lines = list(_shown(one.parts))
    if not whole and len(lines) > _MOST_LINES:
        lines = [*lines[:_MOST_LINES], f"… {len(lines) - _MOST_LINES} more lines: --words shows all"]
    return [f"    {line}".rstrip() for line in lines]


def _shown(parts: Sequence[Stretch]) -> Iterator[str]:
    """Yield the lines that hold a change, with a line around each; `…` stands for what is the same between."""
    lines: list[tuple[bool, str]] = [(False, "")]
    for part in parts:
        changed = part.kind != "same"
        for number, piece in enumerate(part.text.split("\n")):
            if number:
                lines.append((False, ""))
            touched, line = lines[-1]
            feeds = number < part.text.count("\n")
            lines[-1] = (touched or (changed and bool(piece or feeds)), line + _marked(part.kind, piece))
    if not lines[-1][1]:
        lines.pop()
    near = {
        other
        for place, (touched, _) in enumerate(lines)
        if touched
        for other in range(place - _CONTEXT_LINES, place + _CONTEXT_LINES + 1)
    }
    last = -1
    for place, (_, line) in enumerate(lines):
        if place in near:
            if place > last + 1:
                yield "…"
            yield line
            last = place
    if 0 <= last < len(lines) - 1:
        yield "…"


def _marked(kind: str, piece: str) -> str:
    if not piece:
        return ""
    return {"removed": f"[-{piece}-]", "added": f"{{+{piece}+}}"}.get(kind, piece)


def _moved(one: Changed) -> str:
    before, after = one.before, one.after
    if (before.layer, before.scope) != (after.layer, after.scope):
        return f"moved from {before.layer}, scope {before.scope}, to {after.layer}, scope {after.scope}"
    if before.source.uri != after.source.uri:
        return f"the same text stood in {shown_place(before)}"
    return "moved: it stands in another order"


def _conflicts(difference: Difference) -> Iterator[str]:
    yield from (f"! conflict {one} appeared" for one in difference.conflicts_added)
    yield from (f"! conflict {one} is gone" for one in difference.conflicts_removed)
    for old, new in difference.conflicts_changed:
        winner = f", for {new.winner}" if new.winner and new.winner != old.winner else ""
        yield f"! conflict {new.conflict_id}: {old.state} -> {new.state}{winner}"


def _layers(difference: Difference) -> Iterator[str]:
    changed = [
        f"{layer} {before} -> {after}" for layer, (before, after) in difference.layer_tokens.items() if before != after
    ]
    if changed:
        yield f"tokens: {', '.join(changed)}"


def _shared(difference: Difference) -> str:
    return f"shared prefix up to: {difference.shared_marks[-1] if difference.shared_marks else 'nothing'}"


def _state(note: OutcomeRecord | None) -> str:
    if note is None:
        return "not considered"
    return f"{note.outcome.value} ({note.reason.value})" if note.reason else note.outcome.value


def _bar(tokens: int, most: int) -> str:
    sign = "+" if tokens > 0 else "-"
    length = max(1, round(_BAR_CHARS * abs(tokens) / most)) if tokens else 0
    return f"{tokens:+d} {sign * length}".rstrip()
