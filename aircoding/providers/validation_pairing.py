"""Rules on tool calls and their results: each call is answered once, at once, and nothing else is answered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, zip_longest

from aircoding.providers.validation_request import Fault, Place, Request, as_blocks

__all__ = ["PAIRING_RULES", "Run", "runs"]


@dataclass(slots=True)
class Run:
    """Neighbouring messages of one role; the API joins them before it looks at calls and results."""

    role: str
    places: list[Place] = field(default_factory=list)
    last_message: int = 0


def runs(request: Request) -> list[Run]:
    """Return the runs of a conversation; system turns stand between turns, answer nothing, and are left out."""
    found: list[Run] = []
    places = iter(request.places)
    for number, message in enumerate(request.messages):
        role = str(message["role"])
        own = list(islice(places, len(as_blocks(message["content"]))))
        if role == "system":
            continue
        if not found or found[-1].role != role:
            found.append(Run(role))
        found[-1].last_message = number
        found[-1].places += own
    return found


def _every_call_answered(request: Request) -> Iterator[Fault]:
    joined = runs(request)
    for run, following in zip_longest(joined, joined[1:]):
        if run.role != "assistant":
            continue
        called = [str(place.value.get("id")) for place in run.places if place.value["type"] == "tool_use"]
        answered = {place.value.get("tool_use_id") for place in _results(following)}
        missing = [tool_use_id for tool_use_id in called if tool_use_id not in answered]
        if missing:
            text = _unanswered(run.last_message, missing)
            yield Fault(f"/messages/{run.last_message}", "pairing", text)


def _every_result_asked_for(request: Request) -> Iterator[Fault]:
    before: Run | None = None
    for run in runs(request):
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


def _answered_twice(run: Run) -> Iterator[Fault]:
    results = _results(run)
    if len(results) < 2:
        return
    counts = Counter(str(place.value.get("tool_use_id")) for place in results)
    for tool_use_id, count in counts.items():
        if count > 1:
            second = [place for place in results if place.value.get("tool_use_id") == tool_use_id][1]
            text = (
                f"{second.dotted}: each tool_use must have a single result. Found multiple `tool_result` blocks with "
                f"id: {tool_use_id}"
            )
            yield Fault(second.pointer, "pairing", text)


def _results(run: Run | None) -> list[Place]:
    return [place for place in run.places if place.value["type"] == "tool_result"] if run is not None else []


def _results_first(request: Request) -> Iterator[Fault]:
    """Results that stand behind other content answer nothing, in the API's eyes (handle-tool-calls, 2026-08)."""
    for number, message in enumerate(request.messages):
        blocks = as_blocks(message["content"])
        kinds = [block["type"] for block in blocks]
        if message["role"] != "user" or "tool_result" not in kinds:
            continue
        last = len(kinds) - 1 - kinds[::-1].index("tool_result")
        if any(kind != "tool_result" for kind in kinds[:last]):
            first = next(index for index, kind in enumerate(kinds) if kind != "tool_result")
            late = [str(b.get("tool_use_id")) for b in blocks[first:] if b["type"] == "tool_result"]
            yield Fault(f"/messages/{number}/content", "pairing", _unanswered(max(number - 1, 0), late))


def _unanswered(message: int, tool_use_ids: Sequence[str]) -> str:
    return (
        f"messages.{message}: `tool_use` ids were found without `tool_result` blocks immediately after: "
        f"{', '.join(tool_use_ids)}. Each `tool_use` block must have a corresponding `tool_result` block in the next "
        "message."
    )


def _ids_unique(request: Request) -> Iterator[Fault]:
    seen: set[str] = set()
    for place in request.places:
        if place.value["type"] == "tool_use":
            tool_use_id = str(place.value.get("id"))
            if tool_use_id in seen:
                yield Fault(place.pointer, "tool_use_id", "messages: `tool_use` ids must be unique")
            seen.add(tool_use_id)


PAIRING_RULES = (_every_call_answered, _every_result_asked_for, _results_first, _ids_unique)
