"""Values that stand shorter in a row than they read: digests, times, words of a list, places in a request."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from sqlalchemy import BigInteger, Dialect, Integer, LargeBinary, Text
from sqlalchemy.types import TypeDecorator

from aircoding.errors import InternalError, StoreError

__all__ = ["Flag", "HexDigest", "Moment", "Places", "Usual", "Word"]

_HEX = re.compile(r"[0-9a-f]{64}|[0-9a-f]{24}")
_DIGEST_BYTES = frozenset({32, 12})
_OTHER = b"\xff"
"""No UTF-8 holds this byte."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MARKS = (
    ("/messages/", "<"),
    ("/system/", "|"),
    ("/content/", ">"),
    ("/text", "^"),
    ('",null,null]', '~"]'),
)
"""Parts of places in a request, and what stands for each. Never changed: what was written is read by them."""
_RESERVED = "<|>^~"


class Flag(TypeDecorator[bool]):
    """A boolean as 0 or 1 on both databases (STRICT tables of SQLite have no boolean)."""

    impl = Integer
    cache_ok = True

    def process_bind_param(self, value: bool | None, dialect: Dialect) -> int | None:  # noqa: ARG002 - the signature is SQLAlchemy's
        """Return 0 or 1."""
        return None if value is None else int(value)

    def process_result_value(self, value: int | None, dialect: Dialect) -> bool | None:  # noqa: ARG002 - the signature is SQLAlchemy's
        """Return a bool."""
        return None if value is None else bool(value)


class HexDigest(TypeDecorator[str]):
    """Lower-case hexadecimal digests (64 or 24 digits) as their bytes, half as long; anything else as marked UTF-8."""

    impl = LargeBinary
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> bytes | None:  # noqa: ARG002 - the signature is SQLAlchemy's
        """Return the bytes."""
        if value is None or _HEX.fullmatch(value):
            return None if value is None else bytes.fromhex(value)
        other = _OTHER + value.encode("utf-8")
        return _OTHER + other if len(other) in _DIGEST_BYTES else other

    def process_result_value(self, value: bytes | None, dialect: Dialect) -> str | None:  # noqa: ARG002 - the signature is SQLAlchemy's
        """Return the digits."""
        if value is None:
            return None
        kept = bytes(value)
        return kept.hex() if len(kept) in _DIGEST_BYTES else kept.lstrip(_OTHER).decode("utf-8")


class Moment(TypeDecorator[str]):
    """A time (RFC 3339) as microseconds since 1970; it reads back in UTC with six digits of the second."""

    impl = BigInteger().with_variant(Integer(), "sqlite")
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> int | None:  # noqa: ARG002 - the signature is SQLAlchemy's
        """Return the number.

        Raises:
            InternalError: it is no time.
        """
        if value is None:
            return None
        try:
            at = datetime.fromisoformat(value)
        except ValueError:
            raise InternalError(f"{value!r} is no time (RFC 3339).") from None
        return ((at if at.tzinfo is not None else at.replace(tzinfo=UTC)) - _EPOCH) // timedelta(microseconds=1)

    def process_result_value(self, value: int | None, dialect: Dialect) -> str | None:  # noqa: ARG002 - the signature is SQLAlchemy's
        """Return the time."""
        if value is None:
            return None
        return (_EPOCH + timedelta(microseconds=value)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


class Word(TypeDecorator[str]):
    """A word of a list as its place in it, which SQLite keeps in no byte (the first two) or in one.

    A list grows at its end alone: a row says the place.
    """

    impl = Integer
    cache_ok = True

    def __init__(self, words: tuple[str, ...]) -> None:
        super().__init__()
        self.words = words

    def process_bind_param(self, value: str | None, dialect: Dialect) -> int | None:  # noqa: ARG002 - the signature is SQLAlchemy's
        """Return the place.

        Raises:
            InternalError: it is no word of the list.
        """
        if value is None:
            return None
        if value not in self.words:
            raise InternalError(f"{value!r} is none of {', '.join(self.words)}.")
        return self.words.index(value)

    def process_result_value(self, value: int | None, dialect: Dialect) -> str | None:  # noqa: ARG002 - the signature is SQLAlchemy's
        """Return the word.

        Raises:
            StoreError: a later program wrote it.
        """
        if value is None:
            return None
        if not 0 <= value < len(self.words):
            raise StoreError(
                f"A row holds the word {value} of a list that has {len(self.words)}.",
                hint="The row is damaged or was written by a newer version; see `aircoding doctor`.",
                code="store.damaged",
            )
        return self.words[value]


class Usual(TypeDecorator[str]):
    """A text that nearly always is the same one, which stands as null. Not to be compared with that one in SQL."""

    impl = Text
    cache_ok = True

    def __init__(self, usual: str) -> None:
        super().__init__()
        self.usual = usual

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:  # noqa: ARG002 - the signature is SQLAlchemy's
        """Return None for the usual one."""
        return None if value == self.usual else value

    def process_result_value(self, value: str | None, dialect: Dialect) -> str:  # noqa: ARG002 - the signature is SQLAlchemy's
        """Return the text."""
        return self.usual if value is None else value


class Places(TypeDecorator[str]):
    """JSON of places in a request (pointer, start, end), with marks: `/messages/4/content/0/text` stands as `<4>0^`.

    It stays JSON. A character of a mark that stood in it by itself is escaped, so that all comes back.
    """

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:  # noqa: ARG002 - the signature is SQLAlchemy's
        """Return it with marks."""
        if value is None:
            return None
        for character in _RESERVED:
            value = value.replace(character, f"\\u{ord(character):04x}")
        for part, mark in _MARKS:
            value = value.replace(part, mark)
        return value

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:  # noqa: ARG002 - the signature is SQLAlchemy's
        """Return it with whole pointers."""
        if value is None:
            return None
        for part, mark in _MARKS:
            value = value.replace(mark, part)
        return value
