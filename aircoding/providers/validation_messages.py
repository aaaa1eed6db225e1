"""Rules on the conversation: who follows whom, calls and their results, what a block may hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import zip_longest

from aircoding.providers.validation_request import Fault, Place, Request, as_blocks

__all__ = ["MESSAGE_RULES"]

_THINKING = ("thinking", "redacted_thinking")


@dataclass(slots=True)
class _Run:
    """Neighbouring messages of one role; the API joins them before it looks at calls and results."""

    role: str
    places: list[Place] = field(default_factory=list)
    last_message: int = 0


def _runs(request: Request) -> list[_Run]:
    """System turns are left out: they stand between turns and answer nothing."""
    runs: list[_Run] = []
    for number, message in enumerate(request.messages):
        role = str(message["role"])
        if role == "system":
            continue
        if not runs or runs[-1].role != role:
            runs.append(_Run(role))
        runs[-1].last_message = number
        for index, block in enumerate(as_blocks(message["content"])):
            runs[-1].places.append(Place(number, index, role, block))
    return runs


def _every_call_answered(request: Request) -> Iterator[Fault]:
    runs = _runs(request)
    for run, following in zip_longest(runs, runs[1:]):
        if run.role != "assistant":
            continue
        called = [str(place.value.get("id")) for place in run.places if place.value["type"] == "tool_use"]
        answered = {place.value.get("tool_use_id") for place in _results(following)}
        missing = [tool_use_id for tool_use_id in called if tool_use_id not in answered]
        if missing:
            text = (
                f"messages.{run.last_message}: `tool_use` ids were found without `tool_result` blocks immediately "
                f"after: {', '.join(missing)}. Each `tool_use` block must have a corresponding `tool_result` block "
                "in the next message."
            )
            yield Fault(f"/messages/{run.last_message}", "pairing", text)


def _every_result_asked_for(request: Request) -> Iterator[Fault]:
    before: _Run | None = None
    for run in _runs(request):
        asked = {place.value.get("id") for place in before.places} if before is not None else set()
        for place in _results(run):
            tool_use_id = place.value.get("tool_use_id")
            if run.role != "user" or tool_use_id not in asked:  # (u)
                text = (
                    f"{place.dotted}: unexpected `tool_use_id` found in `tool_result` blocks: {tool_use_id}. Each "
                    "`tool_result` block must have a corresponding `tool_use` block in the previous message."
                )
                yield Fault(place.pointer, "pairing", text)
        yield from _answered_twice(run)
        before = run


def _answered_twice(run: _Run) -> Iterator[Fault]:  # (u)
    counts = Counter(str(place.value.get("tool_use_id")) for place in _results(run))
    for tool_use_id, count in counts.items():
        if count > 1:
            text = (
                f"messages.{run.last_message}: each `tool_use` must have a single result. Found multiple `tool_result` "
                f"blocks with id: {tool_use_id}"
            )
            yield Fault(f"/messages/{run.last_message}", "pairing", text)


def _results(run: _Run | None) -> list[Place]:
    return [place for place in run.places if place.value["type"] == "tool_result"] if run is not None else []


def _results_first(request: Request) -> Iterator[Fault]:  # (u)
    for number, message in enumerate(request.messages):
        kinds = [block["type"] for block in as_blocks(message["content"])]
        if "tool_result" not in kinds:
            continue
        last = len(kinds) - 1 - kinds[::-1].index("tool_result")
        if any(kind != "tool_result" for kind in kinds[:last]):
            text = f"messages.{number}.content: `tool_result` blocks must come before other content"
            yield Fault(f"/messages/{number}/content", "pairing", text)


def _ids_unique(request: Request) -> Iterator[Fault]:
    seen: set[str] = set()
    for place in request.places():
        if place.value["type"] == "tool_use":
            tool_use_id = str(place.value.get("id"))
            if tool_use_id in seen:
                yield Fault(place.pointer, "tool_use_id", "messages: `tool_use` ids must be unique")
            seen.add(tool_use_id)


def _text_not_empty(request: Request) -> Iterator[Fault]:
    for place in request.places():
        if place.value["type"] == "text" and not place.value.get("text"):
            yield Fault(place.pointer, "empty_text", "messages: text content blocks must be non-empty")
    for number, block in enumerate(request.system):
        if block.get("type") == "text" and not block.get("text"):
            yield Fault(f"/system/{number}", "empty_text", "system: text content blocks must be non-empty")


def _message_not_empty(request: Request) -> Iterator[Fault]:  # (u)
    last = len(request.messages) - 1
    for number, message in enumerate(request.messages):
        if not as_blocks(message["content"]) and not (number == last and message["role"] == "assistant"):
            text = (
                f"messages.{number}: all messages must have non-empty content except for the optional final "
                "assistant message"
            )
            yield Fault(f"/messages/{number}/content", "empty_message", text)


def _errors_are_text(request: Request) -> Iterator[Fault]:
    for place in request.places():
        if place.value["type"] != "tool_result" or not place.value.get("is_error"):
            continue
        if any(part.get("type") != "text" for part in as_blocks(place.value.get("content"))):
            yield Fault(place.pointer, "error_content", "all content must be type 'text' if 'is_error' is true")


def _system_turns(request: Request) -> Iterator[Fault]:
    """A system turn follows a user turn and is last or followed by an assistant; neighbours are joined."""
    roles = [str(message["role"]) for message in request.messages]
    for number, role in enumerate(roles):
        if role != "system":
            continue
        pointer = f"/messages/{number}"
        if not request.row.system_turns:
            yield Fault(pointer, "system_turn", f"messages.{number}: role 'system' is not supported on this model")
        before = next((other for other in reversed(roles[:number]) if other != "system"), None)
        after = next((other for other in roles[number + 1 :] if other != "system"), None)
        if before != "user" or after == "user":  # (u)
            text = (
                f"messages.{number}: a 'system' message must follow a 'user' message and must be last or followed by "
                "an 'assistant' message"
            )
            yield Fault(pointer, "system_turn", text)
        if any(block["type"] != "text" for block in as_blocks(request.messages[number]["content"])):  # (u)
            yield Fault(pointer, "system_turn", f"messages.{number}: a 'system' message may only hold text")


def _prefill(request: Request) -> Iterator[Fault]:
    if not request.messages or request.messages[-1]["role"] != "assistant":
        return
    number = len(request.messages) - 1
    if not request.row.prefill:  # (u)
        text = (  # (u)
            "This model does not support assistant message prefill. The conversation must end with a user message."
        )
        yield Fault(f"/messages/{number}", "prefill", text)
        return
    blocks = as_blocks(request.messages[-1]["content"])
    final = blocks[-1].get("text", "") if blocks and blocks[-1]["type"] == "text" else ""
    if final != final.rstrip():  # (u)
        text = f"messages.{number}: final assistant content cannot end with trailing whitespace"
        yield Fault(f"/messages/{number}", "prefill", text)


def _thinking_first(request: Request) -> Iterator[Fault]:
    thinking = request.body.get("thinking")
    if not isinstance(thinking, Mapping) or thinking.get("type") != "enabled":
        return
    last = next((run for run in reversed(_runs(request)) if run.role == "assistant"), None)
    if last is None or not any(place.value["type"] == "tool_use" for place in last.places):
        return
    first = last.places[0]
    if first.value["type"] not in _THINKING:
        text = (
            f"{first.dotted}: Expected `thinking` or `redacted_thinking`, but found `{first.value['type']}`. When "
            "`thinking` is enabled, a final `assistant` message must start with a thinking block (preceding the "
            "lastmost set of `tool_use` and `tool_result` blocks)."
        )
        yield Fault(first.pointer, "thinking_first", text)


def _current_version(request: Request) -> Iterator[Fault]:
    if not request.is_current:
        return
    for place in request.places():
        if place.role == "assistant" and place.value["type"] == "document":  # (u)
            yield Fault(
                place.pointer, "document", f"{place.dotted}: `document` blocks are not allowed in assistant messages"
            )
        if place.role == "user" and place.value["type"] == "text" and place.value.get("citations"):  # (u)
            yield Fault(place.pointer, "citations", f"{place.dotted}.text.citations: Extra inputs are not permitted")


MESSAGE_RULES = (
    _every_call_answered,
    _every_result_asked_for,
    _results_first,
    _ids_unique,
    _text_not_empty,
    _message_not_empty,
    _errors_are_text,
    _system_turns,
    _prefill,
    _thinking_first,
    _current_version,
)
