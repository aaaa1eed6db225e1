"""Rules on cache marks: how many, in which order, and where none may stand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from aircoding.providers.thinking import THINKING_KINDS
from aircoding.providers.validation_request import Fault, Place, Request, as_blocks

__all__ = ["MARK_RULES", "MAX_MARKS"]

MAX_MARKS = 4
"""Most marks of one request, a top-level one included (Anthropic prompt caching, 2026-08)."""

_LIVES = ("5m", "1h")


def _marks(request: Request) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the marks in the order in which they are worked through: tools, system, messages, top level."""
    for number, tool in enumerate(request.tools):
        if _mark(tool):
            yield f"/tools/{number}", _mark(tool)
    for number, block in enumerate(request.system):
        if _mark(block):
            yield f"/system/{number}", _mark(block)
    for place in request.places:
        if _mark(place.value):
            yield place.pointer, _mark(place.value)
    if _mark(request.body):
        yield "", _mark(request.body)


def _mark(node: Mapping[str, Any]) -> Mapping[str, Any]:
    mark = node.get("cache_control")
    return mark if isinstance(mark, Mapping) else {}


def _ttl(mark: Mapping[str, Any]) -> str:
    return str(mark.get("ttl") or "5m")


def _not_too_many(request: Request) -> Iterator[Fault]:
    marks = list(_marks(request))
    if len(marks) > MAX_MARKS:
        text = f"A maximum of {MAX_MARKS} blocks with cache_control may be provided. Found {len(marks)}."
        yield Fault(marks[MAX_MARKS][0], "marks", text)


def _well_formed(request: Request) -> Iterator[Fault]:
    for pointer, mark in _marks(request):
        where = pointer.strip("/").replace("/", ".")
        if mark.get("type") != "ephemeral":  # (u)
            yield Fault(pointer, "marks", f"{where}.cache_control.type: Input should be 'ephemeral'")
        if _ttl(mark) not in _LIVES:  # (u)
            yield Fault(pointer, "marks", f"{where}.cache_control.ttl: Input should be '5m' or '1h'")


def _longer_first(request: Request) -> Iterator[Fault]:
    """The top level's mark comes last: the API sets it at the last block that can carry one."""
    shorter_seen = False
    for pointer, mark in _marks(request):
        if _ttl(mark) == "1h" and shorter_seen:
            where = f"{pointer.strip('/').replace('/', '.')}.cache_control".strip(".")
            text = (
                f"{where}.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' "
                "cache_control block. Note that blocks are processed in the following order: `tools`, `system`, "
                "`messages`."
            )
            yield Fault(pointer, "mark_order", text)
        shorter_seen = shorter_seen or _ttl(mark) == "5m"


def _top_level_agrees(request: Request) -> Iterator[Fault]:
    top = _mark(request.body)
    target = next((_mark(place.value) for place in reversed(list(request.places)) if _can_carry(place)), {})
    if top and target and _ttl(top) != _ttl(target):
        text = (
            f"Top-level cache_control has ttl='{_ttl(top)}' but the target block already has cache_control with "
            f"ttl='{_ttl(target)}'"
        )
        yield Fault("/cache_control", "mark_order", text)


def _can_carry(place: Place) -> bool:
    value = place.value
    return value["type"] not in THINKING_KINDS and (value["type"] != "text" or bool(value.get("text")))


def _not_where_forbidden(request: Request) -> Iterator[Fault]:
    for place in request.places:
        yield from _forbidden_in(place)


def _forbidden_in(place: Place) -> Iterator[Fault]:
    kind = place.value["type"]
    if _mark(place.value) and kind == "text" and not place.value.get("text"):
        text = f"{place.dotted}.text: cache_control cannot be set for empty text blocks"
        yield Fault(place.pointer, "marks", text)
    if kind == "tool_result":
        for number, part in enumerate(as_blocks(place.value.get("content"))):
            if _mark(part):
                text = f"{place.dotted}.tool_result.content.{number}.cache_control: Extra inputs are not permitted"
                yield Fault(f"{place.pointer}/content/{number}", "marks", text)


MARK_RULES = (_not_too_many, _well_formed, _longer_first, _top_level_agrees, _not_where_forbidden)
