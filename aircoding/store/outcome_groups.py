"""What became of candidates, counted by the database: the same groups as `audit.considerations.why_not` makes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import CTE, ColumnElement, Connection, Row, case, func, select

from aircoding.records.seen import SeenOutcome
from aircoding.store.accounts import ASSEMBLIES, OUTCOME_USES, OUTCOMES
from aircoding.store.naming import one_of
from aircoding.store.seen_rows import SEEN_OUTCOMES, seen_outcome
from aircoding.store.within import Within, narrowed

__all__ = ["group_key", "newest_of_groups", "place_of_id", "read_groups"]

_ID_MARK = 9
"""A segment id ends in `@` and eight digits of its text's digest; what stands before is its place."""


def place_of_id(segment_id: ColumnElement[str]) -> ColumnElement[str]:
    """Return the part of a segment id that stays the same when its text changes."""
    return func.substr(segment_id, 1, func.length(segment_id) - _ID_MARK)


def _last_outcomes(numbers: Collection[int], within: Within) -> CTE:
    """Select the outcomes of each session with their age: 1 is the last of a candidate."""
    place = place_of_id(OUTCOMES.c.segment_id)
    by = case((OUTCOMES.c.outcome == "included", ""), else_=OUTCOMES.c.decided_by)
    query = (
        select(
            OUTCOMES.c.outcome_row,
            place.label("place"),
            OUTCOMES.c.outcome,
            func.coalesce(OUTCOMES.c.reason, "").label("reason"),
            by.label("decided"),
            ASSEMBLIES.c.assembly,
            ASSEMBLIES.c.run_id,
            func.row_number()
            .over(
                partition_by=(ASSEMBLIES.c.session_id, place),
                order_by=(ASSEMBLIES.c.assembly.desc(), OUTCOME_USES.c.position.desc()),
            )
            .label("age"),
        )
        .join(OUTCOME_USES, OUTCOME_USES.c.outcome_row == OUTCOMES.c.outcome_row)
        .join(ASSEMBLIES, ASSEMBLIES.c.assembly == OUTCOME_USES.c.assembly)
        .where(one_of(OUTCOMES.c.outcome_row, numbers))
    )
    return narrowed(query, ASSEMBLIES.c, within).cte("last_outcomes")


def read_groups(connection: Connection, numbers: Collection[int], within: Within) -> list[Row[Any]]:
    """Return the groups that the last outcomes of sessions make, each with its newest assembly, in no order."""
    last = _last_outcomes(numbers, within)
    key = (last.c.place, last.c.outcome, last.c.reason, last.c.decided)
    query = select(
        *key,
        func.count().label("sessions"),
        func.count(last.c.run_id.distinct()).label("runs"),
        func.count(last.c.outcome_row.distinct()).label("variants"),
        func.max(last.c.assembly).label("assembly"),
    )
    return list(connection.execute(query.where(last.c.age == 1).group_by(*key)))


def group_key(found: Row[Any]) -> tuple[str, str, str, str]:
    """Return the key of a group (`audit.considerations.group_of`)."""
    return (found.place, found.outcome, found.reason, found.decided)


def newest_of_groups(connection: Connection, numbers: Collection[int], groups: Sequence[Row[Any]]) -> list[SeenOutcome]:
    """Return the newest outcome of each group: the last of its newest assembly."""
    assemblies = {group.assembly for group in groups}
    query = SEEN_OUTCOMES.add_columns(ASSEMBLIES.c.assembly).where(
        one_of(ASSEMBLIES.c.assembly, assemblies), one_of(OUTCOMES.c.outcome_row, numbers)
    )
    last: dict[tuple[int, tuple[str, str, str, str]], SeenOutcome] = {}
    for each in connection.execute(query):
        decided = "" if each.outcome == "included" else each.decided_by
        key = (each.segment_id[:-_ID_MARK], each.outcome, each.reason or "", decided)
        last[each.assembly, key] = seen_outcome(each)
    return [last[group.assembly, group_key(group)] for group in groups]
