"""Fill the text index as segments and outcomes are written: each distinct text once, under the first that has it.

A row of the index is a segment's number doubled, or, for a candidate that was left out, its outcome's doubled plus one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sqlalchemy import Connection, bindparam, exists, select

from aircoding.records.ids import Digest
from aircoding.records.layers import OutcomeKind
from aircoding.records.manifest import OutcomeRecord
from aircoding.records.segments import Segment
from aircoding.store.columns import table_of
from aircoding.store.statements import chunks
from aircoding.store.tables.assemblies import OutcomeRow, SegmentTextRow
from aircoding.store.tables.texts import Text
from aircoding.store.text_index import index_rows
from aircoding.store.text_refilling import takes_candidates, takes_segments

__all__ = ["index_candidates", "index_segments", "number_texts", "unseen_candidates"]

OUTCOMES = table_of(OutcomeRow)
SEGMENT_TEXTS = table_of(SegmentTextRow)
TEXTS = table_of(Text)
_NUMBERED = select(
    TEXTS.c.digest, TEXTS.c.text_row, exists().where(SEGMENT_TEXTS.c.text_row == TEXTS.c.text_row).label("is_shown")
).where(TEXTS.c.digest.in_(bindparam("some", expanding=True)))


def number_texts(connection: Connection, digests: Iterable[Digest]) -> tuple[dict[Digest, int], frozenset[Digest]]:
    """Return the numbers of texts that are stored, and those that no segment shows yet.

    To be asked before the segments are written. Of the latter none where there is no index, or where one that is being
    made anew comes to them itself.
    """
    numbers: dict[Digest, int] = {}
    shown: set[Digest] = set()
    for some in chunks(sorted(set(digests))):
        for digest, number, is_shown in connection.execute(_NUMBERED, {"some": some}):
            numbers[Digest(digest)] = number
            if is_shown:
                shown.add(Digest(digest))
    return numbers, frozenset(numbers.keys() - shown) if takes_segments(connection) else frozenset()


def index_segments(
    connection: Connection,
    shown: Mapping[int, Sequence[Digest]],
    unseen: frozenset[Digest],
    texts: Mapping[Digest, str],
) -> None:
    """Add what segments show for the first time.

    Args:
        connection: the transaction that writes them.
        shown: the texts of each segment, by its number.
        unseen: what `number_texts` said.
        texts: the texts.
    """
    left, rows = set(unseen), []
    for segment in sorted(shown):
        new = [digest for digest in dict.fromkeys(shown[segment]) if digest in left and digest in texts]
        left.difference_update(new)
        rows.append((2 * segment, "\n".join(texts[digest] for digest in new)))
    index_rows(connection, rows)


def unseen_candidates(connection: Connection, outcomes: Iterable[OutcomeRecord]) -> frozenset[str]:
    """Return the ids of candidates that are not whole in a prompt, and of which nothing like that was told before."""
    wanted = {str(note.segment_id) for note in outcomes if note.outcome is not OutcomeKind.INCLUDED}
    if not wanted or not takes_candidates(connection):
        return frozenset()
    for some in chunks(sorted(wanted)):
        there = select(OUTCOMES.c.segment_id).where(OUTCOMES.c.segment_id.in_(some), OUTCOMES.c.outcome != "included")
        wanted.difference_update(connection.execute(there).scalars())
    return frozenset(wanted)


def index_candidates(
    connection: Connection, numbers: Mapping[str, int], unseen: frozenset[str], candidates: Iterable[Segment]
) -> None:
    """Add the texts of candidates that were left out.

    Args:
        connection: the transaction that writes their outcomes.
        numbers: the number of an outcome of each candidate, by its id.
        unseen: what `unseen_candidates` said.
        candidates: among others these, with their texts.
    """
    if unseen:
        texts = {str(one.segment_id): one.text for one in candidates if one.segment_id in unseen}
        index_rows(connection, [(2 * numbers[segment_id] + 1, text) for segment_id, text in sorted(texts.items())])
