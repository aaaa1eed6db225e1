"""Read JSON back into the frozen values, validated; one cached adapter per kind."""

from __future__ import annotations

from collections.abc import Hashable
from functools import cache
from typing import Any, TypeVar, cast

from pydantic import TypeAdapter, ValidationError

from aircoding.errors import StoreError

__all__ = ["decode"]

Value = TypeVar("Value")


@cache
def _adapter(kind: Hashable) -> TypeAdapter[Any]:
    return TypeAdapter(cast("Any", kind))


def decode(kind: type[Value], value: Any, *, what: str) -> Value:
    """Return `value` (plain JSON values) as a `kind`.

    Args:
        kind: a frozen dataclass of `records`, or a tuple or mapping of them.
        value: what `jsonable` gave.
        what: names the row, for the error.

    Raises:
        StoreError: the stored value is not one; a damaged row, or one of a newer version.
    """
    try:
        found: Value = _adapter(cast("Hashable", kind)).validate_python(value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(step) for step in first["loc"])
        raise StoreError(
            f"{what} cannot be read: {place or 'the value'}: {first['msg']}",
            hint="The row is damaged or was written by a newer version; see `aircoding doctor`.",
            code="store.damaged",
        ) from None
    return found
