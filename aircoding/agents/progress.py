"""Whether a session gets on: what its tool calls brought that was not there before; pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from aircoding.records.calls import ToolCall, ToolRecord
from aircoding.records.digests import canonical_json

__all__ = ["idle_calls"]

_COMMANDS = frozenset({"shell"})
"""Tools whose failure is news as good as success: a test that now fails in another way."""

_CHANCE = re.compile(
    r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?|\d{6,}"
    r"|\b\d+(?:\.\d+)?\s?(?:ns|us|\u00b5s|ms|s|sec|seconds?|minutes?)\b|\b\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?\b|\b0x[0-9a-f]+\b",
    re.IGNORECASE,
)
"""What differs between two runs of the same command though nothing else did: times, addresses, and numbers of six and
more digits (a clock in nanoseconds, a process, a chance name)."""

_INPUT_CHARS = 80
_NAMED_CALLS = 3


def idle_calls(records: Iterable[ToolRecord], *, before_turn: int, idle_turns: int) -> str | None:
    """Return what a session that makes no progress keeps calling; None while it gets on.

    Progress of a turn is a file state that the session had neither read nor written before, a worktree that a command
    left as it never was before, a path that it reads for the first time, or a call whose result it had not seen before
    for that input. What fails without touching anything (a refusal, a wrong input) is none; a failing command is, the
    first time that it fails so. A turn without a tool call counts as one without progress.

    Args:
        records: the session's tool calls in order.
        before_turn: the turn that comes next; later calls are not looked at.
        idle_turns: how many turns in a row before it must have been without progress.
    """
    first_idle_turn = before_turn - idle_turns
    if first_idle_turn < 1:
        return None
    states: set[tuple[str, str]] = set()
    results: set[tuple[str, bytes, str]] = set()
    idle: list[ToolCall] = []
    for record in records:
        if record.call.turn >= before_turn or record.result is None:
            continue
        new = _is_new(record, states, results)
        if record.call.turn < first_idle_turn:
            continue
        if new:
            return None
        idle.append(record.call)
    return _named(idle)


def _is_new(record: ToolRecord, states: set[tuple[str, str]], results: set[tuple[str, bytes, str]]) -> bool:
    """Whether a call brought something new, which is then known."""
    call, result = record.call, record.result
    if result is None:
        return False
    found = {*result.read_digests.items(), *result.written_digests.items()}
    if result.tree_digest is not None:
        found.add(("", result.tree_digest))
    new_states = found - states
    states |= new_states
    said = (call.name, canonical_json(call.input), _CHANCE.sub("~", result.text))
    new_result = said not in results
    results.add(said)
    if new_states:
        return True
    if result.written_digests or (result.is_error and call.name not in _COMMANDS):
        return False
    return new_result


def _named(calls: Sequence[ToolCall]) -> str:
    """Name the calls that came most often."""
    counts = Counter(f"{call.name} {_short(call)}" for call in calls)
    if not counts:
        return "no tool call"
    named = [text if times == 1 else f"{text} ({times} times)" for text, times in counts.most_common(_NAMED_CALLS)]
    more = len(counts) - len(named)
    return "; ".join(named) + (f"; and {more} more" if more else "")


def _short(call: ToolCall) -> str:
    text = canonical_json(call.input).decode("utf-8")
    return text if len(text) <= _INPUT_CHARS else f"{text[:_INPUT_CHARS]}..."
