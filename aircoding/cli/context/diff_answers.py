"""A difference between two prompts as text for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aircoding.cli.context.places import shown_place, shown_section

if TYPE_CHECKING:
    from aircoding.audit.differences import Difference
    from aircoding.records.manifest import OutcomeRecord

__all__ = ["diff_text"]


def diff_text(difference: Difference) -> str:
    """Return a difference, by segment."""
    if difference.empty:
        return "no difference in content"
    lines = [f"+ {record.layer} {shown_place(record)} ({record.tokens} tokens)" for record in difference.added]
    lines += [f"- {record.layer} {shown_place(record)} ({record.tokens} tokens)" for record in difference.removed]
    for change in difference.changed:
        before, after = change.before, change.after
        lines.append(
            f"~ {after.layer} {shown_place(after)}: {before.form} {before.source.text_digest[:8]}"
            f" -> {after.form} {after.source.text_digest[:8]}"
        )
    for old, new in difference.outcomes:
        some = new or old
        if some is not None:
            lines.append(f"! {some.layer} {shown_section(some.segment_id)}: {_state(old)} -> {_state(new)}")
    lines += [f"! conflict {one} appeared" for one in difference.conflicts_added]
    lines += [f"! conflict {one} is gone" for one in difference.conflicts_removed]
    lines.append(f"shared prefix up to: {difference.shared_marks[-1] if difference.shared_marks else 'nothing'}")
    return "\n".join(lines)


def _state(note: OutcomeRecord | None) -> str:
    if note is None:
        return "not considered"
    return f"{note.outcome.value} ({note.reason.value})" if note.reason else note.outcome.value
