"""Find a recorded assembly by the start of its id."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aircoding.errors import NotFoundError, UsageError

if TYPE_CHECKING:
    from aircoding.store import Store

__all__ = ["full_id"]

_LONGEST = 200
"""Characters; what is longer is no id."""


def full_id(store: Store, given: str) -> str:
    """Return the id of the one assembly whose id begins so.

    Raises:
        NotFoundError: there is none.
        UsageError: there are several.
    """
    found = store.index.manifest_ids(prefix=given, limit=2) if len(given) <= _LONGEST else ()
    if len(found) == 1 or given in found:
        return given if given in found else found[0]
    if found:
        raise UsageError(f"{given} is the start of more than one id", hint="give more of it")
    raise NotFoundError(f"no assembly {given[:_LONGEST]} is on record", hint="`aircoding context list` shows them")
