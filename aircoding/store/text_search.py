"""Find the segments and the left-out candidates whose text holds a needle, over all of the record.

The index names the texts that may hold it; these are read and checked, so that an answer is exact. A needle without a
word, or one that is in too many texts, is looked for in the newest texts only, and the answer says how many were not.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, func, select

from aircoding.records.ids import Digest
from aircoding.store.accounts import OUTCOMES, SEGMENT_TEXTS, SEGMENTS, segment_names
from aircoding.store.database import Database
from aircoding.store.naming import one_of
from aircoding.store.needles import Needle, cut, quoted
from aircoding.store.statements import chunks
from aircoding.store.text_index import count_rows, has_index, match_rows, words_with
from aircoding.store.text_refilling import is_whole
from aircoding.store.texts import TEXTS, find_texts, texts_that_start

__all__ = ["MOST_TEXTS", "TextHits", "TextSearch"]

MOST_TEXTS = 4_000
"""Texts that one search reads at most."""
_MOST_TERMS = 200
"""Words of the index that a part of a word may stand for."""
_AT_ONCE = 200
"""Texts in memory at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextHits:
    """Segments that show a needle (numbers of rows), and the ids of candidates whose text holds it.

    `segment_ids` are of both: a candidate that is shown to one worker and not to another stands there once. `unchecked`
    counts segments, and candidates where they were asked for, that may hold the needle and were not read.
    """

    segments: frozenset[int]
    segment_ids: frozenset[str]
    unchecked: int = 0


