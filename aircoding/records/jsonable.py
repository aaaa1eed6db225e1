"""Turn frozen values into plain JSON values; the way back is the edge's business (it validates)."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from enum import Enum
from functools import cache
from typing import Any

__all__ = ["jsonable"]


_PLAIN = frozenset({str, int, float, bool, type(None)})
"""Kinds that are JSON as they are; asked first, since nearly every value is one."""


@cache
def _field_names(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(kind) if field.metadata.get("json", True))


def jsonable(value: Any) -> Any:
    """Return `value` as dicts, lists, strings, numbers, booleans and None.

    Dataclasses become objects with their fields in written order, without those whose `metadata` says
    `{"json": False}`. Enums become their value, tuples and sets lists (sets sorted). Keys of mappings become their
    string.

    Raises:
        TypeError: a value of another kind stands inside.
    """
    kind = type(value)
    if kind in _PLAIN:
        return value
    if kind is tuple or kind is list:
        return [item if type(item) in _PLAIN else jsonable(item) for item in value]
    if kind is dict:
        return {
            key if type(key) is str else str(jsonable(key)): item if type(item) in _PLAIN else jsonable(item)
            for key, item in value.items()
        }
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return {str(jsonable(key)): jsonable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [jsonable(item) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted(jsonable(item) for item in value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {name: jsonable(getattr(value, name)) for name in _field_names(type(value))}
    raise TypeError(f"{type(value).__name__} has no JSON form")
