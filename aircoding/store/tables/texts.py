"""Texts, each once."""

from __future__ import annotations

from sqlmodel import SQLModel

from aircoding.store.columns import data, hex_digest, moment, number, strict, word

__all__ = ["CODECS", "Text"]

CODECS = ("raw", "zlib")
"""Grows at its end alone."""


class Text(SQLModel, table=True):
    """A text by the sha256 of its UTF-8 bytes. `codec` is `raw` or `zlib`, `size_bytes` the size uncompressed.

    What names it once for each turn names its number, what names it once for each session its digest.

    `body` is null where the text is not kept (`store.bodies = digests`, or its time has come): the
    digest stays, so that what refers to it still says which bytes they were.
    """

    __tablename__ = "texts"
    __table_args__ = strict()

    text_row: int | None = number(default=None, primary_key=True)
    digest: str = hex_digest(unique=True, min_length=64, max_length=64)
    codec: str = word(CODECS)
    size_bytes: int = number(ge=0)
    body: bytes | None = data(default=None)
    stored_at: str = moment()