class TextSearch:
    """Searches the texts of the record."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def is_indexed(self) -> bool:
        """Whether there is an index of words; without it only the newest texts are searched, and each is read."""
        with self._database.read() as connection:
            return has_index(connection)

    def find(self, needle: str, *, candidates: bool = True) -> TextHits:
        """Return what holds `needle`, as it stood; tool calls are searched as JSON too.

        Without `candidates` no `segment_ids` are gathered, which takes longer than all else where much is found.
        Texts that are no longer kept are not found, nor is a needle that runs over the end of a segment.
        """
        if not needle:
            return TextHits(segments=frozenset(), segment_ids=frozenset())
        spellings, holds = _spellings(needle), _holder(needle)
        with self._database.read() as connection:
            rows, unchecked = _candidates(connection, spellings, left_out=candidates)
            shown = _shown(connection, [row // 2 for row in rows if row % 2 == 0])
            holding = {digest for digest, text in _read(connection, shown) if holds(text)}
            segments = _showing(connection, holding)
            ids: frozenset[str] = frozenset()
            if candidates:
                left_out = _ids_of(connection, [row // 2 for row in rows if row % 2])
                ids = _ids(connection, segments) | _holding(connection, left_out, holds)
        return TextHits(segments=segments, segment_ids=ids, unchecked=unchecked)

    def among(self, needle: str, segment_ids: Iterable[str]) -> frozenset[str]:
        """Return those of these candidates whose own text holds `needle`; one whose text is let go holds nothing."""
        if not needle:
            return frozenset()
        with self._database.read() as connection:
            return _holding(connection, segment_ids, _holder(needle))


def _spellings(needle: str) -> tuple[str, ...]:
    """Return a needle as it stands in a text, and as it stands in JSON."""
    return tuple(dict.fromkeys((needle, json.dumps(needle, ensure_ascii=False)[1:-1])))


def _holder(needle: str) -> Callable[[str], bool]:
    spellings = _spellings(needle)
    return lambda text: any(one in text for one in spellings)


def _candidates(connection: Connection, spellings: Sequence[str], *, left_out: bool) -> tuple[list[int], int]:
    """Return rows that may hold one of the spellings, the newest first, and how many more there are.

    They are rows of the index: those of segments, and with `left_out` those of candidates that no prompt showed.
    """
    queries = []
    if is_whole(connection):
        queries = [query for one in spellings if (query := _query(connection, cut(one))) is not None]
    if len(queries) < len(spellings):
        return _newest(connection, left_out=left_out)
    wanted = " OR ".join(f"({query})" for query in queries if query)
    if not wanted:
        return [], 0
    rows = match_rows(connection, wanted, MOST_TEXTS, left_out=left_out)
    more = count_rows(connection, wanted, left_out=left_out) - len(rows) if len(rows) == MOST_TEXTS else 0
    return rows, more


def _query(connection: Connection, needle: Needle) -> str | None:
    """Return the query of a needle: empty when no text can hold it, None when its words do not narrow the search."""
    parts = [quoted(word) for word in needle.whole]
    if needle.start:
        parts.append(f"{quoted(needle.start)} *")
    if needle.end and not parts:
        return _any_of(words_with(connection, needle.end, at_end=True, limit=_MOST_TERMS + 1))
    if needle.inner:
        return _any_of(words_with(connection, needle.inner, at_end=False, limit=_MOST_TERMS + 1))
    return " AND ".join(parts) or None


def _any_of(terms: Sequence[str]) -> str | None:
    return " OR ".join(map(quoted, terms)) if len(terms) <= _MOST_TERMS else None


def _newest(connection: Connection, *, left_out: bool) -> tuple[list[int], int]:
    """Return the newest segments and candidates as rows of the index, whatever they hold; how many more there are."""
    segments, more = _first(connection, select(SEGMENTS.c.segment), SEGMENTS.c.segment)
    if not left_out:
        return [2 * one for one in segments], more
    first = func.min(OUTCOMES.c.outcome_row)
    omitted = select(first).where(OUTCOMES.c.outcome != "included").group_by(OUTCOMES.c.segment_id)
    outcomes, more_outcomes = _first(connection, omitted, first)
    return [*(2 * one for one in segments), *(2 * one + 1 for one in outcomes)], more + more_outcomes


def _first(connection: Connection, query: Select[Any], newest: ColumnElement[int]) -> tuple[list[int], int]:
    """Return the newest numbers of a query, and how many more it has."""
    found = list(connection.execute(query.order_by(newest.desc()).limit(MOST_TEXTS)).scalars())
    if len(found) < MOST_TEXTS:
        return found, 0
    count = connection.execute(select(func.count()).select_from(query.subquery())).scalar_one()
    return found, int(count) - len(found)


def _shown(connection: Connection, segments: Iterable[int]) -> list[Digest]:
    query = select(TEXTS.c.digest).join(SEGMENT_TEXTS, SEGMENT_TEXTS.c.text_row == TEXTS.c.text_row)
    query = query.where(one_of(SEGMENT_TEXTS.c.segment, segments)).distinct()
    return [Digest(each) for each in connection.execute(query).scalars()]


def _read(connection: Connection, digests: Iterable[Digest]) -> Iterable[tuple[Digest, str]]:
    for some in chunks(digests, _AT_ONCE):
        yield from find_texts(connection, some).items()


def _showing(connection: Connection, digests: Iterable[Digest]) -> frozenset[int]:
    found: set[int] = set()
    for some in chunks(sorted(digests)):
        query = select(SEGMENT_TEXTS.c.segment).join(TEXTS, TEXTS.c.text_row == SEGMENT_TEXTS.c.text_row)
        query = query.where(TEXTS.c.digest.in_(some))
        found.update(connection.execute(query).scalars())
    return frozenset(found)


def _ids(connection: Connection, segments: frozenset[int]) -> frozenset[str]:
    query = select(SEGMENTS).where(one_of(SEGMENTS.c.segment, segments))
    return frozenset(segment_names(each)[0] for each in connection.execute(query))


def _ids_of(connection: Connection, outcomes: Sequence[int]) -> list[str]:
    query = select(OUTCOMES.c.segment_id).where(one_of(OUTCOMES.c.outcome_row, outcomes)).distinct()
    return list(connection.execute(query).scalars())


def _holding(connection: Connection, segment_ids: Iterable[str], holds: Callable[[str], bool]) -> frozenset[str]:
    """Return the candidates whose own text holds it: a segment id ends in the start of that text's digest."""
    return frozenset(
        segment_id
        for segment_id in segment_ids
        if any(holds(text) for text in texts_that_start(connection, segment_id.rpartition("@")[2]))
    )
