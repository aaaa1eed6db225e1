"""Texts, each once."""

from __future__ import annotations

from sqlmodel import SQLModel

from aircoding.store.columns import data, hex_digest, number, strict, text

__all__ = ["Text"]


class Text(SQLModel, table=True):
    """A text by the sha256 of its UTF-8 bytes. `codec` is `raw` or `zlib`, `size_bytes` the size uncompressed.

    `body` is null where the text is not kept (`store.bodies = digests`, or its time has come): the
    digest stays, so that what refers to it still says which bytes they were.
    """

    __tablename__ = "texts"
    __table_args__ = strict()

    digest: str = hex_digest(primary_key=True, min_length=64, max_length=64)
    codec: str = text()
    size_bytes: int = number(ge=0)
    body: bytes | None = data(default=None)
    stored_at: str = text()
