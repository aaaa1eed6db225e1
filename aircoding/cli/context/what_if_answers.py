"""What a worker would have seen, as text for a terminal and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from aircoding.cli.context.diff_answers import diff_text
from aircoding.cli.context.places import shown_section
from aircoding.cli.context.show_answers import context_document
from aircoding.cli.output import visible_line
from aircoding.context.manifest import latest_outcomes
from aircoding.records.jsonable import jsonable
from aircoding.records.layers import Scope
from aircoding.records.source_names import plain_uri
from aircoding.records.words import counted

if TYPE_CHECKING:
    from aircoding.app.questions.what_if import TakenIn, WhatIf
    from aircoding.audit.what_if import Overflowed
    from aircoding.records.manifest import AssembledContext, OutcomeRecord

__all__ = ["what_if_document", "what_if_text"]

_MOST_NAMES = 6


def what_if_document(answer: WhatIf) -> Any:
    """Return the JSON form: both requests as `assembled-context.json` has them, and what differs."""
    contexts = {name: getattr(answer, name) for name in ("recorded", "unchanged", "would_be")}
    plain = {name: jsonable(getattr(answer, name)) for name in type(answer).__slots__ if name not in contexts}
    return plain | {name: value if value is None else context_document(value) for name, value in contexts.items()}


def what_if_text(answer: WhatIf) -> str:
    """Return what was changed, how it was assembled, and what differs from what the worker saw."""
    manifest = answer.recorded.manifest
    lines = [
        f"{manifest.manifest_id}  {manifest.role}  task {manifest.task_id or '-'}  turn {manifest.turn}: what if",
        *_removed(answer),
        *(_taken_in(one) for one in answer.taken_in),
        f"  for {visible_line(answer.limits.model)}: {_room(answer)}",
        *_program(answer),
        "",
    ]
    if answer.overflow is not None:
        return "\n".join([*lines, *_overflow(answer.overflow, answer)])
    if answer.would_be is None or answer.difference is None:
        return "\n".join(lines)
    before, after = answer.unchanged.token_estimate.expected, answer.would_be.token_estimate.expected
    fate = _fate(answer.taken_in, answer.would_be)
    return "\n".join([*lines, *fate, f"about {after} tokens instead of {before}", diff_text(answer.difference)])


def _fate(taken_in: Sequence[TakenIn], would_be: AssembledContext) -> list[str]:
    """Return what became of each file that was tried: `no difference` may mean that it would have stayed out."""
    tried = {segment_id for one in taken_in for segment_id in one.segment_ids}
    notes = [note for note in latest_outcomes(would_be.manifest.outcomes) if note.segment_id in tried]
    return list(dict.fromkeys(_became(note) for note in notes))


def _became(note: OutcomeRecord) -> str:
    what = f"{visible_line(plain_uri(note.uri))} would be {note.outcome.value}"
    return f"{what} ({note.reason.value}): {visible_line(note.detail)}" if note.reason else what


def _removed(answer: WhatIf) -> list[str]:
    if not answer.removed:
        return []
    names = [visible_line(shown_section(one)) for one in answer.removed]
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return [f"  without {', '.join(names[:_MOST_NAMES])}{more}"]


def _taken_in(one: TakenIn) -> str:
    instead = "in place of the one that was considered" if one.replaced else "which was not considered"
    parts = counted(len(one.segment_ids), "candidate")
    return (
        f"  with {visible_line(one.file)} as {visible_line(plain_uri(one.uri))}, {instead} (trust {one.trust}, {parts})"
    )


def _room(answer: WhatIf) -> str:
    limits = answer.limits
    return f"a window of {limits.window_tokens} tokens, {limits.max_output_tokens} of them kept for the answer"


def _program(answer: WhatIf) -> list[str]:
    then, turn = answer.recorded.manifest.versions, answer.recorded.manifest.turn
    turns = f"turns {answer.first_turn} to {turn}" if answer.first_turn != turn else f"turn {turn}"
    how = f"assembled again by today's aircoding {answer.now.aircoding} (recorded by {then.aircoding}): {turns}"
    if answer.same_program:
        what = "of the recorded inputs it makes the recorded request, byte for byte"
    else:
        what = (
            "of the recorded inputs it makes another request than the recorded one; compared is with that other one,"
            " so that only the what-if shows"
        )
    lines = [f"{how}; what the model and its tools said stays as recorded", what]
    if answer.now.prompts != then.prompts:
        lines.append("the program's own prompts are others by now; those on record were used")
    return lines


def _overflow(one: Overflowed, answer: WhatIf) -> list[str]:
    over = one.overflow
    what = "the whole request" if over.scope is Scope.TURN else f"what must be kept of {over.scope} scope"
    needs = (
        f"nothing would have been sent: at turn {one.turn} {what} needs {over.needed_tokens} tokens,"
        f" and {over.available_tokens} are there"
    )
    largest = [f"  {tokens} tokens  {visible_line(shown_section(name))}" for name, tokens in over.largest]
    lines = [needs, *(["the largest parts:", *largest] if largest else [])]
    if answer.limits.max_output_tokens >= answer.limits.window_tokens:
        lines.append("the answer alone takes the window: give a smaller --max-output-tokens, or a larger --window")
    return lines
