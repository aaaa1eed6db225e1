"""When distinct segments and outcomes came in, as numbers: what a question counts, it counts from these.

Grouped here and not by the database: names of workers are long, and a database sorts them once for each use.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, cast

from sqlalchemy import ColumnElement, Connection, Select, select, union

from aircoding.store.accounts import ASSEMBLIES, OUTCOME_USES, SEGMENT_USES
from aircoding.store.naming import one_of
from aircoding.store.within import Within, narrowed

__all__ = ["Use", "assemblies_with", "newest_uses", "outcome_uses", "segment_uses"]

_AT_ONCE = 10_000
"""Rows that are fetched in one call: one by one each costs three times as much."""

Use = tuple[int, int, int]
"""The assembly, the position in its list, and the number of the distinct segment or outcome."""


def segment_uses(connection: Connection, segments: Collection[int], within: Within) -> Iterator[Use]:
    """Return where segments came in; of many runs all uses, whatever else is asked about."""
    return _uses(connection, SEGMENT_USES.c.segment, segments, within)


def outcome_uses(connection: Connection, outcomes: Collection[int], within: Within) -> Iterator[Use]:
    """Return where outcomes came in; of many runs all uses, whatever else is asked about."""
    return _uses(connection, OUTCOME_USES.c.outcome_row, outcomes, within)


def _uses(
    connection: Connection, column: ColumnElement[int], numbers: Collection[int], within: Within
) -> Iterator[Use]:
    if not numbers:
        return
    uses = column.table
    is_of_one_run = within.run_id is not None
    query: Select[Any] = select(uses.c.assembly, uses.c.position, column)
    if is_of_one_run:
        query = narrowed(query.join(ASSEMBLIES, ASSEMBLIES.c.assembly == uses.c.assembly), ASSEMBLIES.c, within)
    query = query.where(one_of(column, numbers, few_assemblies=is_of_one_run))
    for some in connection.execute(query).partitions(_AT_ONCE):
        yield from cast("Sequence[Use]", some)


def assemblies_with(
    connection: Connection,
    columns: Iterable[ColumnElement[Any]],
    within: Within,
    *,
    segments: Collection[int] = (),
    outcomes: Collection[int] = (),
) -> dict[int, tuple[Any, ...]]:
    """Return columns of the assemblies within that one of these came in with, by the assembly's number.

    Of one run all its assemblies are returned.
    """
    query = narrowed(select(ASSEMBLIES.c.assembly, *columns), ASSEMBLIES.c, within)
    if within.run_id is None:
        query = query.where(
            ASSEMBLIES.c.assembly.in_(
                union(
                    select(SEGMENT_USES.c.assembly).where(one_of(SEGMENT_USES.c.segment, segments)),
                    select(OUTCOME_USES.c.assembly).where(one_of(OUTCOME_USES.c.outcome_row, outcomes)),
                )
            )
        )
    found = cast("Sequence[tuple[Any, ...]]", connection.execute(query).all())
    return {each[0]: each for each in found}


def newest_uses(uses: Iterable[Use], kinds: dict[int, Any], owners: dict[int, Any]) -> dict[tuple[Any, Any], Use]:
    """Return the last use of each owner and kind: `kinds` by the number, `owners` by the assembly (none: left out)."""
    newest: dict[tuple[Any, Any], Use] = {}
    for use in uses:
        owner = owners.get(use[0])
        if owner is not None:
            key = (owner, kinds[use[2]])
            held = newest.get(key)
            if held is None or (held[0], held[1]) < (use[0], use[1]):
                newest[key] = use
    return newest
