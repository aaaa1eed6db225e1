"""What a person is told when what must be kept does not fit."""

from __future__ import annotations

from aircoding.errors import UsageError
from aircoding.records.manifest import Overflow

__all__ = ["OVERFLOW_CODE", "overflow_error"]

OVERFLOW_CODE = "context.overflow"


def overflow_error(overflow: Overflow) -> UsageError:
    """Return the error: what is needed, what there is, and which segment takes most."""
    largest = f"; the largest is {overflow.largest[0][0]}" if overflow.largest else ""
    return UsageError(
        f"what must be kept needs {overflow.needed_tokens} tokens of {overflow.scope} scope, and"
        f" {overflow.available_tokens} are there{largest}",
        hint="use a model with a larger window, or shorten what is marked `required`",
        code=OVERFLOW_CODE,
    )
