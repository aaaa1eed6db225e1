"""Texts by their digest, each once, compressed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from sqlalchemy import Connection, bindparam, select

from aircoding.errors import NotFoundError, StoreError
from aircoding.records.digests import sha256_bytes, sha256_text
from aircoding.records.ids import Digest
from aircoding.store.columns import row, rows, table_of
from aircoding.store.database import Database
from aircoding.store.dictionary import deflate, inflate
from aircoding.store.statements import chunks, insert_new
from aircoding.store.tables.texts import Text

__all__ = [
    "TEXTS",
    "TextStore",
    "find_texts",
    "name_texts",
    "put_texts",
    "read_texts",
    "texts_that_start",
    "unpacked",
]

TEXTS = table_of(Text)
_THERE = select(TEXTS.c.digest, TEXTS.c.body.is_not(None)).where(TEXTS.c.digest.in_(bindparam("some", expanding=True)))
_DIGITS = re.compile(r"[0-9a-f]{1,64}")


class TextStore:
    """The blob store (`ports.BlobStore`)."""

    def __init__(self, database: Database, now: Callable[[], str]) -> None:
        self._database = database
        self._now = now

    def put(self, text: str) -> Digest:
        """Store a text and return the sha256 of its UTF-8 bytes.

        Raises:
            StoreError: it has no UTF-8 form (a lone surrogate), or the database cannot do it.
        """
        try:
            digest = sha256_text(text)
        except UnicodeEncodeError as error:
            raise StoreError(
                f"A text cannot be stored: it is not valid Unicode at character {error.start}.",
                hint="Read the file as UTF-8 with replacement before it is stored.",
                code="store.text",
            ) from None
        now = self._now()

        def body(connection: Connection) -> None:
            put_texts(connection, {digest: text}, now)
            # Nothing names it yet: the time says that somebody is about to, so that no prune takes it away.
            connection.execute(TEXTS.update().where(TEXTS.c.digest == digest).values(stored_at=now))

        self._database.write(body)
        return digest

    def get(self, digest: Digest) -> str | None:
        """Return a text, or None when it is not kept."""
        with self._database.read() as connection:
            return find_texts(connection, [digest]).get(digest)

    def kept(self, digests: Iterable[Digest]) -> dict[Digest, str]:
        """Return those of many texts that are kept, by digest; an empty digest names none."""
        with self._database.read() as connection:
            return find_texts(connection, (one for one in dict.fromkeys(digests) if one))


def put_texts(connection: Connection, texts: Mapping[Digest, str], now: str) -> None:
    """Store those texts that are not there yet, in the caller's transaction.

    Args:
        connection: a write transaction.
        texts: by their digest; the caller took it.
        now: when (RFC 3339).
    """
    there: dict[str, bool] = {}
    for some in chunks(sorted(texts)):
        there |= {each[0]: bool(each[1]) for each in connection.execute(_THERE, {"some": some})}
    new = [_row(digest, texts[digest], now) for digest in sorted(texts.keys() - there.keys())]
    insert_new(connection, TEXTS, rows(Text, new))
    for digest in sorted(digest for digest, kept in there.items() if not kept):  # a body that was let go comes back
        value = row(Text, **_row(Digest(digest), texts[Digest(digest)], now))
        which = TEXTS.c.digest == digest
        connection.execute(TEXTS.update().where(which).values(codec=value["codec"], body=value["body"]))


def name_texts(connection: Connection, digests: Iterable[Digest], now: str) -> None:
    """Name texts that are not at hand: their digests stand, their bodies are not kept."""
    values = [{"digest": digest, "codec": "raw", "size_bytes": 0, "stored_at": now} for digest in sorted(set(digests))]
    insert_new(connection, TEXTS, rows(Text, values))


def _row(digest: Digest, text: str, now: str) -> dict[str, object]:
    raw = text.encode("utf-8")
    packed = deflate(raw)
    codec, body = ("zlib", packed) if len(packed) < len(raw) else ("raw", raw)
    return {"digest": digest, "codec": codec, "size_bytes": len(raw), "body": body, "stored_at": now}


def unpacked(digest: str, codec: str, body: bytes) -> str:
    """Return a text from its row.

    Raises:
        StoreError: it is damaged: what is unpacked does not give the digest.
    """
    if codec == "raw":
        return bytes(body).decode("utf-8")
    raw = inflate(bytes(body))
    if sha256_bytes(raw) != digest:
        raise StoreError(
            f"The text {digest} does not give its digest.",
            hint="The database is damaged; restore a backup.",
            code="store.damaged",
        )
    return raw.decode("utf-8")


def find_texts(connection: Connection, digests: Iterable[Digest]) -> dict[Digest, str]:
    """Return those texts that are kept."""
    found: dict[Digest, str] = {}
    for some in chunks(sorted(set(digests))):
        wanted = select(TEXTS.c.digest, TEXTS.c.codec, TEXTS.c.body).where(
            TEXTS.c.digest.in_(some), TEXTS.c.body.is_not(None)
        )
        for digest, codec, body in connection.execute(wanted):
            found[Digest(digest)] = unpacked(digest, codec, body)
    return found


def texts_that_start(connection: Connection, start: str) -> list[str]:
    """Return the texts, as far as they are kept, whose digest starts with these hexadecimal digits."""
    if _DIGITS.fullmatch(start) is None:
        return []
    between = TEXTS.c.digest.between(start.ljust(64, "0"), start.ljust(64, "f"))
    return list(find_texts(connection, connection.execute(select(TEXTS.c.digest).where(between)).scalars()).values())


def read_texts(connection: Connection, digests: Iterable[Digest], *, what: str) -> dict[Digest, str]:
    """Return all of these texts.

    Args:
        connection: any transaction.
        digests: which.
        what: whose texts they are, for the error.

    Raises:
        NotFoundError: one is not kept.
    """
    wanted = set(digests)
    found = find_texts(connection, wanted)
    missing = sorted(wanted - found.keys())
    if missing:
        raise NotFoundError(
            f"{what} cannot be rebuilt: {len(missing)} of its texts are not kept (the first is {missing[0]}).",
            hint="Its segments, digests and outcomes are still there; texts are let go by `store.bodies` and by age.",
            code="not_found.text",
        )
    return found
