"""The impact of a change as text for a terminal, and the words that its other forms share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from aircoding.cli.output import visible_line
from aircoding.records.source_names import lines_of

if TYPE_CHECKING:
    from aircoding.app.changed_files import ChangedFile
    from aircoding.app.impact import Impact
    from aircoding.audit.impact import ContextChange, Effect, Reader
    from aircoding.audit.views import Part

__all__ = ["change_lines", "idle_files", "impact_text", "named", "place_of_part", "reader_words", "signed", "summary"]

_SHOWN_DIFF = 40
_SHOWN_NAMES = 8


def impact_text(impact: Impact) -> str:
    """Return each change with its lines and who sees it, then the files that reach nobody."""
    lines = [f"{impact.base} -> {impact.head}: {summary(impact)}"]
    for number, effect in enumerate(impact.effects, 1):
        lines += ["", f"{number}. {signed(effect.change.token_change)} tokens"]
        lines += [f"   {visible_line(line)}" for line in change_lines(effect.change, most=_SHOWN_DIFF)]
        lines += [f"   {visible_line(line)}" for line in reader_words(effect, impact)]
    idle = idle_files(impact)
    if idle:
        lines += ["", "changed, and seen by nobody who was compared:"]
        lines += [visible_line(f"  {one.path} ({one.status})") for one in idle]
    unsure = [one.path for one in impact.files if one.state == "unsure"]
    if unsure:
        lines += ["", visible_line(f"of these it cannot be told which of the changes they make: {named(unsure)}")]
    lines += [visible_line(f"note: {one}") for one in impact.notes]
    return "\n".join(lines)


def summary(impact: Impact) -> str:
    """Return how many changes there are, and what was compared, on one line."""
    files = _count(len(impact.files), "changed file")
    compared = [f"{impact.path_count:,} paths", _count(impact.task_count, "task"), ", ".join(impact.viewers)]
    if not impact.roles:
        del compared[1]
    tasks = [f"new tasks: {named(impact.tasks_added)}"] if impact.tasks_added else []
    tasks += [f"tasks that are gone: {named(impact.tasks_removed)}"] if impact.tasks_removed else []
    changes = _count(len(impact.effects), "different change") if impact.effects else "nobody sees a difference"
    return "; ".join([files, f"{changes} (compared: {'; '.join(compared)})", *tasks])


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' if number != 1 else ''}"


def signed(number: int) -> str:
    """Return a number with its sign."""
    return f"{number:+,}" if number else "0"


def idle_files(impact: Impact) -> list[ChangedFile]:
    """Return the changed files that prompts are made from and that changed nobody's."""
    return [one for one in impact.files if one.source and one.state == "reaches_nobody"]


def change_lines(change: ContextChange, *, most: int) -> Iterator[str]:
    """Yield what is added, removed, changed and moved, a changed text with its lines."""
    for part in change.added:
        yield f"+ {place_of_part(part)} ({part.tokens:,} tokens)"
        yield from _cut([f"    +{line}" for line in part.text.strip("\n").split("\n")], most)
    for one in change.removed:
        why = f": {one.left_out.reason or one.left_out.outcome}, {one.left_out.detail}" if one.left_out else ""
        yield f"- {place_of_part(one.part)} ({one.part.tokens:,} tokens){why}"
    for both in change.changed:
        form = "" if both.before.form == both.after.form else f", {both.before.form} -> {both.after.form}"
        yield f"~ {place_of_part(both.after)} ({both.before.tokens:,} -> {both.after.tokens:,} tokens{form})"
        yield from _cut([f"    {line}" for line in both.diff], most)
    for part in change.moved:
        yield f"^ {place_of_part(part)} stands elsewhere"
    for conflict in change.conflicts_added:
        yield f"! a new contradiction: {conflict}"
    for conflict in change.conflicts_removed:
        yield f"! a contradiction is gone: {conflict}"


def _cut(lines: list[str], most: int) -> list[str]:
    return lines if len(lines) <= most else [*lines[:most], f"    and {len(lines) - most} more lines"]


def place_of_part(part: Part) -> str:
    """Return which text it is: its layer, and its source with lines or section."""
    return f"{part.layer} {lines_of(part.uri, part.start_line, part.end_line)}".strip()


def reader_words(effect: Effect, impact: Impact) -> list[str]:
    """Return who has a change, a line for all roles or tools that have it for the same tasks or paths."""
    alike: dict[tuple[str, tuple[str, ...]], list[Reader]] = {}
    for reader in effect.readers:
        alike.setdefault((reader.kind, reader.subjects), []).append(reader)
    return [f"seen by {_readers(readers, impact)}" for readers in alike.values()]


def _readers(readers: Sequence[Reader], impact: Impact) -> str:
    first, who = readers[0], ", ".join(reader.viewer for reader in readers)
    if first.kind == "role":
        return f"{who} without a task"
    largest = max(readers, key=lambda reader: reader.tokens_after)
    tokens = f"{largest.tokens_before:,} -> {largest.tokens_after:,} tokens"
    if first.kind == "task":
        return f"{who} in {named(first.shown)} ({tokens})"
    of = f"{len(first.subjects):,} of {impact.path_count:,} paths"
    return f"{who} for {of}: {named(first.shown)} ({tokens})"


def named(names: Sequence[str]) -> str:
    """Return the first names of a list, and how many more there are."""
    more = f" and {len(names) - _SHOWN_NAMES} more" if len(names) > _SHOWN_NAMES else ""
    return f"{', '.join(names[:_SHOWN_NAMES])}{more}"
