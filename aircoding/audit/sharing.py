"""Write a value so that what recurs stands once, and read it back; pure.

A long string stands as `{"$text": DIGEST}`, and a value that a caller shares as `{"$part": DIGEST}`. Parts hold texts
and no parts, so that reading one takes no more than what it names.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aircoding.records.digests import canonical_json, sha256_bytes, sha256_text
from aircoding.records.ids import Digest

__all__ = ["PART", "TEXT", "Shared", "UnknownReferenceError", "expand"]

TEXT = "$text"
PART = "$part"
_LITERAL = "$literal"
"""Stands around an object of somebody else's that looks like a reference of ours."""
_LONG_CHARS = 160


class UnknownReferenceError(ValueError):
    """A value names a text or a part that is not there, or would grow beyond what is allowed."""


class Shared:
    """Collects texts and parts, and hands each out once, to `keep_text` and `keep_part`."""

    def __init__(self, keep_text: Callable[[Digest, str], None], keep_part: Callable[[Digest, Any], None]) -> None:
        self._keep_text, self._keep_part = keep_text, keep_part
        self._seen: set[Digest] = set()

    def text(self, text: str) -> Digest:
        """Keep a text whatever its length, and return its digest."""
        digest = sha256_text(text)
        if digest not in self._seen:
            self._seen.add(digest)
            self._keep_text(digest, text)
        return digest

    def plain(self, value: Any) -> Any:
        """Return a JSON value with its long strings by reference."""
        if isinstance(value, str):
            return {TEXT: self.text(value)} if len(value) >= _LONG_CHARS else value
        if isinstance(value, dict):
            whole = {name: self.plain(item) for name, item in value.items()}
            return {_LITERAL: whole} if len(value) == 1 and next(iter(value)) in (TEXT, PART, _LITERAL) else whole
        if isinstance(value, (list, tuple)):
            return [self.plain(item) for item in value]
        return value

    def part(self, value: Any) -> dict[str, Digest]:
        """Return a reference to a JSON value, which is kept once."""
        encoded = self.plain(value)
        digest = sha256_bytes(canonical_json(encoded))
        if digest not in self._seen:
            self._seen.add(digest)
            self._keep_part(digest, encoded)
        return {PART: digest}


def expand(value: Any, *, text: Callable[[str], str], part: Callable[[str], Any], most_chars: int) -> Any:
    """Return the value that `Shared` wrote.

    Args:
        value: what stands in the file.
        text: returns a text by its digest; raises KeyError.
        part: returns a part by its digest; raises KeyError.
        most_chars: how much text the value may name in all, and how many values it may hold.

    Raises:
        UnknownReferenceError: it names what is not there, or more than is allowed.
    """
    room = _Room(most_chars)

    def walk(item: Any, *, inside: bool = False) -> Any:
        room.take(1)
        if isinstance(item, list):
            return [walk(one, inside=inside) for one in item]
        if not isinstance(item, dict):
            return item
        if len(item) == 1:
            ((name, inner),) = item.items()
            if name == TEXT:
                found = _found(text, inner)
                room.take(len(found))
                return found
            if name == PART:
                if inside:
                    raise UnknownReferenceError("a part names a part")
                return walk(_found(part, inner), inside=True)
            if name == _LITERAL and isinstance(inner, dict):
                return {key: walk(one, inside=inside) for key, one in inner.items()}
        return {key: walk(one, inside=inside) for key, one in item.items()}

    return walk(value)


class _Room:
    """Counts down how much a value may still name."""

    def __init__(self, left: int) -> None:
        self._left = left

    def take(self, count: int) -> None:
        self._left -= count
        if self._left < 0:
            raise UnknownReferenceError("it names more than a bundle may hold")


def _found(look: Callable[[str], Any], digest: Any) -> Any:
    try:
        return look(digest)
    except (KeyError, TypeError):
        raise UnknownReferenceError(f"it names {str(digest)[:80]}, which is not in the bundle") from None
