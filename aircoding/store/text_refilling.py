"""Make the text index anew, in steps: between two of them others write, and a step that was done stays done.

An index of words cannot forget one text, so once a text went, it is emptied and filled again. What is not in it yet
stands as one number in the file (SQLite's `user_version`), which changes in the transaction of each step:

- 0: nothing, the index is whole;
- `STALE`: it still names what went, and is to be emptied;
- n > 0: the segments from number n on, and all candidates that were left out;
- n < 0: the candidates from outcome -n on.

Who records something meanwhile adds to the index only what the steps have passed already.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from sqlalchemy import ColumnElement, Connection, func, select
from sqlalchemy import text as sql

from aircoding.records.layers import OutcomeKind
from aircoding.store.columns import table_of
from aircoding.store.statements import chunks
from aircoding.store.tables.assemblies import OutcomeRow, SegmentTextRow
from aircoding.store.tables.texts import Text
from aircoding.store.text_index import clear_index, has_index, index_rows
from aircoding.store.texts import texts_that_start, unpacked

__all__ = ["is_whole", "needs_refill", "owe_refill", "refill_step", "takes_candidates", "takes_segments"]

OUTCOMES = table_of(OutcomeRow)
SEGMENT_TEXTS = table_of(SegmentTextRow)
TEXTS = table_of(Text)
STALE = -(2**31)
_NUMBERS_AT_ONCE = 200
"""Segments or outcomes of one step: some hundredths of a second."""


def is_whole(connection: Connection) -> bool:
    """Whether there is an index, and all that is on record is in it."""
    return has_index(connection) and _mark(connection) == 0


def needs_refill(connection: Connection) -> bool:
    """Whether there is an index that is not whole."""
    return has_index(connection) and _mark(connection) != 0


def takes_segments(connection: Connection) -> bool:
    """Whether new segments are to be added to the index by whoever records them."""
    return has_index(connection) and STALE < _mark(connection) <= 0


def takes_candidates(connection: Connection) -> bool:
    """Whether new candidates that were left out are to be added to the index by whoever records them."""
    return is_whole(connection)


def owe_refill(connection: Connection) -> None:
    """Say, in the transaction in which something goes, that the index still names it."""
    if has_index(connection):
        _set_mark(connection, STALE)


def refill_step(connection: Connection) -> bool:
    """Do the next step of a refill that is owed, in the caller's transaction; return whether there are more."""
    mark = _mark(connection) if has_index(connection) else 0
    if mark == 0:
        return False
    if mark == STALE:
        clear_index(connection)
        _set_mark(connection, 1)
        return True
    number = SEGMENT_TEXTS.c.segment if mark > 0 else OUTCOMES.c.outcome_row
    start = connection.execute(select(func.min(number)).where(number >= abs(mark))).scalar()
    if start is None:
        _set_mark(connection, -1 if mark > 0 else 0)
        return mark > 0
    end = start + _NUMBERS_AT_ONCE
    these = number.between(start, end - 1)
    rows = _shown_first(connection, these) if mark > 0 else _left_out_first(connection, these)
    for some in chunks(rows):
        index_rows(connection, some)
    _set_mark(connection, end if mark > 0 else -end)
    return True


def _mark(connection: Connection) -> int:
    return int(connection.execute(sql("PRAGMA user_version")).scalar_one())


def _set_mark(connection: Connection, mark: int) -> None:
    connection.exec_driver_sql(f"PRAGMA user_version={mark:d}")


def _shown_first(connection: Connection, these: ColumnElement[bool]) -> Iterator[tuple[int, str]]:
    """Yield the rows of segments: each with the texts that no segment before it shows."""
    before = SEGMENT_TEXTS.alias("before")
    known = select(before.c.segment).where(
        before.c.text_row == SEGMENT_TEXTS.c.text_row, before.c.segment < SEGMENT_TEXTS.c.segment
    )
    found = connection.execute(
        select(SEGMENT_TEXTS.c.segment, TEXTS.c.digest, TEXTS.c.codec, TEXTS.c.body)
        .distinct()
        .join(TEXTS, TEXTS.c.text_row == SEGMENT_TEXTS.c.text_row)
        .where(these, TEXTS.c.body.is_not(None), ~known.exists())
        .order_by(SEGMENT_TEXTS.c.segment)
    )
    for number, some in groupby(found, key=lambda each: int(each[0])):
        yield 2 * number, "\n".join(unpacked(digest, codec, body) for _, digest, codec, body in some)


def _left_out_first(connection: Connection, these: ColumnElement[bool]) -> Iterable[tuple[int, str]]:
    """Return the rows of candidates that were left out and of which nothing like that was told before.

    The id of one ends in the start of the digest of its text.
    """
    before = OUTCOMES.alias("before")
    included = OutcomeKind.INCLUDED.value
    known = select(before.c.outcome_row).where(
        before.c.segment_id == OUTCOMES.c.segment_id,
        before.c.outcome != included,
        before.c.outcome_row < OUTCOMES.c.outcome_row,
    )
    query = select(OUTCOMES.c.outcome_row, OUTCOMES.c.segment_id)
    query = query.where(these, OUTCOMES.c.outcome != included, ~known.exists()).order_by(OUTCOMES.c.outcome_row)
    return [
        (2 * number + 1, "\n".join(texts_that_start(connection, segment_id.rpartition("@")[2])))
        for number, segment_id in connection.execute(query).all()
    ]
