"""JSON pointers (RFC 6901) into canonical requests; pure."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

__all__ = ["absolute", "relative", "replace_at", "resolve", "tokens"]


def tokens(pointer: str) -> tuple[str, ...]:
    """Return the steps of a pointer; the empty pointer has none."""
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:])


@lru_cache(maxsize=8192)
def relative(pointer: str) -> tuple[str, str]:
    """Split a pointer into its top-level node (`/messages/3`) and the rest (`/content/0/text`)."""
    parts = pointer.split("/", 3)
    return "/".join(parts[:3]), f"/{parts[3]}" if len(parts) > 3 else ""


def absolute(node: str, rest: str) -> str:
    """Join what `relative` split."""
    return node + rest


def resolve(value: Any, pointer: str) -> Any:
    """Return what a pointer names.

    Raises:
        KeyError: there is nothing.
    """
    for step in tokens(pointer):
        if isinstance(value, dict) and step in value:
            value = value[step]
        elif isinstance(value, list) and _is_index(step) and int(step) < len(value):
            value = value[int(step)]
        else:
            raise KeyError(pointer)
    return value


def _is_index(step: str) -> bool:
    """Whether a step is an index as RFC 6901 writes it (`007` would be a second name for `7`)."""
    return step.isascii() and step.isdecimal() and (step == "0" or step[0] != "0")


def replace_at(value: Any, pointer: str, new: Any) -> Any:
    """Put `new` where `pointer` points, in place, and return the whole (`new` itself for the empty pointer).

    Raises:
        KeyError: there is nothing.
    """
    steps = tokens(pointer)
    if not steps:
        return new
    parent = resolve(value, pointer[: pointer.rindex("/")])
    resolve(value, pointer)
    if isinstance(parent, list):
        parent[int(steps[-1])] = new
    else:
        parent[steps[-1]] = new
    return value
