"""What prompts left out, and the contradictions in them, as text for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aircoding.audit.verdicts import holds
from aircoding.cli.output import table, visible_line
from aircoding.records.source_names import plain_uri
from aircoding.records.words import counted

if TYPE_CHECKING:
    from aircoding.app.questions.omissions import MetConflicts, Omission, Omissions

__all__ = ["conflicts_text", "omissions_text"]

_MOST_TASKS = 4


def omissions_text(found: Omissions) -> str:
    """Return omissions, each with its reason and what would let it in."""
    if not found.total:
        return "nothing was left out"
    lines = [line for one in found.omissions for line in _omission(one)]
    return "\n".join([*lines, f"{counted(found.total, 'reason')} in all, {found.total_tokens} tokens"])


def _omission(one: Omission) -> list[str]:
    group = one.left_out
    note = group.example
    parts = f", {group.candidates} parts" if group.candidates > 1 else ""
    why = f"{note.outcome}: {note.reason}" if note.reason and note.reason.value != note.outcome.value else note.outcome
    more = f" (and {counted(group.details - 1, 'other wording')})" if group.details > 1 else ""
    lines = [
        f"{group.tokens} tokens  {note.layer} {visible_line(plain_uri(note.uri))}{parts}  {why}",
        f"    {counted(group.workers, 'worker')}: {_names(group.roles)}; tasks {_names(group.tasks)}",
        f"    {visible_line(note.detail) or 'no detail'}{more}",
        f"    decided at {visible_line(plain_uri(note.by))}",
    ]
    return [*lines, f"    to change it: {visible_line(one.remedy)}"] if one.remedy else lines


def conflicts_text(found: MetConflicts) -> str:
    """Return conflicts in rows."""
    if not found.total:
        return "no contradiction stood in a prompt"
    rows = [
        (
            one.conflict.conflict_id,
            one.sessions,
            one.open_sessions,
            _names(one.tasks),
            holds(one.conflict),
            one.conflict.detail,
        )
        for one in found.conflicts
    ]
    return table(("conflict", "workers", "open", "tasks", "what holds", "what contradicts what"), rows)


def _names(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - _MOST_TASKS} more" if len(names) > _MOST_TASKS else ""
    return (" ".join(names[:_MOST_TASKS]) + more) or "-"
